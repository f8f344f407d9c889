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
constexpr uint64_t rootOfHalf = 0x3f3504f3, quarterBits = 0x3e800000;
constexpr uint64_t leastFraction = 0x3f30a3d7; // 0.69: small errors beside its logarithm + ln(2)

struct Split {
  Lanes k; // as a float, and the exponent given beside
  Lanes f; // m - 1
};

/// x = 2^k m with m between 0.69 and 1.38; x positive, finite and normal.
Split splitNearOne(Lanes x, Lanes besides) {
  Lanes exponent = (bitsOf(x) - bitsOf(x).constantBits(leastFraction)) & uint64_t(0xff800000);
  return {mulAdd(toFloat(exponent), 0x1p-23, besides), floatOf(bitsOf(x) - exponent) - 1.0};
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

Pair rootOfPair(Pair x) { return rootOf(x, /*mayBeZero=*/true); }

Pair rootOfPositivePair(Pair x) { return rootOf(x, /*mayBeZero=*/false); }

Pair productOfPairs(Pair x, Pair y) {
  Pair product = twoProduct(x.high, y.high);
  return {product.high, mulAdd(x.high, y.low, mulAdd(x.low, y.high, product.low))};
}

Pair logPair32(Lanes x) {
  Lanes isSubnormal = x < 0x1p-126;
  Split split =
      splitNearOne(select(isSubnormal, x * 0x1p25, x), select(isSubnormal, -25.0, x.constant(0)));
  return logOfSplit(split.k, split.f, x.constant(0));
}

Pair logOfPair32(Pair x, Lanes exponent) {
  Split split = splitNearOne(x.high, exponent);
  return logOfSplit(split.k, split.f, x.low * reciprocalNear(x.high));
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

/// n / d and what the quotient lacks.
static Pair quotientByPair(Lanes n, Pair d) {
  Lanes inverse = reciprocalNear(d.high);
  Lanes quotient = roundedProduct(n, inverse);
  return {quotient, mulAdd(-quotient, d.low, mulAdd(-quotient, d.high, n)) * inverse};
}

/// share * log(2^k) + y + y^3 q(y^2), where what is added to y is a small part of it; the exponent
/// is k 2^23.
static Lanes besideLogarithm(Lanes exponent, double share, Pair y, std::span<const float> series) {
  Lanes sum = y.high + y.low;
  Lanes square = sum * sum;
  Lanes q = polynomial(square, series);
  Lanes k = toFloat(exponent);
  const double high2 = share * ln2High * 0x1p-23, low2 = share * ln2Low * 0x1p-23;
  Lanes high = mulAdd(k, high2, y.high); // the multiple is exact, 0 or the larger one
  Lanes lost = mulAdd(k, high2, -high) + y.high;
  Lanes low = mulAdd(sum * square, q, mulAdd(k, low2, y.low));
  return high + (low + lost);
}

Lanes logBesidePower32(PowerOfTwo32 power, Lanes n, Pair d) {
  return besideLogarithm(power.exponent, 1, quotientByPair(n, d), coefficients::atanhHalf32);
}

// With a power of two near c = (1 + a) / (1 - a), atanh(a) is half of its logarithm and atanh(n /
// d) for n = (1 + a) - c (1 - a) and d = (1 + a) + c (1 - a). The limits of k make n exact: it is a
// multiple of the last place of a, below 1, and below 1/4 where a is.
Lanes atanhOfSize32(Lanes a) {
  constexpr uint64_t leastFraction = 0x3f555555; // 5/6: a is 1/4 at 5/3
  Lanes ratio = (a + 1.0) * reciprocalNear(1.0 - a);
  Lanes exponent =
      (bitsOf(ratio) - bitsOf(ratio).constantBits(leastFraction)) & uint64_t(0xff800000);
  Lanes above = floatOf(exponent + exponent.constantBits(0x3f800000)) + 1.0;
  Lanes below = 2.0 - above; // beside what 1 + c may have lost
  Lanes n = mulAdd(a, above, below), d = mulAdd(a, below, above);
  // Beyond powers of 4 the difference is not exact, and the logarithm large beside what d lost.
  Lanes lost = select(above < 6.0, mulAdd(a, below, above - d), 0.0);
  return besideLogarithm(exponent, 0.5, quotientByPair(n, {d, lost}), coefficients::atanh32);
}

} // namespace nereid::lowering
