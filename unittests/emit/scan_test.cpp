// SPDX-License-Identifier: Apache-2.0
// Reductions and scans with a function of the kernel's own: the region, values and refusals.
#include "EmitTest.h"

namespace nereid::language {
namespace {

const std::string helpers = "import triton\nimport triton.language as tl\n\n"
                            "@triton.jit\ndef larger(a, b):\n    return tl.where(a > b, a, b)\n\n"
                            "@triton.jit\ndef first_largest(a, i, b, j):\n"
                            "    keep = (a > b) | ((a == b) & (i < j))\n"
                            "    return tl.where(keep, a, b), tl.where(keep, i, j)\n\n"
                            "@triton.jit\ndef last(a, b):\n    return b\n\n"
                            "@triton.jit\ndef widened(a, b):\n    return (a + b).to(tl.float64)\n\n"
                            "@triton.jit\ndef pair(a, b):\n    return a, b\n\n"
                            "@triton.jit\ndef branching(a, b):\n"
                            "    if a > b:\n        result = a\n    else:\n        result = b\n"
                            "    return result\n\n";

Emitted emitWith(const std::string &params, const std::string &body, const std::string &signature) {
  std::string text = "@triton.jit\ndef kernel(" + params + "):\n";
  for (size_t start = 0; start < body.size();) {
    size_t end = std::min(body.find('\n', start), body.size());
    text += "    " + body.substr(start, end - start) + "\n";
    start = end + 1;
  }
  return emitSource(helpers + text, signature);
}

std::string refused(const std::string &expression, const std::string &code) {
  Emitted kernel = emitWith("x", "m = tl.load(x + tl.arange(0, 8))\nr = " + expression, "*fp32");
  EXPECT_TRUE(kernel.hasCode(code)) << kernel.diags.render() << kernel.text;
  return kernel.diags.render();
}

std::vector<int32_t> reduced(const std::string &expression, size_t count) {
  Emitted kernel = emitWith("x, out",
                            "r = tl.arange(0, 4)\nc = tl.arange(0, 8)\n"
                            "m = tl.load(x + r[:, None] * 8 + c[None, :])\n"
                            "tl.store(out + tl.arange(0, " +
                                std::to_string(count) + "), " + expression + ")",
                            "*i32, *i32");
  EXPECT_FALSE(kernel.diags.hasErrors()) << kernel.diags.render();
  std::vector<int32_t> data(32), out(count, -1);
  for (int i = 0; i < 32; ++i) {
    data[static_cast<size_t>(i)] = (i * 7) % 32;
  }
  runtime::Tensor from = tensorOf(data, DType::I32), to = tensorOf(out, DType::I32);
  runKernel(kernel, {&from, &to});
  return out;
}

TEST(UserReduce, combinesAlongAnAxis) {
  // row r holds 7 * (8r + c) modulo 32: multiples of 8 added to 0, 7, 14, 21, 28, 3, 10, 17
  std::vector<int32_t> rows = reduced("tl.reduce(m, 1, larger)", 4);
  EXPECT_EQ(rows, (std::vector<int32_t>{28, 31, 30, 29}));
  EXPECT_EQ(reduced("tl.reduce(m, axis=1, combine_fn=branching)", 4), rows);
  EXPECT_EQ(reduced("m.reduce(-1, larger, keep_dims=True).reshape(4)", 4), rows);
  EXPECT_EQ(reduced("tl.reduce(m, None, larger)", 1), (std::vector<int32_t>{31}));
  EXPECT_EQ(reduced("tl.reduce(m, 1, tl.maximum)", 4), rows);
}

TEST(UserReduce, combinesTuples) {
  const std::string call = "tl.reduce((m, tl.broadcast_to(c[None, :], (4, 8))), 1, first_largest)";
  EXPECT_EQ(reduced(call + "[0]", 4), (std::vector<int32_t>{28, 31, 30, 29}));
  EXPECT_EQ(reduced(call + "[1]", 4), (std::vector<int32_t>{4, 1, 2, 3}));
  EXPECT_EQ(reduced("tl.reduce((m,), 1, larger)[0]", 4), (std::vector<int32_t>{28, 31, 30, 29}));
}

TEST(UserScan, isOneOperationWithTheFunctionInside) {
  Emitted kernel = emitWith("x",
                            "m = tl.load(x + tl.arange(0, 8))\n"
                            "s = tl.associative_scan(m, 0, last, reverse=True)\n"
                            "tl.static_assert(s.dtype == tl.float32)\n"
                            "a, b = tl.associative_scan((m, tl.arange(0, 8)), -1, first_largest)\n"
                            "tl.static_assert(b.dtype == tl.int32)\ntl.store(x + b, a + s)",
                            "*fp32");
  EXPECT_FALSE(kernel.diags.hasErrors()) << kernel.diags.render();
  EXPECT_TRUE(kernel.has("axis 0 reverse")) << kernel.text;
  EXPECT_TRUE(kernel.has("(tensor<8xf32>, tensor<8xi32>) -> (tensor<8xf32>, tensor<8xi32>)"))
      << kernel.text;
  EXPECT_TRUE(kernel.has("tile.combine_return")) << kernel.text;
}

TEST(UserScan, refusesWhatDoesNotCombine) {
  EXPECT_NE(refused("tl.reduce(m, 0, widened)", "E0204")
                .find("combines elements of type f32 and must return one, but returns f64"),
            std::string::npos);
  EXPECT_NE(refused("tl.associative_scan(m, 0, pair)", "E0217")
                .find("combines 1 values and must return as many, but returns a tuple of 2"),
            std::string::npos);
  EXPECT_NE(refused("tl.reduce(m, 0, 5)", "E0224").find("but got the constant 5"),
            std::string::npos);
  EXPECT_NE(
      refused("tl.reduce((m, tl.arange(0, 4)), 0, first_largest)", "E0213").find("(8,) and (4,)"),
      std::string::npos);
  refused("tl.reduce(m, 1, larger)", "E0215");
  refused("tl.reduce(1.0, 0, larger)", "E0215");
  refused("tl.associative_scan(m, None, larger)", "E0215");
  refused("tl.reduce((), 0, larger)", "E0229");
  refused("tl.reduce(m, 0, first_largest)", "E0229"); // lacks arguments
}

} // namespace
} // namespace nereid::language
