// SPDX-License-Identifier: Apache-2.0
// Reductions and dot: types, shapes and results against plain loops.
#include "EmitTest.h"

#include <cmath>

namespace nereid::language {
namespace {

/// Loads the 4x8 matrix m of int32, stores the flattened result of the expression to out.
std::vector<int32_t> reduceInts(const std::string &expression, const std::string &count,
                                std::vector<int32_t> matrix) {
  Emitted kernel = emitBody("x, out",
                            "r = tl.arange(0, 4)\nc = tl.arange(0, 8)\n"
                            "m = tl.load(x + r[:, None] * 8 + c[None, :])\n"
                            "tl.store(out + tl.arange(0, " +
                                count + "), " + expression + ")",
                            "*i32, *i32");
  std::vector<int32_t> out(32, -1);
  runtime::Tensor tx = tensorOf(matrix, DType::I32), to = tensorOf(out, DType::I32);
  runKernel(kernel, {&tx, &to});
  return out;
}

std::vector<int32_t> sample() {
  std::vector<int32_t> matrix(32);
  for (int i = 0; i < 32; ++i) {
    matrix[static_cast<size_t>(i)] = (i * 37 + 11) % 17 - 8;
  }
  return matrix;
}

TEST(Reduce, sumsAlongEitherAxis) {
  std::vector<int32_t> m = sample(), rows = reduceInts("tl.sum(m, axis=1)", "4", m),
                       cols = reduceInts("m.sum(0)", "8", m), all = reduceInts("tl.sum(m)", "1", m),
                       kept = reduceInts("tl.sum(m, axis=1, keep_dims=True).reshape(4)", "4", m);
  int32_t total = 0;
  for (size_t i = 0; i < 4; ++i) {
    int32_t sum = 0;
    for (size_t j = 0; j < 8; ++j) {
      sum += m[i * 8 + j];
    }
    total += sum;
    EXPECT_EQ(rows[i], sum);
    EXPECT_EQ(kept[i], sum);
  }
  for (size_t j = 0; j < 8; ++j) {
    EXPECT_EQ(cols[j], m[j] + m[8 + j] + m[16 + j] + m[24 + j]);
  }
  EXPECT_EQ(all[0], total);
}

TEST(Reduce, extremaAndTheirIndices) {
  // each row holds its largest value twice: the left one counts
  std::vector<int32_t> m = sample();
  for (size_t i = 0; i < 4; ++i) {
    m[i * 8 + 2 + i] = 50;
    m[i * 8 + 1 + i] = 50;
    m[i * 8 + 7] = -50;
    m[i * 8 + 6] = -50;
  }
  std::vector<int32_t> largest = reduceInts("tl.max(m, axis=1)", "4", m),
                       at = reduceInts("tl.argmax(m, axis=1)", "4", m),
                       low = reduceInts("tl.argmin(m, 1)", "4", m),
                       viaTuple = reduceInts("tl.max(m, axis=-1, return_indices=True)[1]", "4", m),
                       smallest = reduceInts("tl.min(m, axis=1)", "4", m);
  for (size_t i = 0; i < 4; ++i) {
    EXPECT_EQ(largest[i], 50);
    EXPECT_EQ(at[i], static_cast<int32_t>(1 + i));
    EXPECT_EQ(viaTuple[i], static_cast<int32_t>(1 + i));
    EXPECT_EQ(low[i], 6);
    EXPECT_EQ(smallest[i], -50);
  }
}

TEST(Reduce, bits) {
  std::vector<int32_t> m = sample(), x = reduceInts("tl.xor_sum(m, axis=0)", "8", m),
                       o = reduceInts("tl.reduce_or(m, axis=0)", "8", m);
  for (size_t j = 0; j < 8; ++j) {
    EXPECT_EQ(x[j], m[j] ^ m[8 + j] ^ m[16 + j] ^ m[24 + j]);
    EXPECT_EQ(o[j], m[j] | m[8 + j] | m[16 + j] | m[24 + j]);
  }
  refuseBody("p", "x = tl.xor_sum(tl.zeros((4,), tl.float32))", "*fp32", "E0204");
}

TEST(Reduce, typesOfResults) {
  emitBody("p",
           "tl.static_assert(tl.sum(tl.zeros((4,), tl.int8)).dtype == tl.int32)\n"
           "tl.static_assert(tl.sum(tl.zeros((4,), tl.uint8)).dtype == tl.uint32)\n"
           "tl.static_assert(tl.sum(tl.zeros((4,), tl.int1)).dtype == tl.uint32)\n"
           "tl.static_assert(tl.sum(tl.zeros((4,), tl.int64)).dtype == tl.int64)\n"
           "tl.static_assert(tl.sum(tl.zeros((4,), tl.float16)).dtype == tl.float16)\n"
           "tl.static_assert(tl.sum(tl.zeros((4,), tl.int8), dtype=tl.int64).dtype == tl.int64)\n"
           "tl.static_assert(tl.max(tl.zeros((4,), tl.float16)).dtype == tl.float32)\n"
           "tl.static_assert(tl.max(tl.zeros((4,), tl.int8)).dtype == tl.int32)\n"
           "tl.static_assert(tl.argmax(tl.zeros((4,), tl.float16), 0).dtype == tl.int32)\n"
           "tl.static_assert(tl.sum(tl.zeros((2, 4), tl.int32), keep_dims=True).shape == (1, 1))\n"
           "tl.static_assert(tl.sum(tl.zeros((2, 4), tl.int32), 0).shape == (4,))",
           "*fp32");
}

TEST(Reduce, maximumSkipsNan) {
  Emitted kernel = emitBody("x, out", "tl.store(out, tl.max(tl.load(x + tl.arange(0, 4)), axis=0))",
                            "*fp32, *fp32");
  std::vector<float> x = {1, std::nanf(""), 7, 2}, out(1, -1.0f);
  runtime::Tensor tx = tensorOf(x, DType::F32), to = tensorOf(out, DType::F32);
  ASSERT_TRUE(runKernel(kernel, {&tx, &to}));
  EXPECT_EQ(out[0], 7);
}

TEST(Dot, computesWithAccumulator) {
  Emitted kernel = emitBody("a, b, c",
                            "i = tl.arange(0, 2)\nk = tl.arange(0, 4)\nj = tl.arange(0, 8)\n"
                            "x = tl.load(a + i[:, None] * 4 + k[None, :])\n"
                            "y = tl.load(b + k[:, None] * 8 + j[None, :])\n"
                            "acc = tl.full((2, 8), 1.0, tl.float32)\nacc = tl.dot(x, y, acc)\n"
                            "acc += tl.dot(x, y)\n"
                            "tl.store(c + i[:, None] * 8 + j[None, :], acc)",
                            "*fp32, *fp32, *fp32");
  std::vector<float> a(8), b(32), c(16, -1.0f);
  for (size_t i = 0; i < 32; ++i) {
    b[i] = static_cast<float>(i % 7) - 3.0f;
    a[i % 8] = static_cast<float>(i % 5) - 2.0f;
  }
  runtime::Tensor ta = tensorOf(a, DType::F32), tb = tensorOf(b, DType::F32),
                  tc = tensorOf(c, DType::F32);
  ASSERT_TRUE(runKernel(kernel, {&ta, &tb, &tc}));
  for (size_t i = 0; i < 2; ++i) {
    for (size_t j = 0; j < 8; ++j) {
      float sum = 0;
      for (size_t k = 0; k < 4; ++k) {
        sum += a[i * 4 + k] * b[k * 8 + j];
      }
      EXPECT_EQ(c[i * 8 + j], 1.0f + 2.0f * sum);
    }
  }
}

TEST(Dot, typesAndPrecision) {
  Emitted kernel =
      emitBody("p",
               "h = tl.zeros((16, 16), tl.float16)\nf = tl.zeros((16, 16), tl.float32)\n"
               "q = tl.zeros((16, 16), tl.int8)\n"
               "tl.static_assert(tl.dot(h, h).dtype == tl.float32)\n"
               "tl.static_assert(tl.dot(h, h, out_dtype=tl.float16).dtype == tl.float16)\n"
               "tl.static_assert(tl.dot(q, q).dtype == tl.int32)\n"
               "i = tl.arange(0, 16)\ng = p + i[:, None] * 16 + i[None, :]\n"
               "x = tl.load(g)\n"
               "tl.store(g, tl.dot(x, x))\n"
               "tl.store(g, tl.dot(x, x, input_precision='tf32x3'))\n"
               "tl.store(g, tl.dot(x, x, allow_tf32=True))",
               "*fp32");
  EXPECT_TRUE(kernel.has("inputPrecision = 2")) << kernel.text;
  EXPECT_TRUE(kernel.has("inputPrecision = 1")) << kernel.text;
  refuseBody("p", "x = tl.zeros((16, 16), tl.float32)\ny = tl.dot(x, x, input_precision='best')",
             "*fp32", "E0229");
}

TEST(Dot, disagreeingSizesNameTheirOrigin) {
  std::string text = refuseBody("p, q, BLOCK_K: tl.constexpr",
                                "i = tl.arange(0, 16)\nk = tl.arange(0, BLOCK_K)\n"
                                "k2 = tl.arange(0, BLOCK_K // 2)\n"
                                "a = tl.load(p + i[:, None] * 64 + k[None, :])\n"
                                "b = tl.load(q + k2[:, None] * 64 + i[None, :])\n"
                                "acc = tl.dot(a, b)",
                                "*fp16, *fp16, 64", "E0214");
  for (const char *part :
       {"'tl.dot' operands disagree on the contracted size",
        "'a' is 16x64xf16 and 'b' is 32x16xf16; expects a.shape[1] == b.shape[0], but got 64 and "
        "32",
        "kernel.py:7: 'a' takes 64 from BLOCK_K = 64",
        "kernel.py:8: 'b' takes 32 from BLOCK_K // 2 = 32", "load 'b' with BLOCK_K rows"}) {
    EXPECT_NE(text.find(part), std::string::npos) << part << "\n" << text;
  }
}

TEST(Dot, refusals) {
  refuseBody("p", "x = tl.dot(tl.zeros((16,), tl.float32), tl.zeros((16,), tl.float32))", "*fp32",
             "E0214");
  refuseBody("p", "x = tl.dot(tl.zeros((16, 16), tl.float32), tl.zeros((16, 16), tl.float16))",
             "*fp32", "E0214");
  refuseBody("p",
             "x = tl.zeros((16, 16), tl.float16)\nx = tl.dot(x, x, tl.zeros((16, 32), tl.float32))",
             "*fp32", "E0214");
}

} // namespace
} // namespace nereid::language
