// SPDX-License-Identifier: Apache-2.0
#include "lib/targets/cpu/prepare/RowRanges.h"

#include "lib/targets/cpu/lower/KernelState.h"

using namespace mlir;

namespace nereid::cpu {

static bool isPlain(Operation *op) {
  return isElementwise(op) || isa<tile::ProgramIdOp, tile::NumProgramsOp, arith::ConstantOp>(op);
}

bool RowRanges::dependsOnRowOnly(Value value) {
  if (value == loop.getInductionVar() || !loop.getRegion().isAncestor(value.getParentRegion())) {
    return true;
  }
  Operation *op = value.getDefiningOp();
  return op && isPlain(op) &&
         llvm::all_of(op->getOperands(), [&](Value v) { return dependsOnRowOnly(v); });
}

/// What `first` can follow.
bool RowRanges::hasFirst(Value value) {
  if (!isTile(value)) {
    return dependsOnRowOnly(value);
  }
  Operation *op = value.getDefiningOp();
  if (!op) {
    return false;
  }
  if (auto constant = dyn_cast<arith::ConstantOp>(op)) {
    return isa<DenseElementsAttr>(constant.getValue());
  }
  if (isa<tile::MakeRangeOp>(op)) {
    return true;
  }
  return (isa<tile::SplatOp>(op) || isElementwise(op)) &&
         llvm::all_of(op->getOperands(), [&](Value v) { return hasFirst(v); });
}

std::optional<RowRange> RowRanges::of(Value pointer, Value mask) {
  if (!hasFirst(pointer)) {
    return std::nullopt;
  }
  RowRange range{pointer, {}, 1, 1};
  auto type = cast<tile::PtrType>(elementTypeOf(pointer));
  range.elementBytes = KernelState::byteSize(KernelState::memoryType(type.getPointee()));
  if (!isTile(pointer)) {
    return range;
  }
  Axis axis = shapeOf(pointer).size() == 1 ? axes.axis(pointer, 0, AxisView::Address) : Axis();
  if (axis.kind != AxisKind::Linear || axis.stride != 1) {
    return std::nullopt;
  }
  range.elements = shapeOf(pointer)[0];
  // `range(0, n) < limit`: what is behind the limit is not accessed.
  const auto bound = mask ? axes.bound(mask, 0) : std::optional<tile::MaskBound>();
  if (bound && !bound->isLower && !bound->inclusive) {
    auto counted = bound->linear.getDefiningOp<tile::MakeRangeOp>();
    auto limit = bound->limit.getDefiningOp<tile::SplatOp>();
    if (counted && counted.getStart() == 0 && limit && dependsOnRowOnly(limit.getSource())) {
      range.limit = limit.getSource();
    }
  }
  return range;
}

Value RowRanges::first(OpBuilder &builder, Value value, Memo &memo) {
  if (Value known = memo.lookup(value)) {
    return known;
  }
  if (!isTile(value) && !loop.getRegion().isAncestor(value.getParentRegion())) {
    return value;
  }
  Operation *op = value.getDefiningOp();
  Value result;
  if (isa<tile::SplatOp>(op)) {
    result = first(builder, op->getOperand(0), memo);
  } else if (auto range = dyn_cast<tile::MakeRangeOp>(op)) {
    result = builder.create<arith::ConstantOp>(
        value.getLoc(), builder.getIntegerAttr(elementTypeOf(value), range.getStart()));
  } else if (auto constant = dyn_cast<arith::ConstantOp>(op)) {
    Attribute attribute = constant.getValue();
    if (auto dense = dyn_cast<DenseElementsAttr>(attribute)) {
      attribute = *dense.value_begin<Attribute>();
    }
    result = builder.create<arith::ConstantOp>(value.getLoc(), cast<TypedAttr>(attribute));
  } else {
    SmallVector<Value, 3> operands;
    for (Value operand : op->getOperands()) {
      operands.push_back(first(builder, operand, memo));
    }
    Operation *created = Operation::create(op->getLoc(), op->getName(), elementTypeOf(value),
                                           operands, op->getDiscardableAttrDictionary(),
                                           op->getPropertiesStorage(), BlockRange(), 0);
    result = builder.insert(created)->getResult(0);
  }
  memo[value] = result;
  return result;
}

RowRanges::Bytes RowRanges::emit(OpBuilder &builder, Location loc, const RowRange &range,
                                 Value row) {
  Memo memo;
  memo[loop.getInductionVar()] = row;
  Type i64 = builder.getI64Type();
  auto constant = [&](int64_t value) -> Value {
    return builder.create<arith::ConstantOp>(loc, builder.getI64IntegerAttr(value));
  };
  Value start = builder.create<tile::PtrToIntOp>(loc, i64, first(builder, range.pointer, memo));
  if (!range.limit) {
    return {start, constant(range.elements * range.elementBytes)};
  }
  Value limit = first(builder, range.limit, memo);
  if (limit.getType() != i64) {
    limit = builder.create<arith::ExtSIOp>(loc, i64, limit);
  }
  limit = builder.create<arith::MaxSIOp>(loc, limit, constant(0));
  limit = builder.create<arith::MinSIOp>(loc, limit, constant(range.elements));
  return {start, builder.create<arith::MulIOp>(loc, limit, constant(range.elementBytes))};
}

/// With d = b.start - a.start: -b.count < d < a.count, as one unsigned comparison. Empty ranges may
/// count as overlapping.
Value RowRanges::overlap(OpBuilder &builder, Location loc, Bytes a, Bytes b) {
  Value one = builder.create<arith::ConstantOp>(loc, builder.getI64IntegerAttr(1));
  Value less = builder.create<arith::SubIOp>(loc, b.count, one);
  Value distance = builder.create<arith::SubIOp>(loc, b.start, a.start);
  Value left = builder.create<arith::AddIOp>(loc, distance, less);
  Value right = builder.create<arith::AddIOp>(loc, a.count, less);
  return builder.create<arith::CmpIOp>(loc, arith::CmpIPredicate::ult, left, right);
}

Value RowRanges::isUnaligned(OpBuilder &builder, Location loc, Bytes bytes, int64_t alignment) {
  auto constant = [&](int64_t value) -> Value {
    return builder.create<arith::ConstantOp>(loc, builder.getI64IntegerAttr(value));
  };
  Value low = builder.create<arith::AndIOp>(loc, bytes.start, constant(alignment - 1));
  return builder.create<arith::CmpIOp>(loc, arith::CmpIPredicate::ne, low, constant(0));
}

} // namespace nereid::cpu
