// SPDX-License-Identifier: Apache-2.0
// Products, quotients and roots follow Muller et al., Handbook of Floating-Point Arithmetic,
// chapter 14: an approximation of f32, and what the fused multiplication tells of its error.
#include "lib/lowering/math/SinglePairs.h"

#include "lib/lowering/math/ApproximateUnit.h"
#include "lib/lowering/math/Coefficients.h"

namespace nereid::lowering {
namespace {

// ln(2) in two parts: multiples of the first one up to 2^9 are exact.
constexpr double ln2High = 0x1.62e4p-1, ln2Low = 0x1.7f7d1cp-20;
constexpr double roundingMagic = 12582912.0; // 1.5 * 2^23
constexpr uint64_t rootOfHalf = 0x3f3504f3, quarterBits = 0x3e800000;
constexpr uint64_t leastFraction = 0x3f30a3d7; // 0.69: small errors beside its logarithm + ln(2)

struct Split {
  Lanes k; // as a float
  Lanes f; // m - 1
};

/// x = 2^k m with m between 0.69 and 1.38; x positive, finite and normal.
Split splitNearOne(Lanes x) {
  Lanes shifted = bitsOf(x) - bitsOf(x).constantBits(leastFraction);
  Lanes exponent = shiftRightSigned(shifted, 23);
  Lanes m = floatOf((shifted & uint64_t(0x7fffff)) + shifted.constantBits(leastFraction));
  return {toFloat(exponent), m - 1.0};
}

/// log(2^k (1 + f)) + correction.
Pair logOfSplit(Lanes k, Lanes f, Lanes correction) {
  Lanes square = roundedProduct(f, f);
  Lanes lost = mulAdd(f, f, -square);
  Pair first = quickTwoSum(f, square * -0.5);
  Lanes q = polynomial(f, std::span<const float>(coefficients::log32Pair));
  // Where k = 0 and f is large, f^3 q is a tenth of the logarithm: what its cube lost shows.
  Lanes cube = roundedProduct(f, square);
  Lanes lostOfCube = mulAdd(f, square, -cube);
  Lanes low = mulAdd(cube, q, mulAdd(lostOfCube, q, mulAdd(lost, -0.5, first.low + correction)));
  Pair whole = quickTwoSum(k * ln2High, first.high); // the multiple is exact, 0 or the larger one
  return {whole.high, whole.low + mulAdd(k, ln2Low, low)};
}

/// sqrt(x); what is divided by is kept away from 0 where x may be that.
Pair rootOf(Pair x, bool mayBeZero) {
  auto divisor = [&](Lanes value, double least) {
    return mayBeZero ? atLeast(value, least) : value;
  };
  if (const ApproximateUnit *unit = approximateUnitFor(x.high)) {
    Lanes inverse = unit->reciprocalSquareRootOfNormal(divisor(x.high, 0x1p-100));
    Lanes root = roundedProduct(x.high, inverse); // the inverse of 0 is only multiplied with 0
    return {root, (mulAdd(-root, root, x.high) + x.low) * inverse * 0.5};
  }
  Lanes root = squareRoot(x.high);
  return {root, (mulAdd(-root, root, x.high) + x.low) * (0.5 / divisor(root, 0x1p-50))};
}

} // namespace

bool hasSinglePairs(Lanes x) { return x.width() == 32 && x.where().machine.hasFma; }

Lanes reciprocalNear(Lanes x) {
  const ApproximateUnit *unit = approximateUnitFor(x);
  return unit ? unit->reciprocalOfNormal(x) : 1.0 / x;
}

Pair reciprocalOfPair(Pair x) {
  Lanes inverse = reciprocalNear(x.high);
  Lanes rest = mulAdd(-x.low, inverse, mulAdd(-x.high, inverse, 1.0));
  return {inverse, inverse * rest};
}

Pair quotientOfPairs(Pair a, Pair b) {
  Lanes inverse = reciprocalNear(b.high);
  Lanes quotient = roundedProduct(a.high, inverse);
  Lanes rest = mulAdd(-quotient, b.low, mulAdd(-quotient, b.high, a.high) + a.low);
  return {quotient, rest * inverse};
}

Pair rootOfPair(Pair x) { return rootOf(x, /*mayBeZero=*/true); }

Pair rootOfPositivePair(Pair x) { return rootOf(x, /*mayBeZero=*/false); }

Pair productOfPairs(Pair x, Pair y) {
  Pair product = twoProduct(x.high, y.high);
  return {product.high, mulAdd(x.high, y.low, mulAdd(x.low, y.high, product.low))};
}

Pair logPair32(Lanes x) {
  Lanes isSubnormal = x < 0x1p-126;
  Split split = splitNearOne(select(isSubnormal, x * 0x1p25, x));
  Lanes k = select(isSubnormal, split.k - 25.0, split.k);
  return logOfSplit(k, split.f, x.constant(0));
}

Pair logOfPair32(Pair x, Lanes exponent) {
  Split split = splitNearOne(x.high);
  return logOfSplit(split.k + exponent, split.f, x.low * reciprocalNear(x.high));
}

// 1 + x = 2^k m with m between 3/4 and 3/2, and m - 1 = 2^-k x + (2^-k - 1): where k is not 0, the
// terms differ by at most a factor of two, and have different signs, so that the sum is exact.
Pair log1pPair32(Lanes x) {
  Lanes sum = x + 1.0;
  Lanes exponent = (bitsOf(sum) - bitsOf(sum).constantBits(0x3f400000)) & uint64_t(0xff800000);
  Lanes scaled = floatOf(bitsOf(x) - exponent);
  Lanes scale = floatOf(exponent.constantBits(0x40800000) - exponent); // 2^(2 - k)
  Lanes f = scaled + mulAdd(scale, 0.25, x.constant(-1.0));
  Lanes k = toFloat(exponent); // times 2^23

  Lanes square = roundedProduct(f, f);
  Lanes lost = mulAdd(f, f, -square);
  Pair first = quickTwoSum(f, square * -0.5);
  // f^3 q up to a tenth of the logarithm: 1/3, and the rest of q, which may be off by more.
  Lanes cube = roundedProduct(f, square);
  Lanes lostOfCube = mulAdd(f, square, -cube);
  constexpr double third = 0x1.555556p-2;
  Lanes q = polynomial(f, std::span<const float>(coefficients::log1p32Tail));
  Lanes low = mulAdd(lostOfCube, third, mulAdd(lost, -0.5, first.low));
  low = mulAdd(cube, third, mulAdd(roundedProduct(cube, f), q, low));
  Pair whole = quickTwoSum(k * (ln2High * 0x1p-23), first.high);
  return {whole.high, whole.low + mulAdd(k, ln2Low * 0x1p-23, low)};
}

PowerOfTwo32 powerOfTwoNear32(Lanes x) {
  Lanes exponent =
      (bitsOf(x) - bitsOf(x).constantBits(rootOfHalf)) & uint64_t(0xff800000); // of k, in its place
  Lanes quarter = exponent.constantBits(quarterBits);
  return {exponent, floatOf(quarter + exponent), floatOf(quarter - exponent)};
}

Lanes logBesidePower32(PowerOfTwo32 power, Lanes n, Pair d) {
  Lanes inverse = reciprocalNear(d.high);
  Lanes quotient = roundedProduct(n, inverse);
  Lanes quotientLow = mulAdd(-quotient, d.low, mulAdd(-quotient, d.high, n)) * inverse;
  // 2 atanh(y / 2) = y + y^3 q(y^2), where what is added is less than a hundredth of y.
  Lanes y = quotient + quotientLow;
  Lanes square = y * y;
  Lanes q = polynomial(square, std::span<const float>(coefficients::atanhHalf32));
  Lanes k = toFloat(power.exponent);
  Lanes high = mulAdd(k, ln2High * 0x1p-23, quotient); // the multiple is exact, 0 or the larger one
  Lanes lost = mulAdd(k, ln2High * 0x1p-23, -high) + quotient;
  Lanes low = mulAdd(y * square, q, mulAdd(k, ln2Low * 0x1p-23, quotientLow));
  return high + (low + lost);
}

ScaledPower expOfPair32(Pair x) {
  Lanes magic = mulAdd(x.high, 1.4426950408889634, x.high.constant(roundingMagic));
  Lanes n = magic - roundingMagic;
  // The first difference is exact.
  Pair r = quickTwoSum(mulAdd(n, -ln2High, x.high), mulAdd(n, -ln2Low, x.low));
  Lanes square = roundedProduct(r.high, r.high);
  Lanes lost = mulAdd(r.high, r.high, -square);
  Pair first = quickTwoSum(x.high.constant(1.0), r.high);
  Pair second = quickTwoSum(first.high, square * 0.5);
  Lanes q = polynomial(r.high, std::span<const float>(coefficients::exp32Pair));
  // The derivative of the low part is about 1 + r.
  Lanes low = mulAdd(lost, 0.5, mulAdd(r.low, r.high, r.low) + (first.low + second.low));
  return {quickTwoSum(second.high, mulAdd(r.high * square, q, low)), n, bitsOf(magic)};
}

Lanes powerOfTwo32(Lanes bits, int more) {
  Lanes shifted = bits << 23;
  return floatOf(shifted + shifted.constantBits(static_cast<uint64_t>(127 + more) << 23));
}

} // namespace nereid::lowering
