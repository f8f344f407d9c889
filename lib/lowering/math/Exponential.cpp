// SPDX-License-Identifier: Apache-2.0
// exp, exp2, expm1: x = n ln(2) + r with |r| <= ln(2)/2, a polynomial for r, then scaling by 2^n.
// n comes from adding 1.5 * 2^23 (2^52 in f64), which leaves the rounded number in the low bits.
#include "lib/lowering/math/ApproximateUnit.h"
#include "lib/lowering/math/Coefficients.h"
#include "lib/lowering/math/Functions.h"
#include "lib/lowering/math/LaneInstructions.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/IR/BuiltinTypes.h"
#include "mlir/IR/Matchers.h"

#include <cmath>
#include <optional>
#include <utility>

namespace nereid::lowering {
namespace {

constexpr double log2OfE = 1.4426950408889634, ln2 = 0.6931471805599453;

/// What differs between the two float formats.
struct Format {
  double roundingMagic; // 1.5 * 2^(mantissa bits)
  unsigned mantissaBits;
  uint64_t exponentBias;
  double ln2High, ln2Low; // their sum is ln(2); n * ln2High is exact or fused
};

Format formatOf(Lanes x) {
  if (x.width() == 32) {
    return x.where().machine.hasFma ? Format{12582912.0, 23, 127, 0x1.62e43p-1, -0x1.05c61p-29}
                                    : Format{12582912.0, 23, 127, 0x1.62e4p-1, 0x1.7f7d1cp-20};
  }
  return {6755399441055744.0, 52, 1023, 0x1.62e42fefap-1, 0x1.cf79abc9e3b39p-40};
}

/// x rounded to an integer, as a number and as bits whose low part holds it.
struct Rounded {
  Lanes number, bits;
};

Rounded roundByMagic(Lanes scaledPlusMagic, const Format &format) {
  return {scaledPlusMagic - format.roundingMagic, bitsOf(scaledPlusMagic)};
}

/// 2^n for n in the range of normal numbers, from bits whose low part is n.
Lanes powerOfTwo(Lanes bits, const Format &format) {
  Lanes shifted = bits << format.mantissaBits;
  return floatOf(shifted + shifted.constantBits(format.exponentBias << format.mantissaBits));
}

/// x * 2^n with one rounding also when the result is subnormal; |n| below twice the exponent range.
Lanes scaleByPowerOfTwo(Lanes x, Rounded n, const Format &format) {
  if (const LaneInstructions *instructions = instructionsFor(x)) {
    return instructions->scaleByFloor(x, n.number);
  }
  // Two factors, each a normal number; only the last product rounds.
  Lanes whole = n.bits - bitsOf(x.constant(format.roundingMagic));
  Lanes half = shiftRightSigned(whole, 1);
  return x * powerOfTwo(half, format) * powerOfTwo(whole - half, format);
}

/// Adding it leaves a number rounded to sixteenths, and their count in the low four bits.
constexpr double sixteenthsMagic = 786432.0; // 1.5 * 2^(23 - 4)

/// 2^n * (1 + tail) for float32 and n = number, a multiple of 1/16: a table of the sixteen
/// fractions takes the place of three terms of the polynomial.
Lanes scaleBySixteenths(const LaneInstructions &instructions, Lanes tail, Lanes withMagic,
                        Lanes number) {
  float fractions[16];
  for (int i = 0; i < 16; ++i) {
    fractions[i] = static_cast<float>(std::exp2(i / 16.0));
  }
  Lanes fraction = instructions.lookUp(fractions, bitsOf(withMagic), tail);
  return instructions.scaleByFloor(mulAdd(fraction, tail, fraction), number);
}

/// exp(r) - 1 for |r| <= ln(2)/32 and float32.
Lanes shortExpm1(Lanes r) { return mulAdd(mulAdd(r, 0x1.5555ap-3, r.constant(0.5)), r * r, r); }

Lanes tailOfExp(Lanes r) {
  return r.width() == 32 ? polynomial(r, std::span<const float>(coefficients::exp32))
                         : polynomial(r, std::span<const double>(coefficients::expm1_64));
}

/// exp(r) for |r| <= ln(2)/2.
Lanes expOfReduced(Lanes r) { return mulAdd(mulAdd(tailOfExp(r), r, 1.0), r, 1.0); }

/// exp(r) - 1 for |r| <= ln(2)/2, small relative to itself.
Lanes expm1OfReduced(Lanes r) {
  Lanes tail = r.width() == 32 ? polynomial(r, std::span<const float>(coefficients::expm1_32))
                               : polynomial(r, std::span<const double>(coefficients::expm1_64));
  return mulAdd(r * r, tail, r);
}

struct Reduction {
  Rounded n;
  Lanes r;
};

Reduction reduceByLn2(Lanes x, const Format &format) {
  Lanes magic = mulAdd(x, log2OfE, x.constant(format.roundingMagic));
  Rounded n = roundByMagic(magic, format);
  Lanes r = mulAdd(n.number, -format.ln2High, x);
  return {n, mulAdd(n.number, -format.ln2Low, r)};
}

/// exp(x) of f32. n = floor(x log2(e)) is held within -126 and 126: what is beyond goes into the
/// power that is approximated, so that only the last product rounds a subnormal result, and
/// overflows.
Lanes expByUnit(const ApproximateUnit &unit, Lanes x) {
  constexpr double high = 0x1.715476p+0, low = 0x1.4ae0cp-26; // their sum is log2(e)
  constexpr float steps = 252, half = 0.5;                    // from -126 on
  // 1.5 * 2^23 and one more, so that the low bits are the exponent field of 2^n.
  constexpr float magic = 12582913;
  Lanes place = unit.mulAddInUnitInterval(x, static_cast<float>(log2OfE / steps), half);
  Lanes withMagic = unit.mulAddDownwards(place, steps, magic);
  Lanes n = withMagic - (magic + steps * half);
  Lanes rest = mulAdd(x, low, mulAdd(x, high, -n));
  return unit.powerOfTwoOfNormal(rest) * floatOf(bitsOf(withMagic) << 23);
}

/// 2^rest for f32 below 2^-16 in magnitude; of any other number, infinity or NaN some number close
/// to 1.
Lanes powerOfRest(Lanes rest) {
  // Without these two bits of the exponent every number is below 2^-16, also infinities and NaN,
  // and those that change are below 2^-31 before and after.
  constexpr uint64_t twoExponentBits = 0x48000000;
  Lanes bounded = floatOf(bitsOf(rest) & (0xffffffff ^ twoExponentBits));
  return mulAdd(bounded, bounded.constant(ln2), bounded.constant(1.0));
}

/// x log2(e) as a number and 1 + ln(2) times what the number is off by: 2^number times it is
/// exp(x).
struct Scaled {
  Lanes number, correction;
};

/// Of f32. Where exp(x) is 0 or infinite, the correction is any positive number.
Scaled scaledByLog2OfE(Lanes x) {
  constexpr double high = 0x1.715476p+0, low = 0x1.4ae0cp-26; // their sum is log2(e)
  Lanes number = x * high;
  Lanes rest = mulAdd(x, low, mulAdd(x, high, -number));
  return {number, powerOfRest(rest)}; // below 2^-16 where it counts
}

} // namespace

Lanes emitExp(Lanes x) {
  if (const ApproximateUnit *unit = approximateUnitFor(x)) {
    return expByUnit(*unit, x);
  }
  Format format = formatOf(x);
  bool isSingle = x.width() == 32;
  if (const LaneInstructions *instructions = isSingle ? instructionsFor(x) : nullptr) {
    // Far outside, and for infinities, the scale alone decides: what is left may be any number.
    Lanes withMagic = mulAdd(x, log2OfE, x.constant(sixteenthsMagic));
    Lanes n = withMagic - sixteenthsMagic;
    Lanes r = mulAdd(n, -format.ln2Low, mulAdd(n, -format.ln2High, x));
    return scaleBySixteenths(*instructions, shortExpm1(instructions->boundMagnitude(r, 0x1.63p-6)),
                             withMagic, n);
  }
  // Beyond these each of two factors is certainly infinite, or the result 0: one that is finite
  // would become part of a fused multiplication and addition that never sees the infinity.
  Lanes clamped = atLeast(atMost(x, isSingle ? 177.5 : 1419.6), isSingle ? -104.0 : -746.0);
  Reduction reduced = reduceByLn2(clamped, format);
  return scaleByPowerOfTwo(expOfReduced(reduced.r), reduced.n, format);
}

Lanes expOfDifference(Lanes x) {
  const ApproximateUnit *unit = approximateUnitFor(x);
  return unit ? unit->powerOfTwo(x * log2OfE) : emitExp(x);
}

/// A number as one that is known times another one: of a product or a negation.
static std::optional<std::pair<double, mlir::Value>> knownFactorOf(mlir::Value number) {
  if (auto negation = number.getDefiningOp<mlir::arith::NegFOp>()) {
    return std::pair(-1.0, negation.getOperand());
  }
  auto product = number.getDefiningOp<mlir::arith::MulFOp>();
  if (!product) {
    return std::nullopt;
  }
  for (auto [one, other] : {std::pair(product.getLhs(), product.getRhs()),
                            std::pair(product.getRhs(), product.getLhs())}) {
    llvm::APFloat own(0.0F);
    if (!matchPattern(one, mlir::m_ConstantFloat(&own))) {
      continue;
    }
    const double known = own.convertToFloat();
    if (std::abs(known) >= 0x1p-20 && std::abs(known) <= 0x1p20) {
      return std::pair(known, other);
    }
  }
  return std::nullopt;
}

/// The exponent of two.
static Lanes exponentToHalf(Lanes x) {
  // Factors that are known become one; they are rounded once less, too.
  double factor = log2OfE;
  mlir::Value number = x.get();
  while (const auto known = knownFactorOf(number)) {
    factor *= known->first;
    number = known->second;
  }
  return Lanes(x.where(), number) * factor;
}

Lanes expToHalf(Lanes x) { return approximateUnitFor(x)->powerOfTwo(exponentToHalf(x)); }

Lanes expToHalfBesideOne(Lanes x) {
  return approximateUnitFor(x)->powerOfTwoOfNormal(exponentToHalf(x));
}

Lanes emitExp2(Lanes x) {
  if (const ApproximateUnit *unit = approximateUnitFor(x)) {
    return unit->powerOfTwo(x);
  }
  Format format = formatOf(x);
  bool isSingle = x.width() == 32;
  if (const LaneInstructions *instructions = isSingle ? instructionsFor(x) : nullptr) {
    Lanes withMagic = x + sixteenthsMagic;
    Lanes n = withMagic - sixteenthsMagic;
    Lanes r = instructions->boundMagnitude(x - n, 0x1p-5) * 0x1.62e43p-1;
    return scaleBySixteenths(*instructions, shortExpm1(r), withMagic, n);
  }
  // As of exp.
  Lanes clamped = atLeast(atMost(x, isSingle ? 256.0 : 2048.0), isSingle ? -151.0 : -1076.0);
  Rounded n = roundByMagic(clamped + format.roundingMagic, format);
  Lanes r = clamped - n.number;
  Lanes power = isSingle
                    ? mulAdd(polynomial(r, std::span<const float>(coefficients::exp2_32)), r, 1.0)
                    : expOfReduced(mulAdd(r, 0x1.abc9e3b39803fp-56, r * 0x1.62e42fefa39efp-1));
  return scaleByPowerOfTwo(power, n, format);
}

Lanes emitExpm1(Lanes x) {
  Format format = formatOf(x);
  bool isSingle = x.width() == 32;
  double tiny = isSingle ? 0x1p-25 : 0x1p-54;
  Lanes clamped = atLeast(atMost(x, isSingle ? 89.0 : 710.0), isSingle ? -18.0 : -40.0);
  Reduction reduced = reduceByLn2(clamped, format);
  // Half the scale, so that 2^(n-1) is finite wherever the result is.
  Lanes half = powerOfTwo(reduced.n.bits - 1, format);
  Lanes value = mulAdd(half, expm1OfReduced(reduced.r), half - 0.5) * 2.0;
  return select(absolute(x) < tiny, x, value);
}

Lanes expm1InRange(Lanes x) {
  Format format = formatOf(x);
  Reduction reduced = reduceByLn2(x, format);
  Lanes scale = powerOfTwo(reduced.n.bits, format);
  return mulAdd(scale, expm1OfReduced(reduced.r), scale - 1.0);
}

Lanes expInRange32(Lanes x) {
  if (const ApproximateUnit *unit = approximateUnitFor(x)) {
    Scaled scaled = scaledByLog2OfE(x);
    return unit->powerOfTwoOfNormal(scaled.number) * scaled.correction;
  }
  Format format = formatOf(x);
  Reduction reduced = reduceByLn2(x, format);
  return expOfReduced(reduced.r) * powerOfTwo(reduced.n.bits, format);
}

Lanes exp2OfPair32(Pair x) {
  // The power of the high part alone may be infinite where that of both is not.
  Lanes isLarge = x.high > 127.0;
  Lanes power = approximateUnitFor(x.high)->powerOfTwo(select(isLarge, x.high - 1.0, x.high));
  return power * powerOfRest(x.low) * select(isLarge, x.high.constant(2.0), 1.0);
}

Lanes expOfPair(Pair x) {
  Format format = formatOf(x.high);
  Lanes clamped = atLeast(atMost(x.high, 710.0), -746.0);
  Reduction reduced = reduceByLn2(clamped, format);
  // Beside a high part beyond the limits the low part means nothing.
  Lanes low = select(clamped == x.high, x.low, 0.0);
  return scaleByPowerOfTwo(expOfReduced(reduced.r + low), reduced.n, format);
}

} // namespace nereid::lowering
