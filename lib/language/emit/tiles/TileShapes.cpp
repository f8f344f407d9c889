// SPDX-License-Identifier: Apache-2.0
// Shapes of run-time values: splats, broadcasts, reshapes, and which sizes a tile may have.
#include "lib/language/emit/tiles/TileBuilder.h"

#include "mlir/IR/Matchers.h"

namespace nereid::language::emit {

/// Upstream's limit on the elements of one tile.
static constexpr int64_t maxTileElements = 1048576;

Value TileBuilder::splat(const Value &scalar, llvm::ArrayRef<int64_t> shape, Origins origins) {
  Value source = toTile(scalar);
  if (source.isPoison() || shape.empty()) {
    return source;
  }
  TileType target{source.tileType.element, Shape(shape.begin(), shape.end())};
  mlir::Type type = mlirType(target);
  mlir::Attribute attribute;
  if (mlir::matchPattern(source.ssa, mlir::m_Constant(&attribute))) {
    auto dense = mlir::DenseElementsAttr::get(llvm::cast<mlir::RankedTensorType>(type), attribute);
    return Value::tile(builder.create<mlir::arith::ConstantOp>(location(), dense), target, origins);
  }
  return Value::tile(make<tile::SplatOp>(type, source.ssa), target, origins);
}

Value TileBuilder::expandDim(const Value &value, int64_t axis) {
  Value source = toTile(value);
  if (source.isPoison()) {
    return source;
  }
  if (!source.isBlock()) {
    return splat(source, {1});
  }
  TileType target = source.tileType;
  target.shape.insert(target.shape.begin() + axis, 1);
  Origins origins = source.origins;
  origins.insert(origins.begin() + axis, nullptr);
  mlir::Value ssa =
      make<tile::ExpandDimsOp>(mlirType(target), source.ssa, static_cast<uint32_t>(axis));
  return Value::tile(ssa, target, origins);
}

Value TileBuilder::broadcastTo(const Value &value, llvm::ArrayRef<int64_t> shape, Origins origins) {
  Value source = toTile(value);
  if (source.isPoison() || llvm::ArrayRef<int64_t>(source.tileType.shape) == shape) {
    return source;
  }
  if (!source.isBlock()) {
    return splat(source, shape, origins);
  }
  while (source.tileType.shape.size() < shape.size()) {
    source = expandDim(source, 0);
  }
  bool isPossible = source.tileType.shape.size() == shape.size();
  origins.resize(shape.size(), nullptr);
  for (size_t i = 0; isPossible && i < shape.size(); ++i) {
    isPossible = source.tileType.shape[i] == shape[i] || source.tileType.shape[i] == 1;
    if (source.tileType.shape[i] != 1) {
      origins[i] = source.origins[i];
    }
  }
  if (!isPossible) {
    return report.fail(
        "E0213", "cannot broadcast " + shapeText(value.tileType.shape) + " to " + shapeText(shape),
        "sizes must be equal or 1, aligned at the last dimension");
  }
  TileType target{source.tileType.element, Shape(shape.begin(), shape.end())};
  if (target == source.tileType) {
    return source;
  }
  return Value::tile(make<tile::BroadcastOp>(mlirType(target), source.ssa), target, origins);
}

bool TileBuilder::broadcastPair(Value &a, Value &b) {
  if (a.tileType.shape == b.tileType.shape) {
    return true;
  }
  const Shape &left = a.tileType.shape, &right = b.tileType.shape;
  size_t rank = std::max(left.size(), right.size());
  Shape shape(rank, 1);
  Origins origins(rank, nullptr);
  for (size_t i = 0; i < rank; ++i) {
    int64_t sizeA = i + left.size() < rank ? 1 : left[i + left.size() - rank];
    int64_t sizeB = i + right.size() < rank ? 1 : right[i + right.size() - rank];
    if (sizeA != sizeB && sizeA != 1 && sizeB != 1) {
      report
          .error("E0213", "shapes do not broadcast: " + shapeText(left) + " and " +
                              shapeText(right) + " differ in dimension " + std::to_string(i) +
                              ", " + std::to_string(sizeA) + " and " + std::to_string(sizeB))
          .withHelp("sizes must be equal or 1; make dimensions of size 1 with x[:, None] or "
                    "x[None, :]");
      return false;
    }
    shape[i] = std::max(sizeA, sizeB);
    bool isFromA = sizeA == shape[i] && a.isBlock() && i + left.size() >= rank;
    origins[i] = isFromA                                     ? a.origins[i + left.size() - rank]
                 : (b.isBlock() && i + right.size() >= rank) ? b.origins[i + right.size() - rank]
                                                             : nullptr;
  }
  if (!checkShape(shape)) {
    return false;
  }
  a = broadcastTo(a, shape, origins);
  b = broadcastTo(b, shape, origins);
  return !a.isPoison() && !b.isPoison();
}

Value TileBuilder::reshapeTo(const Value &value, llvm::ArrayRef<int64_t> shape) {
  Value source = toTile(value);
  if (source.isPoison()) {
    return source;
  }
  TileType target{source.tileType.element, Shape(shape.begin(), shape.end())};
  if (target.elementCount() != source.tileType.elementCount()) {
    return report.fail("E0215", "cannot reshape " + shapeText(source.tileType.shape) + " with " +
                                    std::to_string(source.tileType.elementCount()) +
                                    " elements to " + shapeText(shape) + " with " +
                                    std::to_string(target.elementCount()));
  }
  if (target == source.tileType) {
    return source;
  }
  if (!source.isBlock()) {
    return splat(source, shape);
  }
  if (!target.isBlock()) {
    return Value::tile(make<tile::UnsplatOp>(mlirType(target), source.ssa), target);
  }
  return Value::tile(make<tile::ReshapeOp>(mlirType(target), source.ssa), target);
}

bool TileBuilder::checkShape(llvm::ArrayRef<int64_t> shape) {
  int64_t count = 1;
  for (size_t i = 0; i < shape.size(); ++i) {
    int64_t size = shape[i];
    if (size <= 0 || (size & (size - 1)) != 0) {
      report
          .error("E0215", "a tile's sizes are powers of two, but dimension " + std::to_string(i) +
                              " of " + shapeText(shape) + " is " + std::to_string(size))
          .withHelp("round it up with triton.next_power_of_2 and mask what is too much");
      return false;
    }
    if (size > maxTileElements || (count *= size) > maxTileElements) {
      report
          .error("E0215", "a tile of " + shapeText(shape) + " has more than " +
                              std::to_string(maxTileElements) + " elements")
          .withHelp("use a smaller block and loop over it");
      return false;
    }
  }
  return true;
}

bool TileBuilder::broadcastAll(std::vector<Value> &values) {
  // Each pair widens to what both reach; the second round gives all the widest shape.
  for (int round = 0; round < 2; ++round) {
    for (size_t i = 1; i < values.size(); ++i) {
      if (!broadcastPair(values[0], values[i])) {
        return false;
      }
    }
  }
  return true;
}

} // namespace nereid::language::emit
