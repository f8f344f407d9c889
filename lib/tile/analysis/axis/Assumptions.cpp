// SPDX-License-Identifier: Apache-2.0
#include "lib/tile/analysis/axis/Assumptions.h"

#include "lib/tile/ir/Tile.h"

#include "mlir/IR/Matchers.h"
#include "llvm/IR/ConstantRange.h"

namespace nereid::tile {

using llvm::APInt;
using llvm::ConstantRange;
using mlir::ConstantIntRanges;
namespace arith = mlir::arith;

Assumptions::Assumptions(mlir::Operation *top) {
  top->walk([&](AssumeOp assumption) {
    addCondition(assumption.getCondition(), assumption->getBlock());
  });
}

/// A number or address that the block makes.
static bool isNumberOf(mlir::Value value, mlir::Block *block) {
  return value.getParentBlock() == block &&
         (value.getType().isIntOrIndex() || mlir::isa<PtrType>(value.getType()));
}

void Assumptions::addCondition(mlir::Value condition, mlir::Block *block) {
  mlir::Operation *op = condition.getDefiningOp();
  if (auto both = mlir::dyn_cast_or_null<arith::AndIOp>(op); both && both.getType().isInteger(1)) {
    addCondition(both.getLhs(), block);
    addCondition(both.getRhs(), block);
  } else if (mlir::isa_and_nonnull<arith::CmpIOp>(op)) {
    addComparison(op, block);
  }
}

/// The range of the numbers for which the comparison holds.
static ConstantRange rangeOf(arith::CmpIPredicate predicate, const APInt &bound) {
  using Predicate = arith::CmpIPredicate;
  using Kind = llvm::CmpInst::Predicate;
  auto kind = [&] {
    switch (predicate) {
    case Predicate::eq:
      return Kind::ICMP_EQ;
    case Predicate::ne:
      return Kind::ICMP_NE;
    case Predicate::slt:
      return Kind::ICMP_SLT;
    case Predicate::sle:
      return Kind::ICMP_SLE;
    case Predicate::sgt:
      return Kind::ICMP_SGT;
    case Predicate::sge:
      return Kind::ICMP_SGE;
    case Predicate::ult:
      return Kind::ICMP_ULT;
    case Predicate::ule:
      return Kind::ICMP_ULE;
    case Predicate::ugt:
      return Kind::ICMP_UGT;
    case Predicate::uge:
      return Kind::ICMP_UGE;
    }
    return Kind::ICMP_NE;
  }();
  return ConstantRange::makeExactICmpRegion(kind, bound);
}

void Assumptions::addComparison(mlir::Operation *op, mlir::Block *block) {
  auto comparison = mlir::cast<arith::CmpIOp>(op);
  arith::CmpIPredicate predicate = comparison.getPredicate();
  mlir::Value value = comparison.getLhs();
  APInt bound;
  if (!mlir::matchPattern(comparison.getRhs(), mlir::m_ConstantInt(&bound))) {
    return; // folding puts constants on the right
  }
  const ConstantRange range = rangeOf(predicate, bound);
  if (range.isEmptySet()) {
    return; // it never holds: nobody comes here
  }
  addRange(value,
           ConstantIntRanges(range.getUnsignedMin(), range.getUnsignedMax(), range.getSignedMin(),
                             range.getSignedMax()),
           block);
  if (predicate == arith::CmpIPredicate::eq && bound.isZero()) {
    addMultiple(value, block);
  }
}

void Assumptions::addRange(mlir::Value value, const ConstantIntRanges &range, mlir::Block *block) {
  if (!isNumberOf(value, block)) {
    return;
  }
  std::optional<ConstantIntRanges> &known = facts[value].range;
  known = known ? known->intersection(range) : range;
  // A number that was widened has the range of the wide one, as far as its own type goes.
  if (auto wide = value.getDefiningOp<arith::ExtSIOp>()) {
    unsigned width = wide.getIn().getType().getIntOrFloatBitWidth();
    APInt low = range.smin(), high = range.smax();
    APInt least = APInt::getSignedMinValue(width).sext(low.getBitWidth());
    APInt most = APInt::getSignedMaxValue(width).sext(low.getBitWidth());
    low = low.slt(least) ? least : low;
    high = high.sgt(most) ? most : high;
    if (low.sle(high)) {
      addRange(wide.getIn(), ConstantIntRanges::fromSigned(low.trunc(width), high.trunc(width)),
               block);
    }
  }
}

/// `remainder` is 0: of what is it one?
void Assumptions::addMultiple(mlir::Value remainder, mlir::Block *block) {
  mlir::Operation *op = remainder.getDefiningOp();
  APInt divisor;
  if (!op || op->getNumOperands() != 2 ||
      !mlir::matchPattern(op->getOperand(1), mlir::m_ConstantInt(&divisor))) {
    return;
  }
  unsigned twos = 0;
  if (mlir::isa<arith::RemSIOp, arith::RemUIOp>(op)) {
    twos = divisor.isZero() ? 0 : divisor.countr_zero();
  } else if (mlir::isa<arith::AndIOp>(op)) {
    twos = divisor.countr_one();
  }
  for (mlir::Value value = op->getOperand(0); twos != 0 && isNumberOf(value, block);) {
    facts[value].twos = std::max(facts[value].twos, twos);
    mlir::Operation *made = value.getDefiningOp();
    if (!mlir::isa_and_nonnull<arith::ExtSIOp, arith::ExtUIOp, PtrToIntOp>(made)) {
      return;
    }
    value = made->getOperand(0);
  }
}

llvm::SmallVector<std::pair<mlir::Value, int64_t>> Assumptions::divisors() const {
  llvm::SmallVector<std::pair<mlir::Value, int64_t>> found;
  for (const auto &[value, fact] : facts) {
    if (fact.twos != 0) {
      found.push_back({value, AxisInfo::divisorOf(fact.twos)});
    }
  }
  return found;
}

void Assumptions::apply(mlir::Value value, AxisInfo &info) const {
  auto found = facts.find(value);
  if (found == facts.end()) {
    return;
  }
  const Fact &fact = found->second;
  info.twos = std::max(info.twos, std::min(fact.twos, info.width));
  if (fact.range && info.range) {
    const ConstantIntRanges both = info.range->intersection(*fact.range);
    if (both.smin().sle(both.smax()) && both.umin().ule(both.umax())) {
      info.range = both;
    }
  }
  info.complete();
}

} // namespace nereid::tile
