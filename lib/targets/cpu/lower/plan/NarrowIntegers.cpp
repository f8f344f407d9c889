// SPDX-License-Identifier: Apache-2.0
#include "lib/targets/cpu/lower/plan/NarrowIntegers.h"

#include "mlir/Dialect/LLVMIR/LLVMDialect.h"

using namespace mlir;

namespace nereid::cpu {

/// From a quarter of the range on: what else is added has to be as large to reach the end.
static bool isLarge(Value value) {
  APInt number;
  return matchPattern(value, m_ConstantInt(&number)) &&
         number.getSignificantBits() >= number.getBitWidth();
}

static bool isSumOrShape(Operation *op) {
  return isa<arith::AddIOp, arith::SubIOp, arith::MulIOp, arith::ShLIOp, arith::ExtSIOp,
             arith::ExtUIOp, arith::TruncIOp, tile::SplatOp, tile::UnsplatOp, tile::ExpandDimsOp,
             tile::BroadcastOp, tile::ReshapeOp, tile::TransOp>(op);
}

/// A constant that large takes part in the sum.
static bool hasLargeTerm(Value sum) {
  SmallVector<Value> work{sum};
  llvm::SmallPtrSet<Value, 8> seen;
  while (!work.empty()) {
    Value value = work.pop_back_val();
    if (!seen.insert(value).second) {
      continue;
    }
    if (isLarge(value)) {
      return true;
    }
    Operation *op = value.getDefiningOp();
    if (op && isSumOrShape(op)) {
      work.append(op->operand_begin(), op->operand_end());
    }
    auto argument = dyn_cast<BlockArgument>(value);
    auto loop = argument ? dyn_cast<scf::ForOp>(argument.getOwner()->getParentOp()) : scf::ForOp();
    if (loop) {
      unsigned number = argument.getArgNumber();
      work.push_back(number == 0 ? loop.getLowerBound() : loop.getInitArgs()[number - 1]);
    }
  }
  return false;
}

bool mayWrap(Value sum) { return isNarrow(sum) || hasLargeTerm(sum); }

Value distanceTo(OpBuilder &builder, Location loc, Value limit, Value first) {
  Type i64 = builder.getI64Type();
  if (limit.getType() == i64) {
    return builder.create<LLVM::SSubSat>(loc, i64, limit, first);
  }
  limit = builder.create<arith::ExtSIOp>(loc, i64, limit);
  first = builder.create<arith::ExtSIOp>(loc, i64, first);
  return builder.create<arith::SubIOp>(loc, limit, first);
}

} // namespace nereid::cpu
