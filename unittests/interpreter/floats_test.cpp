// SPDX-License-Identifier: Apache-2.0
// Floating-point operations and conversions, bit for bit against LLVM's soft floats (APFloat),
// which share no code with the interpreter, on awkward and on pseudo-random bit patterns.
#include "RunKernel.h"

#include "llvm/ADT/APFloat.h"
#include "llvm/ADT/APSInt.h"

#include <cmath>
#include <functional>
#include <random>

using llvm::APFloat;
using llvm::APInt;

namespace nereid::test {
namespace {

constexpr auto nearest = APFloat::rmNearestTiesToEven;

const llvm::fltSemantics &semanticsOf(DType dtype) {
  switch (dtype) {
  case DType::F16:
    return APFloat::IEEEhalf();
  case DType::BF16:
    return APFloat::BFloat();
  case DType::F32:
    return APFloat::IEEEsingle();
  default:
    return APFloat::IEEEdouble();
  }
}

unsigned bitsOf(DType dtype) { return static_cast<unsigned>(8 * sizeInBytes(dtype)); }

runtime::Tensor fromBits(DType dtype, const std::vector<uint64_t> &words) {
  auto tensor = runtime::Tensor::empty({static_cast<int64_t>(words.size())}, dtype);
  for (size_t i = 0; i < words.size(); ++i) {
    std::memcpy(tensor.as<char>() + i * sizeInBytes(dtype), &words[i], sizeInBytes(dtype));
  }
  return tensor;
}

uint64_t bitsAt(const runtime::Tensor &tensor, size_t i) {
  uint64_t word = 0;
  const size_t bytes = sizeInBytes(tensor.dtype());
  std::memcpy(&word, tensor.as<char>() + i * bytes, bytes);
  return word;
}

APFloat toSoft(DType dtype, uint64_t bits) {
  return APFloat(semanticsOf(dtype), APInt(bitsOf(dtype), bits));
}

/// Zeros, ones, extremes, subnormals, infinities, NaN, and numbers near one another so that sums
/// and products round.
std::vector<uint64_t> patterns(DType dtype, unsigned seed) {
  const llvm::fltSemantics &semantics = semanticsOf(dtype);
  std::vector<uint64_t> words;
  for (bool negative : {false, true}) {
    for (const APFloat &value :
         {APFloat::getZero(semantics, negative), APFloat::getInf(semantics, negative),
          APFloat::getLargest(semantics, negative), APFloat::getSmallest(semantics, negative),
          APFloat::getSmallestNormalized(semantics, negative),
          APFloat::getQNaN(semantics, negative), APFloat(semantics, negative ? "-1" : "1"),
          APFloat(semantics, negative ? "-3" : "3")}) {
      words.push_back(value.bitcastToAPInt().getZExtValue());
    }
  }
  std::mt19937_64 random(seed);
  const uint64_t one = APFloat(semantics, "1").bitcastToAPInt().getZExtValue();
  const uint64_t mask = bitsOf(dtype) == 64 ? ~uint64_t(0) : (uint64_t(1) << bitsOf(dtype)) - 1;
  while (words.size() < 400) {
    words.push_back(random() & mask);
    // Near 1: exponents within a few of each other.
    words.push_back((one + (random() % (one / 8)) - one / 16) & mask);
  }
  return words;
}

/// NaNs need only both be NaN; everything else must agree in every bit.
void expectSame(DType dtype, uint64_t got, const APFloat &expected, const std::string &what) {
  const APFloat value = toSoft(dtype, got);
  EXPECT_TRUE(expected.isNaN() ? value.isNaN() : value.bitwiseIsEqual(expected))
      << what << ": got 0x" << std::hex << got << ", expected 0x"
      << expected.bitcastToAPInt().getZExtValue();
}

class Floats : public testing::TestWithParam<DType> {
public:
  const DType dtype = GetParam();

  void binary(const std::string &op, const std::function<void(APFloat &, const APFloat &)> &apply) {
    const std::vector<uint64_t> a = patterns(dtype, 1), b = [&] {
      std::vector<uint64_t> words = patterns(dtype, 2);
      std::shuffle(words.begin(), words.end(), std::mt19937(3));
      return words;
    }();
    auto result =
        evaluate("%r = " + op + " %a, %b : TA", {fromBits(dtype, a), fromBits(dtype, b)}, dtype);
    for (size_t i = 0; i < a.size(); ++i) {
      APFloat expected = toSoft(dtype, a[i]);
      apply(expected, toSoft(dtype, b[i]));
      expectSame(dtype, bitsAt(result, i), expected, op + " #" + std::to_string(i));
    }
  }
};

TEST_P(Floats, ArithmeticRoundsOnce) {
  binary("arith.addf", [](APFloat &x, const APFloat &y) { x.add(y, nearest); });
  binary("arith.subf", [](APFloat &x, const APFloat &y) { x.subtract(y, nearest); });
  binary("arith.mulf", [](APFloat &x, const APFloat &y) { x.multiply(y, nearest); });
  binary("arith.divf", [](APFloat &x, const APFloat &y) { x.divide(y, nearest); });
  binary("arith.remf", [](APFloat &x, const APFloat &y) { x.mod(y); });
}

TEST_P(Floats, MinimumAndMaximumDifferInNaN) {
  binary("arith.maximumf", [](APFloat &x, const APFloat &y) { x = llvm::maximum(x, y); });
  binary("arith.minimumf", [](APFloat &x, const APFloat &y) { x = llvm::minimum(x, y); });
  for (const char *maximum : {"arith.maxnumf", "tile.maxnum"}) {
    binary(maximum, [](APFloat &x, const APFloat &y) {
      x = x.isNaN() ? y : y.isNaN() ? x : llvm::maximum(x, y);
    });
  }
  for (const char *minimum : {"arith.minnumf", "tile.minnum"}) {
    binary(minimum, [](APFloat &x, const APFloat &y) {
      x = x.isNaN() ? y : y.isNaN() ? x : llvm::minimum(x, y);
    });
  }
  binary("math.copysign", [](APFloat &x, const APFloat &y) { x.copySign(y); });
}

TEST_P(Floats, FusedMultiplyAddRoundsOnce) {
  std::vector<uint64_t> a = patterns(dtype, 4), b = patterns(dtype, 5), c = patterns(dtype, 6);
  std::shuffle(b.begin(), b.end(), std::mt19937(7));
  std::shuffle(c.begin(), c.end(), std::mt19937(8));
  auto result = evaluate("%r = math.fma %a, %b, %c : TA",
                         {fromBits(dtype, a), fromBits(dtype, b), fromBits(dtype, c)}, dtype);
  for (size_t i = 0; i < a.size(); ++i) {
    APFloat expected = toSoft(dtype, a[i]);
    expected.fusedMultiplyAdd(toSoft(dtype, b[i]), toSoft(dtype, c[i]), nearest);
    expectSame(dtype, bitsAt(result, i), expected, "fma #" + std::to_string(i));
  }
}

TEST_P(Floats, FusedMultiplyAddSeesWhatAProductLoses) {
  // x*x + y with y the rounded product's negative: what is left is the rounding error itself; and
  // a tiny addend decides a tie of a big product.
  const APFloat x(semanticsOf(dtype), "1.0078125");
  APFloat product = x;
  product.multiply(x, nearest);
  product.changeSign();
  const std::vector<APFloat> a{x, APFloat(semanticsOf(dtype), "1.5")};
  const std::vector<APFloat> c{product, APFloat::getSmallest(semanticsOf(dtype))};
  std::vector<uint64_t> aBits, cBits;
  for (size_t i = 0; i < a.size(); ++i) {
    aBits.push_back(a[i].bitcastToAPInt().getZExtValue());
    cBits.push_back(c[i].bitcastToAPInt().getZExtValue());
  }
  auto result = evaluate("%r = math.fma %a, %a, %b : TA",
                         {fromBits(dtype, aBits), fromBits(dtype, cBits)}, dtype);
  for (size_t i = 0; i < a.size(); ++i) {
    APFloat expected = a[i];
    expected.fusedMultiplyAdd(a[i], c[i], nearest);
    expectSame(dtype, bitsAt(result, i), expected, "fma");
  }
}

TEST_P(Floats, SignOperationsKeepEveryOtherBit) {
  const std::vector<uint64_t> words = patterns(dtype, 9);
  const uint64_t sign = uint64_t(1) << (bitsOf(dtype) - 1);
  auto negated = evaluate("%r = arith.negf %a : TA", {fromBits(dtype, words)}, dtype);
  auto absolute = evaluate("%r = math.absf %a : TA", {fromBits(dtype, words)}, dtype);
  for (size_t i = 0; i < words.size(); ++i) {
    EXPECT_EQ(bitsAt(negated, i), words[i] ^ sign);
    EXPECT_EQ(bitsAt(absolute, i), words[i] & ~sign);
  }
}

TEST_P(Floats, ComparisonsTreatNaNAsUnordered) {
  const std::vector<uint64_t> a = patterns(dtype, 1);
  std::vector<uint64_t> b = patterns(dtype, 1);
  std::rotate(b.begin(), b.begin() + 7, b.begin() + 16);
  using Compare = APFloat::cmpResult;
  const auto less = Compare::cmpLessThan, equal = Compare::cmpEqual;
  const auto greater = Compare::cmpGreaterThan, unordered = Compare::cmpUnordered;
  const std::vector<std::pair<std::string, std::vector<Compare>>> table{
      {"false", {}},
      {"oeq", {equal}},
      {"ogt", {greater}},
      {"oge", {greater, equal}},
      {"olt", {less}},
      {"ole", {less, equal}},
      {"one", {less, greater}},
      {"ord", {less, greater, equal}},
      {"ueq", {equal, unordered}},
      {"ugt", {greater, unordered}},
      {"uge", {greater, equal, unordered}},
      {"ult", {less, unordered}},
      {"ule", {less, equal, unordered}},
      {"une", {less, greater, unordered}},
      {"uno", {unordered}},
      {"true", {less, greater, equal, unordered}}};
  for (const auto &[predicate, holding] : table) {
    auto result = evaluate("%r = arith.cmpf " + predicate + ", %a, %b : TA",
                           {fromBits(dtype, a), fromBits(dtype, b)}, DType::Bool);
    for (size_t i = 0; i < a.size(); ++i) {
      const bool expected =
          llvm::is_contained(holding, toSoft(dtype, a[i]).compare(toSoft(dtype, b[i])));
      EXPECT_EQ(bitsAt(result, i), expected ? 1u : 0u) << predicate << " #" << i;
    }
  }
}

TEST_P(Floats, ConvertToEveryOtherFloat) {
  for (DType to : {DType::F16, DType::BF16, DType::F32, DType::F64}) {
    const bool widens = bitsOf(to) > bitsOf(dtype);
    if (bitsOf(to) == bitsOf(dtype)) {
      continue;
    }
    const std::vector<uint64_t> words = patterns(dtype, 10);
    auto result =
        evaluate(std::string("%r = arith.") + (widens ? "extf" : "truncf") + " %a : TA to TR",
                 {fromBits(dtype, words)}, to);
    for (size_t i = 0; i < words.size(); ++i) {
      APFloat expected = toSoft(dtype, words[i]);
      bool losesInfo = false;
      expected.convert(semanticsOf(to), nearest, &losesInfo);
      expectSame(to, bitsAt(result, i), expected, "convert #" + std::to_string(i));
    }
  }
}

TEST_P(Floats, ConvertFromIntegersInOneRounding) {
  std::mt19937_64 random(11);
  std::vector<uint64_t> words{0,
                              1,
                              ~uint64_t(0),
                              uint64_t(1) << 63,
                              (uint64_t(1) << 63) - 1,
                              0x8000008000000001,
                              0x4000004000000001,
                              0x0080000080000000};
  for (int i = 0; i < 300; ++i) {
    words.push_back(random() >> (random() % 64));
  }
  for (bool isSigned : {true, false}) {
    auto result =
        evaluate(std::string("%r = arith.") + (isSigned ? "sitofp" : "uitofp") + " %a : TA to TR",
                 {tensorOf(DType::I64, words)}, dtype);
    for (size_t i = 0; i < words.size(); ++i) {
      APFloat expected(semanticsOf(dtype));
      expected.convertFromAPInt(APInt(64, words[i]), isSigned, nearest);
      expectSame(dtype, bitsAt(result, i), expected, "from integer #" + std::to_string(i));
    }
  }
}

TEST_P(Floats, ConvertToIntegersTruncatingAndSaturating) {
  const std::vector<uint64_t> words = patterns(dtype, 12);
  for (DType to : {DType::I8, DType::I16, DType::I32, DType::I64}) {
    for (bool isSigned : {true, false}) {
      auto result =
          evaluate(std::string("%r = arith.") + (isSigned ? "fptosi" : "fptoui") + " %a : TA to TR",
                   {fromBits(dtype, words)}, to);
      for (size_t i = 0; i < words.size(); ++i) {
        llvm::APSInt expected(bitsOf(to), !isSigned);
        bool isExact = false;
        toSoft(dtype, words[i]).convertToInteger(expected, APFloat::rmTowardZero, &isExact);
        EXPECT_EQ(bitsAt(result, i), expected.getZExtValue()) << i;
      }
    }
  }
}

INSTANTIATE_TEST_SUITE_P(EveryType, Floats,
                         testing::Values(DType::F16, DType::BF16, DType::F32, DType::F64),
                         [](const auto &info) { return std::string(torchName(info.param)); });

TEST(Casts, BetweenIntegers) {
  const std::vector<int8_t> small{0, 1, -1, 127, -128};
  auto extended = valuesOf<int32_t>(
      evaluate("%r = arith.extsi %a : TA to TR", {tensorOf(DType::I8, small)}, DType::I32));
  auto zeroExtended = valuesOf<int32_t>(
      evaluate("%r = arith.extui %a : TA to TR", {tensorOf(DType::I8, small)}, DType::I32));
  const std::vector<int32_t> wide{0, 255, 256, -129, 0x12345678};
  auto narrowed = valuesOf<int8_t>(
      evaluate("%r = arith.trunci %a : TA to TR", {tensorOf(DType::I32, wide)}, DType::I8));
  auto bit = valuesOf<uint8_t>(
      evaluate("%r = arith.trunci %a : TA to TR", {tensorOf(DType::I32, wide)}, DType::Bool));
  for (size_t i = 0; i < small.size(); ++i) {
    EXPECT_EQ(extended[i], small[i]);
    EXPECT_EQ(zeroExtended[i], uint8_t(small[i]));
    EXPECT_EQ(narrowed[i], int8_t(wide[i]));
    EXPECT_EQ(bit[i], wide[i] & 1);
  }
}

TEST(Casts, BitcastKeepsBits) {
  const std::vector<uint32_t> bits{0x7fc12345, 0x3f800000, 0x80000000};
  auto back = evaluate("%f = arith.bitcast %a : TA to tensor<3xf32>\n"
                       "%r = arith.bitcast %f : tensor<3xf32> to TR",
                       {tensorOf(DType::I32, bits)}, DType::I32);
  EXPECT_EQ(valuesOf<uint32_t>(back), bits);
}

TEST(Casts, SelectTakesScalarAndTileConditions) {
  const std::vector<float> a{1, 2, 3}, b{-1, -2, -3};
  const std::vector<runtime::Tensor> inputs{tensorOf(DType::F32, a), tensorOf(DType::F32, b)};
  auto byTile = evaluate("%m = arith.cmpf ogt, %a, %b : TA\n"
                         "%n = arith.constant dense<[true, false, true]> : TI1\n"
                         "%both = arith.andi %m, %n : TI1\n"
                         "%r = arith.select %both, %a, %b : TI1, TA",
                         inputs, DType::F32);
  EXPECT_EQ(valuesOf<float>(byTile), (std::vector<float>{1, -2, 3}));
  auto byScalar =
      evaluate("%m = arith.constant false\n%r = arith.select %m, %a, %b : TA", inputs, DType::F32);
  EXPECT_EQ(valuesOf<float>(byScalar), b);
}

} // namespace
} // namespace nereid::test
