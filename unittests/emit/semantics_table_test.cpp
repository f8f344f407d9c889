// SPDX-License-Identifier: Apache-2.0
// Points of the language that are easy to get wrong, one small kernel each: out[0] of a kernel over
// (out, n), run in the interpreter, against a value worked out by hand.
#include "EmitTest.h"

namespace nereid::language {
namespace {

struct Point {
  const char *what, *helpers, *body;
  int32_t n, expected;
};

const Point points[] = {
    {"a type made of text", "", "t = tl.dtype(f'uint{4 + 4}')\ntl.store(out, n.to(t).to(tl.int32))",
     300, 44},
    {"a parameter bound to another type", "",
     "out += tl.program_id(0)\nn = tl.full((), 2, tl.int64) * n\ntl.store(out, n.to(tl.int32))", 7,
     14},
    {"tiles without dimensions", "",
     "acc = tl.zeros((), tl.int32)\nfor i in range(n):\n    acc += i\ntl.store(out, acc)", 5, 10},
    {"None as an index of a scalar", "", "tl.store(out + tl.arange(0, 1), n[None])", 5, 5},
    {"any number of arguments",
     "@triton.jit\ndef summed(first, *rest):\n    for r in tl.static_range(len(rest)):\n"
     "        first += rest[r]\n    return first\n",
     "tl.store(out, summed(n, 1, 2, n))", 5, 13},
    {"lists and slices of shapes", "",
     "shape: tl.constexpr = [4, 2] + [1]\nx = tl.zeros(shape[:2], tl.int32) + n\n"
     "y = tl.reshape(x, [x.shape[0] * x.shape[1]])\n"
     "tl.store(out, tl.sum(y) + y.shape[0] + len(shape[1:]))",
     5, 50},
    {"a step down", "",
     "acc = 0\nfor i in range(n, 0, -2):\n    acc = acc * 10 + i\ntl.store(out, acc)", 5, 531},
    {"a 64-bit start", "",
     "total = tl.zeros((), tl.int64)\nfor i in range(tl.program_id(0).to(tl.int64), n):\n"
     "    total += i\ntl.store(out, total.to(tl.int32))",
     5, 10},
    {"returns under conditions of a helper",
     "@triton.jit\ndef early(n):\n    if n > 5:\n        return n * 2\n    if n > 2:\n"
     "        return n + 100\n    return n\n",
     "tl.store(out, early(n) + early(n - 4) * 1000)", 7, 103014},
    {"and, or in a while", "",
     "i = 0\nj = 0\nwhile i < n and (j < 6 or i < 2):\n    j += 2\n    i += 1\n"
     "tl.store(out, i * 100 + j)",
     9, 306},
    {"whole numbers divide to a real one", "", "tl.store(out, (n / 2 * 4).to(tl.int32))", 7, 14},
    {"division of negative numbers", "", "tl.store(out, -n // 2 * 10 + -n % 4)", 7, -33},
    {"a local named like a function", "", "sum = n + 1\nmax = sum * 2\ntl.store(out, max)", 5, 12},
};

TEST(SemanticsTable, everyPoint) {
  for (const Point &point : points) {
    std::string file = kernelFile("out, n", point.body);
    file.insert(file.find("@triton.jit"), point.helpers);
    Emitted kernel = emitSource(file, "*i32, i32");
    ASSERT_FALSE(kernel.diags.hasErrors()) << point.what << "\n" << kernel.diags.render();
    std::vector<int32_t> out(1, -1);
    runtime::Tensor to = tensorOf(out, DType::I32);
    ASSERT_TRUE(runKernel(kernel, {&to, static_cast<int64_t>(point.n)})) << point.what;
    EXPECT_EQ(out[0], point.expected) << point.what;
  }
}

} // namespace
} // namespace nereid::language
