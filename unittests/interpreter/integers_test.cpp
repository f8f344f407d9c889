// SPDX-License-Identifier: Apache-2.0
// Integer operations of every width against plain C++ on all pairs of awkward values.
#include "RunKernel.h"

#include <algorithm>
#include <limits>

namespace nereid::test {
namespace {

template <class T> struct Traits;
template <> struct Traits<int8_t> {
  static constexpr DType dtype = DType::I8;
};
template <> struct Traits<int16_t> {
  static constexpr DType dtype = DType::I16;
};
template <> struct Traits<int32_t> {
  static constexpr DType dtype = DType::I32;
};
template <> struct Traits<int64_t> {
  static constexpr DType dtype = DType::I64;
};

template <class T> class Integers : public testing::Test {
public:
  using Unsigned = std::make_unsigned_t<T>;
  static constexpr int bits = 8 * sizeof(T);

  Integers() {
    const std::vector<T> values{0,
                                1,
                                -1,
                                2,
                                3,
                                7,
                                -7,
                                42,
                                -100,
                                bits - 1,
                                bits,
                                std::numeric_limits<T>::min(),
                                std::numeric_limits<T>::max()};
    for (T x : values) {
      for (T y : values) {
        a.push_back(x);
        b.push_back(y);
      }
    }
  }

  /// Every pair through `op`, against `expected(x, y)`; pairs that `skip` names are left out.
  template <class Expected, class Skip>
  void check(const std::string &op, Expected expected, Skip skip) {
    const DType dtype = Traits<T>::dtype;
    auto result = valuesOf<T>(
        evaluate("%r = " + op + " %a, %b : TA", {tensorOf(dtype, a), tensorOf(dtype, b)}, dtype));
    for (size_t i = 0; i < a.size(); ++i) {
      if (!skip(a[i], b[i])) {
        EXPECT_EQ(result[i], static_cast<T>(expected(a[i], b[i])))
            << op << " " << int64_t(a[i]) << ", " << int64_t(b[i]);
      }
    }
  }
  template <class Expected> void check(const std::string &op, Expected expected) {
    check(op, expected, [](T, T) { return false; });
  }
  template <class Expected> void compare(const std::string &predicate, Expected expected) {
    const DType dtype = Traits<T>::dtype;
    auto result =
        valuesOf<uint8_t>(evaluate("%r = arith.cmpi " + predicate + ", %a, %b : TA",
                                   {tensorOf(dtype, a), tensorOf(dtype, b)}, DType::Bool));
    for (size_t i = 0; i < a.size(); ++i) {
      EXPECT_EQ(result[i], expected(a[i], b[i]) ? 1 : 0)
          << predicate << " " << int64_t(a[i]) << ", " << int64_t(b[i]);
    }
  }

  std::vector<T> a, b;
};

using Widths = testing::Types<int8_t, int16_t, int32_t, int64_t>;
TYPED_TEST_SUITE(Integers, Widths);

using Wide = __int128;

TYPED_TEST(Integers, WrapAroundTheirWidth) {
  this->check("arith.addi", [](Wide x, Wide y) { return x + y; });
  this->check("arith.subi", [](Wide x, Wide y) { return x - y; });
  this->check("arith.muli", [](Wide x, Wide y) { return x * y; });
}

TYPED_TEST(Integers, CombineBits) {
  this->check("arith.andi", [](TypeParam x, TypeParam y) { return x & y; });
  this->check("arith.ori", [](TypeParam x, TypeParam y) { return x | y; });
  this->check("arith.xori", [](TypeParam x, TypeParam y) { return x ^ y; });
}

TYPED_TEST(Integers, ShiftsBeyondTheWidthGiveZeroOrTheSign) {
  using U = typename TestFixture::Unsigned;
  const Wide bits = TestFixture::bits;
  auto amount = [](TypeParam y) { return static_cast<Wide>(static_cast<U>(y)); };
  this->check("arith.shli", [&](TypeParam x, TypeParam y) {
    return amount(y) >= bits ? Wide(0) : Wide(U(x)) << amount(y);
  });
  this->check("arith.shrui", [&](TypeParam x, TypeParam y) {
    return amount(y) >= bits ? Wide(0) : Wide(U(x)) >> amount(y);
  });
  this->check("arith.shrsi",
              [&](TypeParam x, TypeParam y) { return Wide(x) >> std::min(amount(y), bits); });
}

TYPED_TEST(Integers, SignedDivisionTruncatesFloorsOrCeils) {
  auto byZero = [](TypeParam, TypeParam y) { return y == 0; };
  this->check("arith.divsi", [](Wide x, Wide y) { return x / y; }, byZero);
  this->check("arith.remsi", [](Wide x, Wide y) { return x % y; }, byZero);
  auto floorDivision = [](Wide x, Wide y) {
    Wide quotient = x / y;
    while (quotient * y > x ? y > 0 : (quotient * y < x && y < 0)) {
      --quotient;
    }
    return quotient;
  };
  this->check("arith.floordivsi", floorDivision, byZero);
  this->check("arith.ceildivsi", [&](Wide x, Wide y) { return -floorDivision(-x, y); }, byZero);
}

TYPED_TEST(Integers, UnsignedDivision) {
  using U = typename TestFixture::Unsigned;
  auto byZero = [](TypeParam, TypeParam y) { return y == 0; };
  this->check("arith.divui", [](TypeParam x, TypeParam y) { return U(x) / U(y); }, byZero);
  this->check("arith.remui", [](TypeParam x, TypeParam y) { return U(x) % U(y); }, byZero);
  this->check(
      "arith.ceildivui", [](TypeParam x, TypeParam y) { return (Wide(U(x)) + U(y) - 1) / U(y); },
      byZero);
}

TYPED_TEST(Integers, MinimumAndMaximum) {
  using U = typename TestFixture::Unsigned;
  this->check("arith.maxsi", [](TypeParam x, TypeParam y) { return x > y ? x : y; });
  this->check("arith.minsi", [](TypeParam x, TypeParam y) { return x < y ? x : y; });
  this->check("arith.maxui", [](TypeParam x, TypeParam y) { return U(x) > U(y) ? x : y; });
  this->check("arith.minui", [](TypeParam x, TypeParam y) { return U(x) < U(y) ? x : y; });
}

TYPED_TEST(Integers, Compare) {
  using U = typename TestFixture::Unsigned;
  this->compare("eq", [](TypeParam x, TypeParam y) { return x == y; });
  this->compare("ne", [](TypeParam x, TypeParam y) { return x != y; });
  this->compare("slt", [](TypeParam x, TypeParam y) { return x < y; });
  this->compare("sle", [](TypeParam x, TypeParam y) { return x <= y; });
  this->compare("sgt", [](TypeParam x, TypeParam y) { return x > y; });
  this->compare("sge", [](TypeParam x, TypeParam y) { return x >= y; });
  this->compare("ult", [](TypeParam x, TypeParam y) { return U(x) < U(y); });
  this->compare("ule", [](TypeParam x, TypeParam y) { return U(x) <= U(y); });
  this->compare("ugt", [](TypeParam x, TypeParam y) { return U(x) > U(y); });
  this->compare("uge", [](TypeParam x, TypeParam y) { return U(x) >= U(y); });
}

TYPED_TEST(Integers, UnaryAndPower) {
  const DType dtype = Traits<TypeParam>::dtype;
  auto unary = [&](const std::string &op, auto expected) {
    auto result = valuesOf<TypeParam>(evaluate(
        "%r = " + op + " %b : TB", {tensorOf(dtype, this->b), tensorOf(dtype, this->b)}, dtype));
    for (size_t i = 0; i < result.size(); ++i) {
      EXPECT_EQ(result[i], static_cast<TypeParam>(expected(this->b[i]))) << op << " " << i;
    }
  };
  using U = typename TestFixture::Unsigned;
  unary("math.absi", [](Wide x) { return x < 0 ? -x : x; });
  unary("math.ctpop", [](TypeParam x) { return std::popcount(U(x)); });
  unary("math.ctlz", [](TypeParam x) { return std::countl_zero(U(x)); });
  unary("math.cttz", [](TypeParam x) { return std::countr_zero(U(x)); });
  this->check(
      "math.ipowi",
      [](TypeParam x, TypeParam y) {
        U result = 1;
        for (TypeParam i = 0; i < y; ++i) {
          result = static_cast<U>(uint64_t(result) * uint64_t(U(x)));
        }
        return result;
      },
      [](TypeParam, TypeParam y) { return y < 0 || y > 100; });
}

TEST(IntegersWithTwoResults, CarryAndHighHalf) {
  const std::vector<uint32_t> a{0, 1, 0xffffffff, 0x80000000, 12345, 0xffffffff};
  const std::vector<uint32_t> b{0, 2, 1, 0x80000000, 678910, 0xffffffff};
  const std::vector<runtime::Tensor> inputs{tensorOf(DType::I32, a), tensorOf(DType::I32, b)};
  auto carry = valuesOf<uint8_t>(
      evaluate("%s, %r = arith.addui_extended %a, %b : TA, TI1", inputs, DType::Bool));
  auto low =
      valuesOf<uint32_t>(evaluate("%r, %h = arith.mului_extended %a, %b : TA", inputs, DType::I32));
  auto high =
      valuesOf<uint32_t>(evaluate("%l, %r = arith.mului_extended %a, %b : TA", inputs, DType::I32));
  auto signedHigh =
      valuesOf<uint32_t>(evaluate("%l, %r = arith.mulsi_extended %a, %b : TA", inputs, DType::I32));
  for (size_t i = 0; i < a.size(); ++i) {
    EXPECT_EQ(carry[i], (uint64_t(a[i]) + b[i]) >> 32);
    EXPECT_EQ(low[i], a[i] * b[i]);
    EXPECT_EQ(high[i], uint32_t((uint64_t(a[i]) * b[i]) >> 32));
    EXPECT_EQ(signedHigh[i], uint32_t((int64_t(int32_t(a[i])) * int32_t(b[i])) >> 32));
  }
}

TEST(IntegerDivisionByZero, StopsAScalarWithItsCode) {
  for (const char *op : {"divsi", "divui", "remsi", "remui", "floordivsi", "ceildivsi"}) {
    Diagnostics diags;
    EXPECT_FALSE(runText("func.func @k(%a: i32, %b: i32) attributes {tile.kernel} {\n"
                         "  %0 = arith." +
                             std::string(op) + " %a, %b : i32\n  return\n}",
                         {1, 1, 1}, {int64_t(7), int64_t(0)}, diags));
    ASSERT_EQ(diags.all().size(), 1u);
    EXPECT_EQ(diags.all()[0].code, "E0402");
  }
}

TEST(IntegerDivisionByZero, LeavesAnElementOfATileUndefined) {
  auto result = valuesOf<int32_t>(evaluate(
      "%r = arith.divsi %a, %b : TA",
      {tensorOf<int32_t>(DType::I32, {8, 8}), tensorOf<int32_t>(DType::I32, {2, 0})}, DType::I32));
  EXPECT_EQ(result[0], 4);
  EXPECT_EQ(result[1], int32_t(0xCDCDCDCD));
}

} // namespace
} // namespace nereid::test
