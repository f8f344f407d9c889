// SPDX-License-Identifier: Apache-2.0
// Builds the operations of a kernel where elaboration stands, and owns the place they go to: MLIR's
// types of the language's types, constants, conversions and shapes. TileBuilder.cpp has elements,
// TileShapes.cpp shapes. The language's rules of promotion and its operators stand on it.
#pragma once

#include "lib/language/emit/report/Reporter.h"
#include "lib/tile/ir/Tile.h"

namespace nereid::language::emit {

class TileBuilder {
public:
  TileBuilder(mlir::MLIRContext &context, const Position &position, Reporter &report)
      : builder(&context), position(position), report(report) {}

  mlir::Type mlirType(ElementType type);
  mlir::Type mlirType(const TileType &type);
  Value constantTile(const Value &number, DType type, llvm::ArrayRef<int64_t> shape = {});
  /// A run-time value of a number (its default type) or of a tile itself; E0204 for anything else.
  Value toTile(const Value &value);
  Value cast(const Value &value, ElementType to);
  Value bitcast(const Value &value, ElementType to);
  /// i1 of the same shape: `!= 0`.
  Value truth(const Value &value);

  Value splat(const Value &scalar, llvm::ArrayRef<int64_t> shape, Origins origins = {});
  /// E0213 when the shape cannot be reached.
  Value broadcastTo(const Value &value, llvm::ArrayRef<int64_t> shape, Origins origins = {});
  bool broadcastPair(Value &a, Value &b);
  /// Brings operands to one shape, as an elementwise operator would. False after an error.
  bool broadcastAll(std::vector<Value> &values);
  Value reshapeTo(const Value &value, llvm::ArrayRef<int64_t> shape);
  Value expandDim(const Value &value, int64_t axis);
  /// E0215 unless every size is a power of two and the tile is not too large.
  bool checkShape(llvm::ArrayRef<int64_t> shape);

  mlir::Location location() const { return position.location(); }
  /// The operation, or what it folds to.
  template <class Op, class... Args> mlir::Value make(Args &&...args) {
    return builder.createOrFold<Op>(location(), std::forward<Args>(args)...);
  }
  /// Elementwise operation whose result has the type of `like`.
  template <class Op, class... Args> Value like(const Value &like, Args &&...args) {
    return Value::tile(make<Op>(std::forward<Args>(args)...), like.tileType, like.origins);
  }
  /// An operation that folds to nothing.
  template <class Op, class... Args> Op create(Args &&...args) {
    return builder.create<Op>(location(), std::forward<Args>(args)...);
  }

  mlir::OpBuilder builder;

private:
  mlir::Value convertNumber(const Value &value, DType to);

  const Position &position;
  Reporter &report;
};

} // namespace nereid::language::emit
