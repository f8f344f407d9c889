// SPDX-License-Identifier: Apache-2.0
// Constants, program ids and everything that moves elements without computing.
#include "lib/interpreter/Instance.h"

namespace arith = mlir::arith;

namespace nereid::interpreter {
namespace {

Shape shapeFor(mlir::Type type) {
  llvm::ArrayRef<int64_t> shape = tile::shapeOf(type);
  return {shape.begin(), shape.end()};
}

std::optional<uint64_t> wordFor(mlir::Attribute attribute) {
  if (auto integer = mlir::dyn_cast<mlir::IntegerAttr>(attribute)) {
    return integer.getValue().getZExtValue();
  }
  if (auto number = mlir::dyn_cast<mlir::FloatAttr>(attribute)) {
    return number.getValue().bitcastToAPInt().getZExtValue();
  }
  return std::nullopt;
}

bool constant(Instance &instance, mlir::Operation *op) {
  if (instance.has(op->getResult(0))) {
    return true;
  }
  mlir::Attribute value = mlir::cast<arith::ConstantOp>(op).getValue();
  std::optional<ElementType> type = elementTypeFor(op->getResult(0).getType());
  if (!type) {
    return instance.unsupported(op, "the type of the constant");
  }
  if (std::optional<uint64_t> word = wordFor(value)) {
    return instance.finish(op, Tile::scalar(*type, *word));
  }
  auto dense = mlir::dyn_cast<mlir::DenseElementsAttr>(value);
  if (!dense) {
    return instance.unsupported(op, "a constant that is neither a number nor dense");
  }
  Shape shape = shapeFor(op->getResult(0).getType());
  if (dense.isSplat()) {
    const uint64_t word = wordFor(dense.getSplatValue<mlir::Attribute>()).value_or(0);
    return instance.finish(op, Tile::filled(*type, std::move(shape), word));
  }
  Tile result = Tile::filled(*type, std::move(shape), 0);
  for (auto [i, element] : llvm::enumerate(dense.getValues<mlir::Attribute>())) {
    result.at(i) = wordFor(element).value_or(0);
  }
  return instance.finish(op, std::move(result));
}

bool programId(Instance &instance, mlir::Operation *op) {
  const int64_t id = instance.id[mlir::cast<tile::ProgramIdOp>(op).getAxis()];
  return instance.finish(op, Tile::scalar({}, static_cast<uint32_t>(id)));
}

bool numPrograms(Instance &instance, mlir::Operation *op) {
  const int64_t count = instance.launch.grid[mlir::cast<tile::NumProgramsOp>(op).getAxis()];
  return instance.finish(op, Tile::scalar({}, static_cast<uint32_t>(count)));
}

bool makeRange(Instance &instance, mlir::Operation *op) {
  Tile result = Tile::filled({}, shapeFor(op->getResult(0).getType()), 0);
  const uint32_t start = mlir::cast<tile::MakeRangeOp>(op).getStart();
  for (size_t i = 0; i < result.size(); ++i) {
    result.at(i) = static_cast<uint32_t>(start + i);
  }
  return instance.finish(op, std::move(result));
}

bool splat(Instance &instance, mlir::Operation *op) {
  const Tile &source = instance.operand(op, 0);
  return instance.finish(
      op, Tile::filled(source.type, shapeFor(op->getResult(0).getType()), source[0]));
}

bool unsplat(Instance &instance, mlir::Operation *op) {
  const Tile &source = instance.operand(op, 0);
  return instance.finish(op, Tile::scalar(source.type, source[0]));
}

/// expand_dims and reshape: the same elements in the same order.
bool reshape(Instance &instance, mlir::Operation *op) {
  Tile result = instance.operand(op, 0);
  result.shape = shapeFor(op->getResult(0).getType());
  return instance.finish(op, std::move(result));
}

/// Row-major strides in elements.
llvm::SmallVector<int64_t> rowMajorStrides(llvm::ArrayRef<int64_t> shape) {
  llvm::SmallVector<int64_t> strides(shape.size(), 1);
  for (size_t i = shape.size(); i > 1; --i) {
    strides[i - 2] = strides[i - 1] * shape[i - 1];
  }
  return strides;
}

/// Element (i0, i1, …) of the result is the source's at sum(i * strides).
Tile gatherByStrides(const Tile &source, Shape shape, llvm::ArrayRef<int64_t> strides) {
  Tile result = Tile::unset(source.type, std::move(shape));
  uint64_t *to = result.words.begin(), *const end = result.words.end();
  const uint64_t *from = source.words.begin();
  // A row is a loop of its own.
  const size_t outer = strides.empty() ? 0 : strides.size() - 1;
  const int64_t length = strides.empty() ? 1 : result.shape[outer];
  const int64_t step = strides.empty() ? 0 : strides[outer];
  llvm::SmallVector<int64_t> at(outer, 0);
  while (to != end) {
    for (int64_t i = 0; i < length; ++i) {
      *to++ = from[i * step];
    }
    for (size_t axis = outer; axis > 0; --axis) {
      from += strides[axis - 1];
      if (++at[axis - 1] < result.shape[axis - 1]) {
        break;
      }
      from -= at[axis - 1] * strides[axis - 1];
      at[axis - 1] = 0;
    }
  }
  return result;
}

bool broadcast(Instance &instance, mlir::Operation *op) {
  const Tile &source = instance.operand(op, 0);
  llvm::SmallVector<int64_t> strides = rowMajorStrides(source.shape);
  for (size_t axis = 0; axis < strides.size(); ++axis) {
    if (source.shape[axis] == 1) {
      strides[axis] = 0;
    }
  }
  return instance.finish(op,
                         gatherByStrides(source, shapeFor(op->getResult(0).getType()), strides));
}

bool transpose(Instance &instance, mlir::Operation *op) {
  const Tile &source = instance.operand(op, 0);
  llvm::SmallVector<int64_t> sourceStrides = rowMajorStrides(source.shape), strides;
  for (int32_t axis : mlir::cast<tile::TransOp>(op).getOrder()) {
    strides.push_back(sourceStrides[axis]);
  }
  return instance.finish(op,
                         gatherByStrides(source, shapeFor(op->getResult(0).getType()), strides));
}

bool join(Instance &instance, mlir::Operation *op) {
  const Tile &left = instance.operand(op, 0), &right = instance.operand(op, 1);
  Tile result = Tile::filled(left.type, shapeFor(op->getResult(0).getType()), 0);
  for (size_t i = 0, n = left.size(); i < n; ++i) {
    result.at(2 * i) = left[i];
    result.at(2 * i + 1) = right[i];
  }
  return instance.finish(op, std::move(result));
}

bool split(Instance &instance, mlir::Operation *op) {
  const Tile source = instance.operand(op, 0);
  for (size_t half = 0; half < 2; ++half) {
    Tile result = Tile::filled(source.type, shapeFor(op->getResult(half).getType()), 0);
    for (size_t i = 0, n = result.size(); i < n; ++i) {
      result.at(i) = source[2 * i + half];
    }
    instance.set(op->getResult(half), std::move(result));
  }
  return true;
}

} // namespace

void addShapeHandlers(HandlerTable &table) {
  table.add<arith::ConstantOp>(constant);
  table.add<tile::ProgramIdOp>(programId);
  table.add<tile::NumProgramsOp>(numPrograms);
  table.add<tile::MakeRangeOp>(makeRange);
  table.add<tile::SplatOp>(splat);
  table.add<tile::UnsplatOp>(unsplat);
  table.add<tile::ExpandDimsOp>(reshape);
  table.add<tile::ReshapeOp>(reshape);
  table.add<tile::BroadcastOp>(broadcast);
  table.add<tile::TransOp>(transpose);
  table.add<tile::JoinOp>(join);
  table.add<tile::SplitOp>(split);
}

} // namespace nereid::interpreter
