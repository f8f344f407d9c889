// SPDX-License-Identifier: Apache-2.0
// Atomic operations of one program instance: what they read, what they leave behind, masks, and
// elements that meet in one address.
#include "RunKernel.h"

#include <cmath>
#include <limits>

namespace nereid::test {
namespace {

/// One element: runs `kind` on memory `before` with `value`; gives what was read and what is left.
template <class T> std::pair<T, T> apply(const std::string &kind, DType dtype, T before, T value) {
  const std::string type = typeName(dtype);
  auto memory = tensorOf<T>(dtype, {before}), operand = tensorOf<T>(dtype, {value});
  auto read = tensorOf<T>(dtype, {value});
  mustRun("func.func @k(%m: !tile.ptr<" + type + ">, %v: !tile.ptr<" + type + ">, %r: !tile.ptr<" +
              type + ">) attributes {tile.kernel} {\n  %x = tile.load %v : " + "!tile.ptr<" + type +
              "> -> " + type + "\n  %o = tile.atomic_rmw " + kind + " %m, %x : !tile.ptr<" + type +
              ">, " + type + "\n  tile.store %r, %o : !tile.ptr<" + type + ">, " + type +
              "\n  return\n}",
          {1, 1, 1}, {&memory, &operand, &read});
  return {valuesOf<T>(read)[0], valuesOf<T>(memory)[0]};
}

template <class T> void checkIntegers(DType dtype) {
  using Unsigned = std::make_unsigned_t<T>;
  const T low = std::numeric_limits<T>::min(), high = std::numeric_limits<T>::max();
  const std::vector<T> samples{0, 1, -1, 5, low, high, static_cast<T>(high - 3)};
  for (T x : samples) {
    for (T y : samples) {
      const auto ux = static_cast<Unsigned>(x), uy = static_cast<Unsigned>(y);
      auto check = [&](const char *kind, T expected) {
        EXPECT_EQ(apply<T>(kind, dtype, x, y), std::make_pair(x, expected)) << kind;
      };
      check("add", static_cast<T>(ux + uy));
      check("and", static_cast<T>(x & y));
      check("or", static_cast<T>(x | y));
      check("xor", static_cast<T>(x ^ y));
      check("max", x > y ? x : y);
      check("min", x < y ? x : y);
      check("umax", static_cast<T>(ux > uy ? ux : uy));
      check("umin", static_cast<T>(ux < uy ? ux : uy));
      check("xchg", y);
    }
  }
}

TEST(AtomicRMW, IntegersOfEveryWidth) {
  checkIntegers<int8_t>(DType::I8);
  checkIntegers<int16_t>(DType::I16);
  checkIntegers<int32_t>(DType::I32);
  checkIntegers<int64_t>(DType::I64);
}

template <class T> void checkFloats(DType dtype) {
  const T nan = std::numeric_limits<T>::quiet_NaN(), infinity = std::numeric_limits<T>::infinity();
  EXPECT_EQ(apply<T>("fadd", dtype, T(1.5), T(2.25)), std::make_pair(T(1.5), T(3.75)));
  EXPECT_EQ(apply<T>("fadd", dtype, T(1), std::numeric_limits<T>::epsilon() / 2).second, T(1));
  EXPECT_EQ(apply<T>("xchg", dtype, T(1), T(-7)), std::make_pair(T(1), T(-7)));
  for (const char *kind : {"fmax", "fmin"}) {
    const bool isMax = std::string(kind) == "fmax";
    EXPECT_EQ(apply<T>(kind, dtype, T(2), T(3)).second, isMax ? T(3) : T(2));
    EXPECT_EQ(apply<T>(kind, dtype, T(-2), T(-3)).second, isMax ? T(-2) : T(-3));
    EXPECT_EQ(apply<T>(kind, dtype, nan, T(-3)).second, T(-3)) << "the number wins";
    EXPECT_EQ(apply<T>(kind, dtype, T(-3), nan).second, T(-3)) << "the number wins";
    EXPECT_TRUE(std::isnan(apply<T>(kind, dtype, nan, nan).second));
    EXPECT_EQ(apply<T>(kind, dtype, -infinity, infinity).second, isMax ? infinity : -infinity);
    EXPECT_EQ(std::signbit(apply<T>(kind, dtype, T(0), T(-0.0)).second), !isMax);
    EXPECT_EQ(std::signbit(apply<T>(kind, dtype, T(-0.0), T(0)).second), !isMax);
  }
}

TEST(AtomicRMW, Floats) {
  checkFloats<float>(DType::F32);
  checkFloats<double>(DType::F64);
}

TEST(AtomicRMW, HalvesRoundAfterEveryAddition) {
  // float16: 2048 + 1 is a tie and goes to 2048; bfloat16: 256 + 1 likewise, 256 + 3 to 260.
  EXPECT_EQ(apply<uint16_t>("fadd", DType::F16, 0x6800, 0x3c00).second, 0x6800);
  EXPECT_EQ(apply<uint16_t>("fadd", DType::F16, 0x3c00, 0x3800).second, 0x3e00);
  EXPECT_EQ(apply<uint16_t>("fadd", DType::BF16, 0x4380, 0x3f80).second, 0x4380);
  EXPECT_EQ(apply<uint16_t>("fadd", DType::BF16, 0x4380, 0x4040).second, 0x4382);
  EXPECT_EQ(apply<uint16_t>("fmax", DType::BF16, 0xc040, 0x3f80).second, 0x3f80);
  EXPECT_EQ(apply<uint16_t>("fmin", DType::F16, 0xc000, 0x3c00).second, 0xc000);
  EXPECT_EQ(apply<uint16_t>("fadd", DType::F16, 0x7bff, 0x7bff).second, 0x7c00) << "overflow";
}

TEST(AtomicRMW, ElementsThatMeetAreAllCombined) {
  auto counts = tensorOf<int32_t>(DType::I32, {10, 20, 30});
  const std::vector<int32_t> bins{0, 2, 2, 1, 2, 0, 7, 2};
  auto x = tensorOf(DType::I32, bins);
  auto read = tensorOf<int32_t>(DType::I32, std::vector<int32_t>(8, -1));
  mustRun(R"(
    func.func @k(%c: !tile.ptr<i32>, %x: !tile.ptr<i32>, %r: !tile.ptr<i32>)
        attributes {tile.kernel} {
      %i = tile.make_range 0 to 8 : tensor<8xi32>
      %xs = tile.splat %x : !tile.ptr<i32> -> tensor<8x!tile.ptr<i32>>
      %xp = tile.addptr %xs, %i : tensor<8x!tile.ptr<i32>>, tensor<8xi32>
      %bin = tile.load %xp : tensor<8x!tile.ptr<i32>> -> tensor<8xi32>
      %three = arith.constant dense<3> : tensor<8xi32>
      %inside = arith.cmpi ult, %bin, %three : tensor<8xi32>
      %cs = tile.splat %c : !tile.ptr<i32> -> tensor<8x!tile.ptr<i32>>
      %cp = tile.addptr %cs, %bin : tensor<8x!tile.ptr<i32>>, tensor<8xi32>
      %one = arith.constant dense<1> : tensor<8xi32>
      %o = tile.atomic_rmw add %cp, %one mask %inside : tensor<8xi1>
          : tensor<8x!tile.ptr<i32>>, tensor<8xi32>
      %rs = tile.splat %r : !tile.ptr<i32> -> tensor<8x!tile.ptr<i32>>
      %rp = tile.addptr %rs, %i : tensor<8x!tile.ptr<i32>>, tensor<8xi32>
      tile.store %rp, %o mask %inside : tensor<8xi1> : tensor<8x!tile.ptr<i32>>, tensor<8xi32>
      return
    })",
          {2, 1, 1}, {&counts, &x, &read});
  EXPECT_EQ(valuesOf<int32_t>(counts), (std::vector<int32_t>{14, 22, 38}));
  // What the second instance read, element after element.
  EXPECT_EQ(valuesOf<int32_t>(read), (std::vector<int32_t>{12, 34, 35, 21, 36, 13, -1, 37}));
}

TEST(AtomicCAS, ComparesBitsAndGivesWhatWasRead) {
  auto run = [](float before, float expected, float value) {
    auto memory = tensorOf<float>(DType::F32, {before, 0});
    mustRun(R"(
      func.func @k(%m: !tile.ptr<f32>, %e: f32, %v: f32) attributes {tile.kernel} {
        %o = tile.atomic_cas %m, %e, %v : !tile.ptr<f32>, f32
        %one = arith.constant 1 : i32
        %q = tile.addptr %m, %one : !tile.ptr<f32>, i32
        tile.store %q, %o : !tile.ptr<f32>, f32
        return
      })",
            {1, 1, 1}, {&memory, double(expected), double(value)});
    return valuesOf<float>(memory);
  };
  EXPECT_EQ(run(1, 1, 5), (std::vector<float>{5, 1}));
  EXPECT_EQ(run(2, 1, 5), (std::vector<float>{2, 2}));
  EXPECT_TRUE(std::signbit(run(-0.0f, 0.0f, 5)[0])) << "equal numbers, other bits";
}

TEST(AtomicCAS, OneOfSeveralElementsWins) {
  auto memory = tensorOf<int64_t>(DType::I64, {0});
  auto read = tensorOf<int64_t>(DType::I64, {9, 9, 9});
  mustRun(R"(
    func.func @k(%m: !tile.ptr<i64>, %r: !tile.ptr<i64>) attributes {tile.kernel} {
      %p = tile.splat %m : !tile.ptr<i64> -> tensor<3x!tile.ptr<i64>>
      %e = arith.constant dense<0> : tensor<3xi64>
      %v = arith.constant dense<[5, 6, 7]> : tensor<3xi64>
      %o = tile.atomic_cas %p, %e, %v : tensor<3x!tile.ptr<i64>>, tensor<3xi64>
      %i = tile.make_range 0 to 3 : tensor<3xi32>
      %s = tile.splat %r : !tile.ptr<i64> -> tensor<3x!tile.ptr<i64>>
      %q = tile.addptr %s, %i : tensor<3x!tile.ptr<i64>>, tensor<3xi32>
      tile.store %q, %o : tensor<3x!tile.ptr<i64>>, tensor<3xi64>
      return
    })",
          {1, 1, 1}, {&memory, &read});
  EXPECT_EQ(valuesOf<int64_t>(memory)[0], 5);
  EXPECT_EQ(valuesOf<int64_t>(read), (std::vector<int64_t>{0, 5, 5}));
}

TEST(Atomics, AccessesOutsideAreReportedAndChangeNothing) {
  auto memory = tensorOf<int32_t>(DType::I32, {1, 2});
  for (const char *op : {"tile.atomic_rmw add %q, %one", "tile.atomic_cas %q, %one, %one"}) {
    Diagnostics diags;
    EXPECT_FALSE(runText(std::string(R"(
      func.func @k(%m: !tile.ptr<i32>) attributes {tile.kernel} {
        %p = tile.splat %m : !tile.ptr<i32> -> tensor<3x!tile.ptr<i32>>
        %i = tile.make_range 0 to 3 : tensor<3xi32>
        %q = tile.addptr %p, %i : tensor<3x!tile.ptr<i32>>, tensor<3xi32>
        %one = arith.constant dense<1> : tensor<3xi32>
        %o = )") + op + R"( : tensor<3x!tile.ptr<i32>>, tensor<3xi32>
        return
      })",
                         {1, 1, 1}, {&memory}, diags));
    ASSERT_EQ(diags.all().size(), 1u);
    EXPECT_EQ(diags.all()[0].code, "E0403");
    EXPECT_EQ(diags.all()[0].message,
              "atomic operation works outside every tensor at element [2] of the tile");
    EXPECT_EQ(valuesOf<int32_t>(memory), (std::vector<int32_t>{1, 2}));
  }
}

} // namespace
} // namespace nereid::test
