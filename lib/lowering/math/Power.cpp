// SPDX-License-Identifier: Apache-2.0
// pow as exp(y log(x)), the logarithm as a pair of numbers for f64 since y multiplies its error by
// up to 2^10, and of f32 where the processor has an approximate unit; cbrt by the same way and one
// Newton step; fused multiply-add in software.
#include "lib/lowering/math/ApproximateUnit.h"
#include "lib/lowering/math/Functions.h"

#include "mlir/IR/Matchers.h"

#include <limits>
#include <optional>

namespace nereid::lowering {
namespace {

constexpr double infinity = std::numeric_limits<double>::infinity();
constexpr double notANumber = std::numeric_limits<double>::quiet_NaN();

/// The special values of C's pow around `magnitude` = |x|^y for ordinary arguments.
Lanes withPowCases(Lanes x, Lanes y, Lanes magnitude) {
  Lanes a = absolute(x);
  Lanes isInteger = roundEven(y) == y;
  Lanes half = y * 0.5;
  Lanes isOdd = isInteger & !(roundEven(half) == half);
  Lanes isRising = y > 0.0;
  Lanes atZero = select(isRising, y.constant(0.0), infinity);
  Lanes atInfinity = select(isRising, y.constant(infinity), 0.0);
  Lanes result = select(a == 0.0, atZero, magnitude);
  result = select(a == infinity, atInfinity, result);
  result = select(a == 1.0, 1.0, result);
  result = select((x < 0.0) & !isInteger & (a < infinity), notANumber, result);
  result = select(isOdd, copySign(result, x), result);
  result = select(isNan(x) | isNan(y), notANumber, result);
  return select((y == 0.0) | (x == 1.0), 1.0, result);
}

} // namespace

/// x^2, x^3 or x^4 by products, each of them rounded; null for other powers.
static std::optional<Lanes> smallPower(Lanes x, Lanes y) {
  llvm::APFloat power(0.0);
  if (!mlir::matchPattern(y.get(), mlir::m_ConstantFloat(&power))) {
    return std::nullopt;
  }
  const bool isSquare = power.isExactlyValue(2.0), isCube = power.isExactlyValue(3.0);
  if (!isSquare && !isCube && !power.isExactlyValue(4.0)) {
    return std::nullopt;
  }
  Lanes square = x * x;
  return isSquare ? square : square * (isCube ? x : square);
}

/// Of a positive number, subnormal ones too, within 0.75 ulp; NaN for 0 and infinity. The error is
/// that of the product with the inverse root: the residual of the number itself may be subnormal.
static Lanes rootNear(Lanes x) {
  Lanes inverse = approximateUnitFor(x)->reciprocalSquareRoot(x);
  Lanes root = roundedProduct(x, inverse);
  return mulAdd(mulAdd(-root, inverse, 1.0), root * 0.5, root);
}

/// x to a multiple of a quarter between 0 and 2 that is none of a whole, by roots of f32; null for
/// other powers.
static std::optional<Lanes> quarterPower(Lanes x, Lanes y) {
  llvm::APFloat power(0.0);
  if (!mlir::matchPattern(y.get(), mlir::m_ConstantFloat(&power))) {
    return std::nullopt;
  }
  const double quarters = power.convertToDouble() * 4;
  const int count = quarters > 0 && quarters < 8 ? static_cast<int>(quarters) : 0;
  if (count != quarters || count % 4 == 0) {
    return std::nullopt;
  }
  Lanes root = rootNear(x); // NaN for negative numbers
  Lanes fraction = root;
  if (count % 2 == 1) {
    Lanes quarter = rootNear(root);
    fraction = count % 4 == 1 ? quarter : root * quarter;
  }
  Lanes a = absolute(x);
  return select((a == 0.0) | (a == infinity), a, count > 4 ? x * fraction : fraction);
}

/// What takes no logarithm, with an approximate unit; null for other powers.
static std::optional<Lanes> simplePower(Lanes x, Lanes y) {
  const std::optional<Lanes> product = smallPower(x, y);
  return product ? product : quarterPower(x, y);
}

/// abs(x)^y, of f32, with the special values of C's pow that it does not have yet.
static Lanes withSigns(Lanes x, Lanes y, Lanes magnitude) {
  Lanes a = absolute(x);
  Lanes result = select(a == 1.0, 1.0, magnitude); // also to an infinite power
  Lanes isInteger = roundEven(y) == y;             // not NaN
  Lanes half = y * 0.5;
  Lanes isOdd = isInteger & !(roundEven(half) == half);
  result = select((x < 0.0) & !isInteger & (a < infinity), notANumber, result);
  result = select(isOdd, copySign(result, x), result);
  return select((y == 0.0) | (x == 1.0), 1.0, result);
}

/// x^y of f32 with an approximate unit.
static Lanes power32(Lanes x, Lanes y) {
  Lanes a = absolute(x);
  Pair logarithm = log2Pair32(a);
  Lanes high = select(a < infinity, logarithm.high, a); // infinity and NaN
  high = select(a == 0.0, -infinity, high);
  Pair product = twoProduct(y, high);
  return withSigns(x, y, exp2OfPair32({product.high, mulAdd(y, logarithm.low, product.low)}));
}

Lanes powToHalf(Lanes x, Lanes y) {
  if (std::optional<Lanes> simple = simplePower(x, y)) {
    return *simple;
  }
  // Exponents of such results are below 2^8 in magnitude, and the product's error is their 2^-22nd.
  return withSigns(x, y, approximateUnitFor(x)->powerOfTwo(y * emitLog2(absolute(x))));
}

Lanes emitPow(Lanes x, Lanes y) {
  if (approximateUnitFor(x)) {
    const std::optional<Lanes> simple = simplePower(x, y);
    return simple ? *simple : power32(x, y);
  }
  if (x.width() == 32) {
    Lanes wideX = toDouble(x), wideY = toDouble(y);
    Lanes magnitude = emitExp(wideY * emitLog(absolute(wideX)));
    return toSingle(withPowCases(wideX, wideY, magnitude));
  }
  Pair logarithm = logPair(absolute(x));
  Pair product = twoProduct(y, logarithm.high);
  Lanes low = mulAdd(y, logarithm.low, product.low);
  return withPowCases(x, y, expOfPair({product.high, low}));
}

Lanes emitCbrt(Lanes x) {
  if (x.width() == 32) {
    return toSingle(emitCbrt(toDouble(x)));
  }
  // Scaled so that y^3 stays far from the subnormal numbers.
  Lanes a = absolute(x);
  Lanes isTiny = a < 0x1p-900;
  Lanes scaled = select(isTiny, a * 0x1p300, a);
  Lanes y = emitExp(emitLog(scaled) * (1.0 / 3.0));
  Pair square = twoProduct(y, y);
  Pair cube = twoProduct(square.high, y);
  Lanes rest = (cube.high - scaled) + mulAdd(square.low, y, cube.low);
  Lanes root = y - rest / (square.high * 3.0);
  Lanes result = select(isTiny, root * 0x1p-100, root);
  Lanes isOrdinary = (a > 0.0) & (a < infinity);
  return select(isOrdinary, copySign(result, x), x);
}

// Boldo and Melquiond, "Emulation of FMA and correctly rounded sums: proved algorithms using
// rounding to odd" (2008); exact unless a partial result overflows or underflows.
Lanes emitFusedMultiplyAdd(Lanes a, Lanes b, Lanes c) {
  auto sumToOdd = [](Lanes p, Lanes q) {
    Pair sum = twoSum(p, q);
    Lanes bits = bitsOf(sum.high);
    // An inexact sum with an even mantissa moves one step towards its error.
    Lanes isInexact = !(sum.low == 0.0) & !isNan(sum.low);
    Lanes isEven = (bits & 1) == bits.constantBits(0);
    Lanes movesOut = shiftRight(bits ^ bitsOf(sum.low), bits.width() - 1) == bits.constantBits(0);
    Lanes moved = select(movesOut, bits + bits.constantBits(1), bits - bits.constantBits(1));
    return floatOf(select(isInexact & isEven, moved, bits));
  };
  if (a.width() == 32) {
    // The product is exact in f64, and 53 bits rounded to odd leave room for one more rounding.
    return toSingle(sumToOdd(toDouble(a) * toDouble(b), toDouble(c)));
  }
  Pair product = twoProduct(a, b);
  Pair low = twoSum(c, product.low);
  Pair high = twoSum(product.high, low.high);
  Lanes result = high.high + sumToOdd(low.low, high.low);
  Lanes plain = a * b + c;
  return select(absolute(plain) < infinity, result, plain);
}

} // namespace nereid::lowering
