// SPDX-License-Identifier: Apache-2.0
// i64 arithmetic in the loops that folds constants while it is emitted.
#pragma once

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"

namespace nereid::cpu {

class FoldingArithmetic {
public:
  explicit FoldingArithmetic(mlir::Location loc) : loc(loc) {}
  using Value = mlir::Value;
  using Builder = mlir::OpBuilder;

  Value add(Builder &at, Value x, Value y) const { return fold<mlir::arith::AddIOp>(at, x, y); }
  Value sub(Builder &at, Value x, Value y) const { return fold<mlir::arith::SubIOp>(at, x, y); }
  Value mul(Builder &at, Value x, Value y) const { return fold<mlir::arith::MulIOp>(at, x, y); }
  /// A bound that `x` has been given already is not given again.
  Value min(Builder &at, Value x, Value y) const {
    auto inner = x.getDefiningOp<mlir::arith::MinSIOp>();
    auto other = y.getDefiningOp<mlir::arith::MinSIOp>();
    if (inner && other && inner->getOperands() == other->getOperands()) {
      return x;
    }
    std::optional<int64_t> bound = known(y);
    if (inner && bound && known(inner.getRhs()).value_or(*bound + 1) <= *bound) {
      return x;
    }
    return fold<mlir::arith::MinSIOp>(at, x, y);
  }
  Value max(Builder &at, Value x, Value y) const { return fold<mlir::arith::MaxSIOp>(at, x, y); }
  Value quotient(Builder &at, Value x, Value y) const {
    return fold<mlir::arith::DivUIOp>(at, x, y);
  }
  Value isEqual(Builder &at, Value x, Value y) const {
    return at.createOrFold<mlir::arith::CmpIOp>(loc, mlir::arith::CmpIPredicate::eq, x, y);
  }
  Value isGreater(Builder &at, Value x, Value y) const {
    return at.createOrFold<mlir::arith::CmpIOp>(loc, mlir::arith::CmpIPredicate::sgt, x, y);
  }
  Value both(Builder &at, Value x, Value y) const {
    return !x ? y : !y ? x : fold<mlir::arith::AndIOp>(at, x, y);
  }
  Value select(Builder &at, Value condition, Value x, Value y) const {
    return at.createOrFold<mlir::arith::SelectOp>(loc, condition, x, y);
  }
  static std::optional<int64_t> known(Value value) { return mlir::getConstantIntValue(value); }

private:
  template <class Op> Value fold(Builder &at, Value x, Value y) const {
    return at.createOrFold<Op>(loc, x, y);
  }
  mlir::Location loc;
};

} // namespace nereid::cpu
