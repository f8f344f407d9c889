// SPDX-License-Identifier: Apache-2.0
// Operations that choose: comparisons, selections, the smaller and the larger of two, and bits of
// one or the other.
#include "lib/tile/analysis/axis/AxisRules.h"

#include "lib/tile/ir/Tile.h"

namespace arith = mlir::arith;

namespace nereid::tile {

/// `low < high`, or its opposite: numbers that count up between two multiples of a power of two are
/// all below a multiple of it, or none is.
static int64_t sideLength(const AxisInfo &low, const AxisInfo &high, unsigned dim) {
  auto [counting, limit] = withCommonLength(low, high, dim);
  if (!limit.isConstant()) {
    return 1;
  }
  AxisInfo shorter = low;
  shorter.axes[dim] = counting;
  return lengthWithin(shorter, dim, std::min(limit.startTwos, low.width - 1));
}

static void compare(const AxisRule &rule, arith::CmpIPredicate predicate, AxisInfo &result) {
  using Predicate = arith::CmpIPredicate;
  rule.elementwise(result);
  const bool isLess = predicate == Predicate::slt || predicate == Predicate::ult ||
                      predicate == Predicate::sge || predicate == Predicate::uge;
  const bool isMore = predicate == Predicate::sgt || predicate == Predicate::ugt ||
                      predicate == Predicate::sle || predicate == Predicate::ule;
  if (!isLess && !isMore) {
    return;
  }
  for (unsigned dim = 0; dim < result.axes.size(); ++dim) {
    int64_t &length = result.axes[dim].length;
    length = std::max(length,
                      sideLength(rule.operand(isLess ? 0 : 1), rule.operand(isLess ? 1 : 0), dim));
  }
}

/// One of two values, the same one in runs of `constancy`.
static AxisRun either(const AxisInfo &a, const AxisInfo &b, unsigned dim, int64_t constancy) {
  AxisInfo x = a, y = b;
  for (AxisInfo *value : {&x, &y}) {
    const AxisRun &run = value->axes[dim];
    value->axes[dim] = shortened(*value, dim, commonLength(run.size, run.length, constancy));
  }
  auto [first, second] = withCommonLength(x, y, dim);
  return {first.size, first.length, first.stride == second.stride ? first.stride : std::nullopt,
          std::min(first.startTwos, second.startTwos), std::min(first.firstTwos, second.firstTwos)};
}

static void select(const AxisRule &rule, AxisInfo &result) {
  const AxisInfo &condition = rule.operand(0), &a = rule.operand(1), &b = rule.operand(2);
  result.twos = std::min(a.twos, b.twos);
  for (unsigned dim = 0; dim < result.axes.size(); ++dim) {
    const int64_t constancy = condition.axes.empty() ? a.axes[dim].size : condition.constancy(dim);
    result.axes[dim] = either(a, b, dim, constancy);
  }
}

/// The operand that a minimum or maximum always is; null when that depends.
static const AxisInfo *alwaysChosen(const AxisRule &rule) {
  const AxisInfo &a = rule.operand(0), &b = rule.operand(1);
  const bool isMaximum = mlir::isa<arith::MaxSIOp, arith::MaxUIOp>(rule.op);
  auto isAtMost = [&](const AxisInfo &x, const AxisInfo &y) {
    return mlir::isa<arith::MaxSIOp, arith::MinSIOp>(rule.op)
               ? x.range->smax().sle(y.range->smin())
               : x.range->umax().ule(y.range->umin());
  };
  if (!a.range || !b.range) {
    return nullptr;
  }
  if (isAtMost(a, b)) {
    return isMaximum ? &b : &a;
  }
  return isAtMost(b, a) ? (isMaximum ? &a : &b) : nullptr;
}

static void extremum(const AxisRule &rule, AxisInfo &result) {
  const AxisInfo &a = rule.operand(0), &b = rule.operand(1);
  if (const AxisInfo *chosen = alwaysChosen(rule)) {
    result.twos = chosen->twos;
    result.axes = chosen->axes;
    return;
  }
  result.twos = std::min(a.twos, b.twos);
  for (unsigned dim = 0; dim < result.axes.size(); ++dim) {
    result.axes[dim] = either(a, b, dim, rule.commonConstancy(dim, {a, b}));
  }
}

/// Bits of the one stand where the other has zeros: `|` and `^` are `+`.
static bool areDisjoint(const AxisInfo &multiple, const AxisInfo &small) {
  return small.range && small.range->umax().getActiveBits() <= multiple.twos;
}

static int64_t sum(int64_t a, int64_t b) {
  return static_cast<int64_t>(static_cast<uint64_t>(a) + static_cast<uint64_t>(b));
}

static void bits(const AxisRule &rule, AxisInfo &result) {
  const AxisInfo &a = rule.operand(0), &b = rule.operand(1);
  const bool isAnd = mlir::isa<arith::AndIOp>(rule.op);
  auto combined = [&](unsigned x, unsigned y) { return isAnd ? std::max(x, y) : std::min(x, y); };
  const bool isSum = !isAnd && (areDisjoint(a, b) || areDisjoint(b, a));
  result.twos = combined(a.twos, b.twos);
  for (unsigned dim = 0; dim < result.axes.size(); ++dim) {
    auto [x, y] = withCommonLength(a, b, dim);
    AxisRun &run = result.axes[dim];
    run.firstTwos = combined(x.firstTwos, y.firstTwos);
    if (isSum && x.stride && y.stride) {
      run = {x.size, x.length, wrapped(sum(*x.stride, *y.stride), result.width),
             std::min(x.startTwos, y.startTwos), run.firstTwos};
      continue;
    }
    run.length = rule.commonConstancy(dim, {a, b});
    run.startTwos =
        combined(shortened(a, dim, commonLength(x.size, a.axes[dim].length, run.length)).startTwos,
                 shortened(b, dim, commonLength(x.size, b.axes[dim].length, run.length)).startTwos);
  }
}

bool inferChoice(const AxisRule &rule, AxisInfo &result) {
  if (auto comparison = mlir::dyn_cast<arith::CmpIOp>(rule.op)) {
    compare(rule, comparison.getPredicate(), result);
  } else if (mlir::isa<arith::SelectOp>(rule.op)) {
    select(rule, result);
  } else if (mlir::isa<arith::MaxSIOp, arith::MinSIOp, arith::MaxUIOp, arith::MinUIOp>(rule.op)) {
    extremum(rule, result);
  } else if (mlir::isa<arith::AndIOp, arith::OrIOp, arith::XOrIOp>(rule.op)) {
    bits(rule, result);
  } else {
    return false;
  }
  return true;
}

} // namespace nereid::tile
