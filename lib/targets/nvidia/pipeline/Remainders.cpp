// SPDX-License-Identifier: Apache-2.0
#include "lib/targets/nvidia/pipeline/Remainders.h"

#include "lib/targets/nvidia/ir/Nvidia.h"
#include "lib/targets/nvidia/layouts/OperandLayouts.h"

#include "mlir/IR/IRMapping.h"

using namespace mlir;

namespace nereid::nvidia {
namespace {

/// Elements of the longest vector that anything accesses at once.
constexpr int64_t longestVector = 16;

/// splat(start) + range, or a range alone.
struct CountedUp {
  Value start; ///< null: 0
  int64_t first = 0, end = 0;
};

std::optional<CountedUp> countedUp(Value tile) {
  if (auto range = tile.getDefiningOp<tile::MakeRangeOp>()) {
    return CountedUp{
        {}, static_cast<int64_t>(range.getStart()), static_cast<int64_t>(range.getEnd())};
  }
  auto sum = tile.getDefiningOp<arith::AddIOp>();
  for (unsigned i = 0; sum && i < 2; ++i) {
    auto splat = sum->getOperand(i).getDefiningOp<tile::SplatOp>();
    auto range = sum->getOperand(1 - i).getDefiningOp<tile::MakeRangeOp>();
    if (splat && range) {
      return CountedUp{splat.getSource(), static_cast<int64_t>(range.getStart()),
                       static_cast<int64_t>(range.getEnd())};
    }
  }
  return std::nullopt;
}

class Maker {
public:
  Maker(OpBuilder &builder, const tile::AxisInfos &axes) : b(builder), axes(axes) {}

  Neighbours result;

  Value make(Value value) {
    Operation *op = value.getDefiningOp();
    if (!isTile(value) || !op || !worksInAnyLayout(op) || op->getNumResults() != 1) {
      return value;
    }
    if (Value done = made.lookup(value)) {
      return done;
    }
    Value own = value;
    auto remainder = dyn_cast<arith::RemSIOp>(op);
    if (remainder && tile::elementTypeOf(value.getType()).isInteger(32)) {
      own = ofRemainder(remainder);
    }
    if (own == value) {
      SmallVector<Value> operands;
      for (Value operand : op->getOperands()) {
        operands.push_back(make(operand));
      }
      if (operands != SmallVector<Value>(op->getOperands())) {
        Operation *copy = b.clone(*op);
        copy->setOperands(operands);
        own = copy->getResult(0);
      }
    }
    return made[value] = own;
  }

private:
  Value ofRemainder(arith::RemSIOp op) {
    Value number = op.getLhs(), divisor = op.getRhs();
    const auto counted = countedUp(number);
    if (!counted || !divisor.getDefiningOp<tile::SplatOp>()) {
      return op;
    }
    const tile::AxisInfo ofNumber = axes.of(number);
    const int64_t run = std::min({ofNumber.contiguity(0), ofNumber.divisibility(0),
                                  axes.of(divisor).multiple(), longestVector});
    if (run < 2) {
      return op;
    }
    const Location loc = op.getLoc();
    auto type = cast<RankedTensorType>(op.getType());
    auto all = [&](int64_t bits) {
      return b.create<arith::ConstantOp>(
          loc,
          DenseElementsAttr::get(type, b.getI32IntegerAttr(static_cast<int32_t>(bits)).getValue()));
    };
    Value begin = b.create<arith::AndIOp>(loc, number, all(-run));
    Value left = b.create<arith::RemSIOp>(loc, begin, divisor);
    left = b.create<arith::AndIOp>(loc, left, all(-run)); // as it is
    Value within = b.create<arith::AndIOp>(loc, number, all(run - 1));
    if (counted->start) {
      askFor(loc, counted->start, counted->first, counted->end);
    }
    return b.create<arith::AddIOp>(loc, left, within);
  }

  /// That the numbers neither begin below zero nor wrap around.
  void askFor(Location loc, Value start, int64_t first, int64_t end) {
    auto compare = [&](arith::CmpIPredicate predicate, int64_t bound) {
      Value limit = b.create<arith::ConstantIntOp>(loc, bound, 32);
      Value holds = b.create<arith::CmpIOp>(loc, predicate, start, limit);
      result.condition = result.condition
                             ? b.create<arith::AndIOp>(loc, result.condition, holds).getResult()
                             : holds;
    };
    compare(arith::CmpIPredicate::sge, -first);
    compare(arith::CmpIPredicate::sle, INT32_MAX - end);
    result.starts.push_back(start);
  }

  OpBuilder &b;
  const tile::AxisInfos &axes;
  llvm::DenseMap<Value, Value> made;
};

Value makeApart(OpBuilder &b, Value value, IRMapping &mapping) {
  if (mapping.contains(value)) {
    return mapping.lookup(value);
  }
  Operation *op = value.getDefiningOp();
  if (!isTile(value) || !op || !worksInAnyLayout(op) || op->getNumResults() != 1) {
    return value;
  }
  bool isChanged = false;
  for (Value operand : op->getOperands()) {
    isChanged |= makeApart(b, operand, mapping) != operand;
  }
  mapping.map(value, isChanged ? b.clone(*op, mapping)->getResult(0) : value);
  return mapping.lookup(value);
}

} // namespace

std::optional<Neighbours> withNeighbours(OpBuilder &builder, Value tile,
                                         const tile::AxisInfos &axes) {
  Maker maker(builder, axes);
  Value made = maker.make(tile);
  if (made == tile) {
    return std::nullopt;
  }
  maker.result.tile = made;
  return maker.result;
}

Value madeApart(OpBuilder &builder, Value tile, ArrayRef<Value> starts) {
  IRMapping mapping;
  for (Value start : starts) {
    if (!mapping.contains(start)) {
      mapping.map(start, builder.create<OpaqueOp>(start.getLoc(), start).getResult());
    }
  }
  return makeApart(builder, tile, mapping);
}

} // namespace nereid::nvidia
