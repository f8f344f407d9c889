// SPDX-License-Identifier: Apache-2.0
// Quotients and remainders, and the shifts and masks that are the same. By a constant, two cases
// keep runs: a stride that is a multiple of the divisor, and numbers between two multiples of a
// power of two that divides the divisor, such as 16 to 19 divided by 12: one quotient, and the
// remainder counts up. The latter also holds for a number of which only the power of two is known.
// Division that rounds towards zero has neither on both sides of zero.
#include "lib/tile/analysis/axis/AxisRules.h"

#include "lib/tile/ir/Tile.h"

namespace arith = mlir::arith;

namespace nereid::tile {

namespace {

struct Division {
  const AxisInfo &dividend;
  uint64_t divisor;
  bool isSigned;
  bool roundsDown; ///< or towards zero, which is the same for numbers that are not negative
  Overflow overflow;

  unsigned twos() const { return twosOf(divisor); }
  bool isPowerOfTwo() const { return llvm::isPowerOf2_64(divisor); }
  /// Each number is a multiple of the divisor.
  bool isExact(unsigned numberTwos) const { return isPowerOfTwo() && numberTwos >= twos(); }
  bool hasWholeSteps(const AxisRun &run) const {
    return run.stride && *run.stride % static_cast<int64_t>(divisor) == 0;
  }
  /// Quotients step by whole numbers and remainders stay in these runs.
  bool keepsRun(unsigned dim) const {
    const AxisRun &run = dividend.axes[dim];
    if (run.isConstant()) {
      return true;
    }
    const bool isSteady = hasWholeSteps(run) && (roundsDown || isExact(run.startTwos));
    return (isSteady || isExact(dividend.twos)) && staysInRange(dividend, dim, isSigned, overflow);
  }
  unsigned quotientTwos(unsigned number) const {
    const bool isZero = number >= dividend.width;
    return isZero ? dividend.width : isExact(number) ? number - twos() : 0;
  }
  unsigned remainderTwos(unsigned number) const {
    return isExact(number) ? dividend.width : std::min(number, twos());
  }
};

} // namespace

static void quotient(const Division &by, AxisInfo &result) {
  result.twos = by.quotientTwos(by.dividend.twos);
  for (unsigned dim = 0; dim < result.axes.size(); ++dim) {
    const AxisRun &run = by.dividend.axes[dim];
    AxisRun own = run;
    std::optional<int64_t> stride;
    if (by.keepsRun(dim)) {
      stride = by.hasWholeSteps(run) ? std::optional(*run.stride / static_cast<int64_t>(by.divisor))
                                     : std::nullopt;
    } else {
      own = shortened(by.dividend, dim,
                      by.roundsDown ? lengthWithin(by.dividend, dim, by.twos()) : 1);
      stride = 0;
    }
    result.axes[dim] = {run.size, own.length, stride, by.quotientTwos(own.startTwos),
                        by.quotientTwos(run.firstTwos)};
  }
}

static void remainder(const Division &by, AxisInfo &result) {
  result.twos = by.remainderTwos(by.dividend.twos);
  for (unsigned dim = 0; dim < result.axes.size(); ++dim) {
    const AxisRun &run = by.dividend.axes[dim];
    AxisRun own = run;
    std::optional<int64_t> stride = 0;
    // What wraps loses a multiple of every power of two.
    const bool wrapsAlike = !by.isSigned && by.isPowerOfTwo() && by.hasWholeSteps(run);
    if (!wrapsAlike && !by.keepsRun(dim)) {
      own = shortened(by.dividend, dim,
                      by.roundsDown ? lengthWithin(by.dividend, dim, by.twos()) : 1);
      stride = own.stride;
    }
    result.axes[dim] = {run.size, own.length, stride, by.remainderTwos(own.startTwos),
                        by.remainderTwos(run.firstTwos)};
  }
}

/// The value minus the remainder, by a power of two.
static void roundDown(const Division &by, AxisInfo &result) {
  auto atLeast = [&](unsigned twos) { return std::max(twos, by.twos()); };
  result.twos = atLeast(by.dividend.twos);
  for (unsigned dim = 0; dim < result.axes.size(); ++dim) {
    AxisRun own = by.dividend.axes[dim];
    if (!by.hasWholeSteps(own)) {
      own = shortened(by.dividend, dim, lengthWithin(by.dividend, dim, by.twos()));
      own.stride = 0;
    }
    own.startTwos = atLeast(own.startTwos);
    own.firstTwos = atLeast(own.firstTwos);
    result.axes[dim] = own;
  }
}

/// A constant above zero, and not so large that nothing could be a multiple of it.
static std::optional<uint64_t> divisorOf(const AxisInfo &value, bool isSigned) {
  std::optional<llvm::APInt> number = value.constant();
  const bool isUsable = number && !number->isZero() && !(isSigned && number->isNegative()) &&
                        number->getActiveBits() <= 62;
  return isUsable ? std::optional(number->getZExtValue()) : std::nullopt;
}

/// The same numbers with the range that the operation gave them.
static void copy(const AxisInfo &source, AxisInfo &result) {
  result.twos = source.twos;
  result.axes = source.axes;
}

static bool isBelow(const AxisInfo &value, uint64_t bound) {
  return value.range && value.range->umax().ult(bound);
}

/// By a number of which nothing is known but a power of two that divides it.
static bool divideByMultiple(const AxisRule &rule, bool isQuotient, bool roundsDown,
                             AxisInfo &result) {
  const AxisInfo &dividend = rule.operand(0), &divisor = rule.operand(1);
  rule.elementwise(result);
  if (!isQuotient) {
    result.twos = std::min(dividend.twos, divisor.twos);
  }
  for (unsigned dim = 0; dim < result.axes.size(); ++dim) {
    const int64_t size = result.axes[dim].size;
    const int64_t length =
        commonLength(size, roundsDown ? lengthWithin(dividend, dim, divisor.twos) : 1,
                     divisor.axes.empty() ? size : divisor.constancy(dim));
    if (length > result.axes[dim].length) {
      const AxisRun own = shortened(dividend, dim, length);
      result.axes[dim].length = length;
      result.axes[dim].stride = isQuotient ? 0 : own.stride;
      result.axes[dim].startTwos = isQuotient ? 0 : std::min(own.startTwos, divisor.twos);
    }
    if (!isQuotient) {
      result.axes[dim].firstTwos = std::min(dividend.axes[dim].firstTwos, divisor.twos);
    }
  }
  return true;
}

static bool divide(const AxisRule &rule, AxisInfo &result) {
  const bool isSigned = mlir::isa<arith::DivSIOp, arith::RemSIOp, arith::FloorDivSIOp>(rule.op);
  const bool isFloor = mlir::isa<arith::FloorDivSIOp>(rule.op);
  std::optional<uint64_t> divisor = divisorOf(rule.operand(1), isSigned);
  const AxisInfo &dividend = rule.operand(0);
  const bool isQuotient = mlir::isa<arith::DivSIOp, arith::DivUIOp, arith::FloorDivSIOp>(rule.op);
  if (!divisor) {
    // Rounding towards zero is rounding down where nothing is negative, or the divisor alone.
    const bool roundsDown =
        !isSigned || (dividend.isNonNegative() && (!isFloor || rule.operand(1).isNonNegative()));
    return divideByMultiple(rule, isQuotient, roundsDown, result);
  }
  const Division by{dividend, *divisor, isSigned, !isSigned || isFloor || dividend.isNonNegative(),
                    rule.overflow};
  if (isQuotient) {
    quotient(by, result);
  } else if (isBelow(dividend, *divisor)) {
    copy(dividend, result);
  } else {
    remainder(by, result);
  }
  return true;
}

static bool shiftRight(const AxisRule &rule, AxisInfo &result) {
  std::optional<llvm::APInt> amount = rule.operand(1).constant();
  if (!amount || amount->uge(std::min(result.width, 62U))) {
    return false;
  }
  const bool isSigned = mlir::isa<arith::ShRSIOp>(rule.op);
  quotient({rule.operand(0), uint64_t(1) << amount->getZExtValue(), isSigned, true, rule.overflow},
           result);
  return true;
}

/// `value & 0b00001111` is a remainder and `value & ~0b00001111` rounds down.
static bool mask(const AxisRule &rule, AxisInfo &result) {
  for (unsigned i : {1U, 0U}) {
    const AxisInfo &value = rule.operand(1 - i);
    std::optional<llvm::APInt> bits = rule.operand(i).constant();
    if (!bits || bits->isZero()) {
      continue;
    }
    if (bits->isMask() && bits->getActiveBits() <= std::min(result.width - 1, 61U)) {
      const uint64_t divisor = bits->getZExtValue() + 1;
      if (isBelow(value, divisor)) {
        copy(value, result);
      } else {
        remainder({value, divisor, false, true, Overflow::Wraps}, result);
      }
      return true;
    }
    if (bits->isNegatedPowerOf2() && bits->countr_zero() <= 61) {
      roundDown({value, uint64_t(1) << bits->countr_zero(), false, true, Overflow::Wraps}, result);
      return true;
    }
  }
  return false;
}

bool inferQuotient(const AxisRule &rule, AxisInfo &result) {
  if (mlir::isa<arith::DivSIOp, arith::DivUIOp, arith::FloorDivSIOp, arith::RemSIOp,
                arith::RemUIOp>(rule.op)) {
    return divide(rule, result);
  }
  if (mlir::isa<arith::ShRUIOp, arith::ShRSIOp>(rule.op)) {
    return shiftRight(rule, result);
  }
  return mlir::isa<arith::AndIOp>(rule.op) && mask(rule, result);
}

} // namespace nereid::tile
