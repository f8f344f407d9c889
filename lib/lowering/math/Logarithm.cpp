// SPDX-License-Identifier: Apache-2.0
// log, log2, log10, log1p: x = 2^k m with m between sqrt(1/2) and sqrt(2), a polynomial for m.
// f32 uses log(1+f) = f - f^2/2 + f^3 q(f); f64 uses s = f / (2+f), log(1+f) = 2 atanh(s). log2 and
// log10 of f64 take the logarithm as a pair of numbers, so that powers of 2 and 10 come out exact.
#include "lib/lowering/math/ApproximateUnit.h"
#include "lib/lowering/math/Coefficients.h"
#include "lib/lowering/math/Functions.h"
#include "lib/lowering/math/SinglePairs.h"

#include <limits>

namespace nereid::lowering {
namespace {

constexpr double infinity = std::numeric_limits<double>::infinity();
constexpr double notANumber = std::numeric_limits<double>::quiet_NaN();
constexpr double subnormalScale = 0x1p25; // makes each of f32 a normal number
constexpr double ln2High64 = 0x1.62e42fefap-1, ln2Low64 = 0x1.cf79abc9e3b39p-40;
constexpr double ln2High32 = 0x1.62e4p-1, ln2Low32 = 0x1.7f7d1cp-20;

struct Split {
  Lanes k; // as a float
  Lanes f; // m - 1
};

struct Split64 {
  Lanes exponent; // k as an integer
  Split split;
};

/// x = 2^k (1 + f); x positive and finite, subnormal numbers included.
Split splitExponent32(Lanes x) {
  Lanes isSubnormal = x < 0x1p-126;
  Lanes bits = bitsOf(select(isSubnormal, x * subnormalScale, x));
  Lanes exponent = (bits - bits.constantBits(0x3f3504f3)) & uint64_t(0xff800000);
  Lanes k = mulAdd(toFloat(exponent), 0x1p-23, select(isSubnormal, -25.0, x.constant(0.0)));
  return {k, floatOf(bits - exponent) - 1.0};
}

Split64 splitExponent64(Lanes x) {
  constexpr uint64_t sqrtHalf = 0x3fe6a09e667f3bcd, mask = (uint64_t(1) << 52) - 1;
  constexpr double roundingMagic = 6755399441055744.0; // 1.5 * 2^52
  Lanes isSubnormal = x < 0x1p-1022;
  Lanes normal = select(isSubnormal, x * 0x1p54, x);
  Lanes shifted = bitsOf(normal) - bitsOf(x).constantBits(sqrtHalf);
  Lanes exponent = shiftRightSigned(shifted, 52);
  exponent = exponent - select(isSubnormal, exponent.constantBits(54), exponent.constantBits(0));
  Lanes m = floatOf((shifted & mask) + shifted.constantBits(sqrtHalf));
  // Small integers of 64 bits become floats by their position in the mantissa: most machines have
  // no instruction for the conversion.
  Lanes k = floatOf(exponent + bitsOf(x.constant(roundingMagic))) - roundingMagic;
  return {exponent, {k, m - 1.0}};
}

/// Puts in what the formulas do not give: 0, negative numbers, infinity and NaN.
Lanes withSpecialCases(Lanes x, Lanes result) {
  if (const ApproximateUnit *unit = approximateUnitFor(x)) {
    // Positive and finite, by one comparison: all others' bits are larger, and those of 0 less 1.
    Lanes isOrdinary = isBelow(bitsOf(x) - 1, 0x7f7fffff);
    return select(isOrdinary, result, unit->logarithmOfNormal(x * subnormalScale));
  }
  result = select(x < infinity, result, x);
  result = select(x == 0.0, -infinity, result);
  return select(x < 0.0, notANumber, result);
}

/// f^3 q(f) - f^2/2 + `extra` for f32.
Lanes tail32(Lanes f, Lanes square) {
  return f * square * polynomial(f, std::span<const float>(coefficients::log32));
}

Lanes log32OfMantissa(Lanes f) {
  Lanes square = f * f;
  return f + mulAdd(square, -0.5, tail32(f, square));
}

/// Likewise, of 1 + x.
Lanes withSpecialCasesBeside(Lanes x, Lanes result) {
  if (approximateUnitFor(x)) {
    return withSpecialCases(x + 1.0, result);
  }
  result = select(x < infinity, result, x);
  result = select(x == -1.0, -infinity, result);
  return select(x < -1.0, notANumber, result);
}

/// log(2^k (1+f)) of f64.
Lanes log64(Lanes k, Lanes f) {
  Lanes s = f / (f + 2.0);
  Lanes z = s * s;
  Lanes r = z * polynomial(z, std::span<const double>(coefficients::log64));
  Lanes halfSquare = f * f * 0.5;
  Lanes small = mulAdd(s, halfSquare + r, k * ln2Low64);
  return mulAdd(k, ln2High64, f - (halfSquare - small));
}

/// (high + low) * constant, the constant given as two numbers.
Lanes timesConstant(Pair x, double high, double low) {
  Pair product = twoProduct(x.high, x.high.constant(high));
  return product.high + mulAdd(x.high, low, mulAdd(x.low, high, product.low));
}

} // namespace

Lanes emitLog(Lanes x) {
  if (x.width() == 64) {
    Split split = splitExponent64(x).split;
    return withSpecialCases(x, log64(split.k, split.f));
  }
  Split split = splitExponent32(x);
  Lanes square = split.f * split.f;
  Lanes tail = mulAdd(split.k, ln2Low32, tail32(split.f, square));
  Lanes result = split.f + mulAdd(square, -0.5, tail);
  return withSpecialCases(x, mulAdd(split.k, ln2High32, result));
}

Lanes emitLog2(Lanes x) {
  if (x.width() == 64) {
    return withSpecialCases(x,
                            timesConstant(logPair(x), 0x1.71547652b82fep+0, 0x1.777d0ffda0d24p-56));
  }
  Split split = splitExponent32(x);
  return withSpecialCases(x, mulAdd(log32OfMantissa(split.f), 0x1.71547652b82fep+0, split.k));
}

Lanes emitLog10(Lanes x) {
  if (hasSinglePairs(x)) {
    return withSpecialCases(x, timesConstant(logPair32(x), 0x1.bcb7b2p-2, -0x1.5b235ep-27));
  }
  if (x.width() == 32) {
    return toSingle(emitLog10(toDouble(x)));
  }
  return withSpecialCases(x,
                          timesConstant(logPair(x), 0x1.bcb7b1526e50ep-2, 0x1.95355baaafad3p-57));
}

Lanes emitLog1p(Lanes x) {
  if (hasSinglePairs(x)) {
    Pair logarithm = log1pPair32(x);
    // Of its argument's sign, which -0 keeps.
    Lanes result = copySign(logarithm.high + logarithm.low, x);
    return withSpecialCasesBeside(x, result);
  }
  if (x.width() == 32) {
    return toSingle(emitLog1p(toDouble(x)));
  }
  Pair sum = twoSum(x.constant(1.0), x);
  auto [exponent, split] = splitExponent64(sum.high);
  // What 1 + x lost, at the scale of m; nothing is lost where 2^-k would leave the normal numbers.
  Lanes scale = floatOf((exponent.constantBits(1023) - exponent) << 52);
  Lanes lost = select(x < 0x1p60, sum.low * scale, 0.0);
  Lanes result = withSpecialCasesBeside(x, log64(split.k, split.f + lost));
  return select(absolute(x) < 0x1p-54, x, result);
}

Lanes log1pOfApproximated(Lanes x) {
  Lanes sum = x + 1.0;
  Lanes exponent = (bitsOf(sum) - bitsOf(sum).constantBits(0x3f3504f3)) & uint64_t(0xff800000);
  // With 2^k from its bits: m - 1 = 2^-k x + (2^-k - 1), where only the sum rounds up to k = 24.
  Lanes scaled = floatOf(bitsOf(x) - exponent);
  Lanes scale = floatOf(exponent.constantBits(0x40800000) - exponent); // 2^(2 - k)
  Lanes f = scaled + mulAdd(scale, 0.25, x.constant(-1.0));
  Lanes result = mulAdd(toFloat(exponent), 0x1.62e43p-24, log32OfMantissa(f));
  return copySign(withSpecialCasesBeside(x, result), x);
}

/// (a + b) (c + d) without the product of the low parts.
static Pair product(Pair a, Pair c) {
  Pair exact = twoProduct(a.high, c.high);
  return {exact.high, mulAdd(a.high, c.low, mulAdd(a.low, c.high, exact.low))};
}

/// a + (b + c) for |a| >= |b|.
static Pair sum(Lanes a, Pair b) {
  Pair exact = quickTwoSum(a, b.high);
  return {exact.high, exact.low + b.low};
}

Pair log2Pair32(Lanes x) {
  const ApproximateUnit *unit = approximateUnitFor(x);
  Split split = splitExponent32(x);
  // s = f / (2 + f) as a pair.
  Pair divisor = quickTwoSum(x.constant(2.0), split.f);
  Lanes inverse = unit->reciprocalOfNormal(divisor.high);
  Lanes s = roundedProduct(split.f, inverse);
  Lanes rest = mulAdd(-s, divisor.low, mulAdd(-s, divisor.high, split.f));
  Pair pair{s, rest * inverse};
  // log2(1+f) = s (2 / ln(2) + z q(z)), where what is added is a hundredth.
  constexpr double factor = 0x1.715476p+1, factorLow = 0x1.4ae0cp-25; // their sum is 2 / ln(2)
  Lanes z = s * mulAdd(pair.low, 2.0, s);
  Lanes q = polynomial(z, std::span<const float>(coefficients::log2Tail32));
  Lanes whole = mulAdd(z, q, factor);
  Lanes lost = mulAdd(z, q, factor - whole) + factorLow;
  Pair result = sum(split.k, product(pair, {whole, lost}));
  return quickTwoSum(result.high, result.low);
}

Pair logPair(Lanes x) {
  Split split = splitExponent64(x).split;
  // s = f / (2 + f) as a pair.
  Pair divisor = quickTwoSum(x.constant(2.0), split.f);
  Lanes s = split.f / divisor.high;
  Pair back = twoProduct(s, divisor.high);
  Lanes rest = (split.f - back.high) - back.low - s * divisor.low;
  Lanes sLow = rest / divisor.high;
  // 2/3 s^3 as a pair, since the terms after it are below 2^-12 of the first.
  Pair z = twoProduct(s, s);
  Lanes zLow = mulAdd(s + s, sLow, z.low);
  Pair cube = twoProduct(s, z.high);
  Lanes cubeLow = mulAdd(s, zLow, mulAdd(sLow, z.high, cube.low));
  Pair third = twoProduct(cube.high, x.constant(0x1.5555555555555p-1));
  Lanes thirdLow =
      mulAdd(cube.high, 0x1.5555555555555p-55, mulAdd(cubeLow, 0x1.5555555555555p-1, third.low));
  Lanes tail =
      cube.high * z.high * polynomial(z.high, std::span<const double>(coefficients::log64Tail));
  Pair first = twoSum(split.k * ln2High64, s + s);
  Pair second = twoSum(first.high, third.high);
  Lanes low = first.low + (second.low + mulAdd(split.k, ln2Low64, sLow + sLow + thirdLow + tail));
  return quickTwoSum(second.high, low);
}

} // namespace nereid::lowering
