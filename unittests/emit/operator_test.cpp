// SPDX-License-Identifier: Apache-2.0
// Values of operators, run in the interpreter against the same arithmetic written in C++.
#include "EmitTest.h"

#include <bit>
#include <cmath>
#include <functional>

namespace nereid::language {
namespace {

const std::vector<int32_t> numbers = {7, -7, 7, -7, 1, 0, 2147483647, -100};
const std::vector<int32_t> others = {3, 3, -3, -3, 5, 4, 2, 7};

std::vector<int32_t> runInts(const std::string &expression) {
  Emitted kernel = emitBody("x, y, out",
                            "i = tl.arange(0, 8)\na = tl.load(x + i)\nb = tl.load(y + i)\n"
                            "tl.store(out + i, " +
                                expression + ")",
                            "*i32, *i32, *i32");
  std::vector<int32_t> a = numbers, b = others, out(8, -1);
  runtime::Tensor ta = tensorOf(a, DType::I32), tb = tensorOf(b, DType::I32),
                  to = tensorOf(out, DType::I32);
  runKernel(kernel, {&ta, &tb, &to});
  return out;
}

void expectInts(const std::string &expression, const std::function<int32_t(int32_t, int32_t)> &f) {
  std::vector<int32_t> out = runInts(expression);
  for (size_t i = 0; i < out.size(); ++i) {
    EXPECT_EQ(out[i], f(numbers[i], others[i])) << expression << " at " << i;
  }
}

int32_t wrap(int64_t value) { return static_cast<int32_t>(static_cast<uint32_t>(value)); }

TEST(Operators, integersTruncateAndWrap) {
  expectInts("a // b", [](int32_t a, int32_t b) { return a / b; });
  expectInts("a % b", [](int32_t a, int32_t b) { return a % b; });
  expectInts("a + b", [](int32_t a, int32_t b) { return wrap(int64_t(a) + b); });
  expectInts("a - b", [](int32_t a, int32_t b) { return wrap(int64_t(a) - b); });
  expectInts("a * b", [](int32_t a, int32_t b) { return wrap(int64_t(a) * b); });
  expectInts("10 - a", [](int32_t a, int32_t) { return wrap(int64_t(10) - a); });
  expectInts("100 // b", [](int32_t, int32_t b) { return 100 / b; });
  expectInts("a ** 3", [](int32_t a, int32_t) { return wrap(int64_t(wrap(int64_t(a) * a)) * a); });
  expectInts("-a", [](int32_t a, int32_t) { return wrap(-int64_t(a)); });
  expectInts("tl.cdiv(a, 4)", [](int32_t a, int32_t) { return wrap(int64_t(a) + 4 - 1) / 4; });
}

TEST(Operators, bits) {
  expectInts("a & b", [](int32_t a, int32_t b) { return a & b; });
  expectInts("a | b", [](int32_t a, int32_t b) { return a | b; });
  expectInts("a ^ b", [](int32_t a, int32_t b) { return a ^ b; });
  expectInts("~a", [](int32_t a, int32_t) { return ~a; });
  expectInts("a << 3", [](int32_t a, int32_t) { return wrap(int64_t(a) * 8); });
  expectInts("a >> 2", [](int32_t a, int32_t) { return a >> 2; });
  expectInts("a.to(tl.uint32) >> 2", [](int32_t a, int32_t) { return int32_t(uint32_t(a) >> 2); });
}

TEST(Operators, comparisonsFollowTheSign) {
  expectInts("(a < b).to(tl.int32)", [](int32_t a, int32_t b) { return int32_t(a < b); });
  expectInts("(a.to(tl.uint32) < b.to(tl.uint32)).to(tl.int32)",
             [](int32_t a, int32_t b) { return int32_t(uint32_t(a) < uint32_t(b)); });
  expectInts("(a >= b).to(tl.int32)", [](int32_t a, int32_t b) { return int32_t(a >= b); });
  expectInts("(a != b).to(tl.int32)", [](int32_t a, int32_t b) { return int32_t(a != b); });
}

TEST(Operators, logicOnTiles) {
  expectInts("(a > 0 and b > 0).to(tl.int32)",
             [](int32_t a, int32_t b) { return int32_t(a > 0 && b > 0); });
  expectInts("(a or b > 4).to(tl.int32)",
             [](int32_t a, int32_t b) { return int32_t(a != 0 || b > 4); });
  expectInts("(not a).to(tl.int32)", [](int32_t a, int32_t) { return int32_t(a == 0); });
}

TEST(Operators, selectionAndExtrema) {
  expectInts("tl.where(a > b, a, b)", [](int32_t a, int32_t b) { return a > b ? a : b; });
  expectInts("tl.where(a > 0, 1, -1)", [](int32_t a, int32_t) { return a > 0 ? 1 : -1; });
  expectInts("tl.maximum(a, b)", [](int32_t a, int32_t b) { return std::max(a, b); });
  expectInts("tl.minimum(a, 2)", [](int32_t a, int32_t) { return std::min(a, 2); });
  expectInts("tl.clamp(a, -1, 3)", [](int32_t a, int32_t) { return std::min(std::max(a, -1), 3); });
  expectInts("tl.abs(a)", [](int32_t a, int32_t) { return std::abs(a); });
  expectInts("max(a, b)", [](int32_t a, int32_t b) { return std::max(a, b); });
}

TEST(Operators, divisionOfIntegersIsInFloat32) {
  expectInts("(a / b).to(tl.int32, bitcast=True)", [](int32_t a, int32_t b) {
    return std::bit_cast<int32_t>(static_cast<float>(a) / static_cast<float>(b));
  });
}

TEST(Operators, unsignedDivision) {
  expectInts("(a.to(tl.uint32) // 3).to(tl.int32)",
             [](int32_t a, int32_t) { return int32_t(uint32_t(a) / 3u); });
  expectInts("(a.to(tl.uint32) % 10).to(tl.int32)",
             [](int32_t a, int32_t) { return int32_t(uint32_t(a) % 10u); });
}

TEST(Operators, signsOfCasts) {
  expectInts("a.to(tl.int8).to(tl.int32)",
             [](int32_t a, int32_t) { return int32_t(int8_t(uint8_t(uint32_t(a)))); });
  expectInts("a.to(tl.uint8).to(tl.int32)",
             [](int32_t a, int32_t) { return int32_t(uint8_t(uint32_t(a))); });
  expectInts("a.to(tl.int1).to(tl.int32)", [](int32_t a, int32_t) { return int32_t(a != 0); });
  expectInts("a.to(tl.float32, bitcast=True).to(tl.int32, bitcast=True)",
             [](int32_t a, int32_t) { return a; });
  expectInts("(a.to(tl.uint32).to(tl.int64) >> 1).to(tl.int32)",
             [](int32_t a, int32_t) { return wrap(int64_t(uint32_t(a)) >> 1); });
}

std::vector<float> runFloats(const std::string &expression, std::vector<float> a,
                             std::vector<float> b) {
  Emitted kernel = emitBody("x, y, out",
                            "i = tl.arange(0, 4)\na = tl.load(x + i)\nb = tl.load(y + i)\n"
                            "tl.store(out + i, " +
                                expression + ")",
                            "*fp32, *fp32, *fp32");
  std::vector<float> out(4, -1.0f);
  runtime::Tensor ta = tensorOf(a, DType::F32), tb = tensorOf(b, DType::F32),
                  to = tensorOf(out, DType::F32);
  runKernel(kernel, {&ta, &tb, &to});
  return out;
}

TEST(Operators, nanIsNotEqualAndLosesInMaximum) {
  float nan = std::nanf("");
  std::vector<float> a = {nan, 1, nan, 2}, b = {nan, 1, 3, 5};
  EXPECT_EQ(runFloats("(a != b).to(tl.float32)", a, b), (std::vector<float>{1, 0, 1, 1}));
  EXPECT_EQ(runFloats("(a == b).to(tl.float32)", a, b), (std::vector<float>{0, 1, 0, 0}));
  EXPECT_EQ(runFloats("(a < b).to(tl.float32)", a, b), (std::vector<float>{0, 0, 0, 1}));
  std::vector<float> largest = runFloats("tl.maximum(a, b)", a, b);
  EXPECT_TRUE(std::isnan(largest[0]));
  EXPECT_EQ(largest[2], 3);
  std::vector<float> sticky =
      runFloats("tl.maximum(a, b, propagate_nan=tl.PropagateNan.ALL)", a, b);
  EXPECT_TRUE(std::isnan(sticky[2]));
}

TEST(Operators, floatRemainderHasTheSignOfTheDividend) {
  std::vector<float> out = runFloats("a % b", {7.5f, -7.5f, 7.5f, 1}, {2, 2, -2, 3});
  EXPECT_EQ(out, (std::vector<float>{1.5f, -1.5f, 1.5f, 1}));
}

TEST(Operators, literalsAreExactInTheirType) {
  std::vector<float> out = runFloats("a * 0.1 + 1e-3", {1, 2, 3, 4}, {0, 0, 0, 0});
  for (int i = 0; i < 4; ++i) {
    EXPECT_EQ(out[static_cast<size_t>(i)], static_cast<float>(i + 1) * 0.1f + 1e-3f);
  }
}

TEST(Operators, pointersMoveByElements) {
  Emitted kernel = emitBody("x, out, n",
                            "x += 2\np = 1 + x\nq = p - 1\n"
                            "i = tl.arange(0, 2).to(tl.uint32)\n"
                            "tl.store(out, tl.load(q))\ntl.store(out + 1, tl.load(p + n))\n"
                            "tl.store(out + 2 + i, tl.load(x + i))",
                            "*fp32, *fp32, i32");
  EXPECT_TRUE(kernel.has("arith.extui")) << kernel.text;
  std::vector<float> x = {0, 1, 2, 3, 4}, out(4, -1.0f);
  runtime::Tensor tx = tensorOf(x, DType::F32), to = tensorOf(out, DType::F32);
  ASSERT_TRUE(runKernel(kernel, {&tx, &to, int64_t(-2)}));
  EXPECT_EQ(out, (std::vector<float>{2, 1, 2, 3}));
}

TEST(Operators, constantsFollowPython) {
  emitBody(
      "p, N: tl.constexpr",
      "tl.static_assert(-7 // 2 == -4)\ntl.static_assert(-7 % 3 == 2)\n"
      "tl.static_assert(7 % -3 == -2)\ntl.static_assert(7 / 2 == 3.5)\n"
      "tl.static_assert(2 ** 10 == 1024)\ntl.static_assert(2 ** -1 == 0.5)\n"
      "tl.static_assert(-7.5 // 2 == -4.0)\ntl.static_assert(1 << 40 == 1099511627776)\n"
      "tl.static_assert((1, 2) + (3,) == (1, 2, 3))\ntl.static_assert([0] * 3 == (0, 0, 0))\n"
      "tl.static_assert(not None)\ntl.static_assert('a' + 'b' == 'ab')\n"
      "tl.static_assert(3 in (1, 3))\ntl.static_assert(min(N, 5) == 5 and max(3, N, 4) == 16)\n"
      "tl.static_assert(~5 == -6 and (6 ^ 3) == 5)\n"
      "tl.static_assert(triton.cdiv(N + 1, 4) == 5 and triton.next_power_of_2(17) == 32)\n"
      "tl.static_assert(float('inf') > 1e300 and int(2.9) == 2 and len((1, 2)) == 2)",
      "*fp32, 16");
  refuseBody("p", "x = 1 // 0", "*fp32", "E0222");
  refuseBody("p", "x = 1 << 200", "*fp32", "E0222");
}

} // namespace
} // namespace nereid::language
