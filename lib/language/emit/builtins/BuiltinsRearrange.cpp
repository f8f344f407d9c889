// SPDX-License-Identifier: Apache-2.0
// Builtins that move elements between tiles or count them: join, split, cat, gather, histogram.
#include "lib/language/emit/Emitter.h"

namespace nereid::language::emit {

/// Both operands as tiles of one element type; E0204 otherwise. A literal takes the other's type.
static bool bindPair(Emitter &emitter, const Bound &args, const char *first, const char *second,
                     const std::string &name, Value &a, Value &b) {
  a = args[first];
  b = args[second];
  if (a.isWeak() && b.isTile() && !b.isPointer()) {
    a = emitter.tiles.cast(a, b.tileType.element);
  } else if (b.isWeak() && a.isTile() && !a.isPointer()) {
    b = emitter.tiles.cast(b, a.tileType.element);
  }
  a = emitter.tiles.toTile(a);
  b = emitter.tiles.toTile(b);
  if (a.isPoison() || b.isPoison()) {
    return false;
  }
  if (!(a.tileType.element == b.tileType.element)) {
    emitter.report
        .error("E0204", "'" + name + "' expects operands of one type, but got " + describe(a) +
                            " and " + describe(b))
        .withHelp("convert one of them, e.g. with .to(other.dtype)");
    return false;
  }
  return true;
}

static Value joined(Emitter &emitter, const Value &a, const Value &b) {
  TileType type = a.tileType;
  type.shape.push_back(2);
  if (!emitter.tiles.checkShape(type.shape)) {
    return Value::poison();
  }
  Origins origins = a.origins;
  origins.push_back(nullptr);
  return Value::tile(emitter.tiles.make<tile::JoinOp>(emitter.tiles.mlirType(type), a.ssa, b.ssa),
                     type, origins);
}

Value joinBuiltin(Emitter &emitter, const Bound &args) {
  Value a, b;
  if (!bindPair(emitter, args, "a", "b", "join", a, b) || !emitter.tiles.broadcastPair(a, b)) {
    return Value::poison();
  }
  if (a.isBlock()) {
    return joined(emitter, a, b);
  }
  Value pair = joined(emitter, emitter.tiles.splat(a, {1}), emitter.tiles.splat(b, {1}));
  return emitter.tiles.reshapeTo(pair, {2});
}

Value splitBuiltin(Emitter &emitter, const Bound &args) {
  Value source = emitter.tiles.toTile(args["a"]);
  if (source.isPoison()) {
    return source;
  }
  if (!source.isBlock() || source.tileType.shape.back() != 2) {
    return emitter.report.fail(
        "E0215", "'split' expects a tile whose last dimension is 2, but got " + describe(source),
        "bring the dimension to the end with tl.permute, or make it with tl.reshape");
  }
  bool isVector = source.tileType.shape.size() == 1;
  if (isVector) { // its halves are scalars
    source = emitter.tiles.expandDim(source, 0);
  }
  TileType type = source.tileType;
  type.shape.pop_back();
  mlir::Type half = emitter.tiles.mlirType(type);
  auto op = emitter.tiles.create<tile::SplitOp>(half, half, source.ssa);
  Origins origins = source.origins;
  origins.pop_back();
  std::vector<Value> halves;
  for (mlir::Value each : {op.getLeft(), op.getRight()}) {
    Value value = Value::tile(each, type, origins);
    halves.push_back(isVector ? emitter.tiles.reshapeTo(value, {}) : value);
  }
  return Value::tuple(std::move(halves));
}

/// One tile behind the other. The elements keep their order even where they may lose it.
Value catBuiltin(Emitter &emitter, const Bound &args) {
  Value a, b;
  std::optional<int64_t> dim = emitter.constants.integer(args["dim"], "'dim' of 'cat'");
  std::optional<bool> mayReorder =
      emitter.constants.flag(args["can_reorder"], "'can_reorder' of 'cat'");
  if (!dim || !mayReorder || !bindPair(emitter, args, "input", "other", "cat", a, b)) {
    return Value::poison();
  }
  if (!a.isBlock() || a.tileType.shape != b.tileType.shape) {
    return emitter.report.fail("E0215",
                               "'cat' expects two tiles of one shape, but got " + describe(a) +
                                   " and " + describe(b),
                               "sizes of tiles are powers of two, so only equal ones add up");
  }
  auto rank = static_cast<int64_t>(a.tileType.shape.size());
  if (*dim < -rank || *dim >= rank) {
    return emitter.report.fail("E0215", "'dim' of 'cat' is " + std::to_string(*dim) +
                                            ", but the tile " + typeText(a.tileType) + " has " +
                                            std::to_string(rank) +
                                            (rank == 1 ? " dimension" : " dimensions"));
  }
  int64_t axis = *dim < 0 ? *dim + rank : *dim;
  Value pair = joined(emitter, a, b);
  if (pair.isPoison()) {
    return pair;
  }
  // The dimension that tells the two apart goes in front of the one that grows.
  std::vector<int32_t> order;
  TileType turned{a.tileType.element, {}};
  for (int64_t i = 0; i < rank; ++i) {
    if (i == axis) {
      order.push_back(static_cast<int32_t>(rank));
      turned.shape.push_back(2);
    }
    order.push_back(static_cast<int32_t>(i));
    turned.shape.push_back(a.tileType.shape[static_cast<size_t>(i)]);
  }
  Value stacked =
      Value::tile(emitter.tiles.make<tile::TransOp>(emitter.tiles.mlirType(turned), pair.ssa,
                                                    llvm::ArrayRef<int32_t>(order)),
                  turned);
  Shape shape = a.tileType.shape;
  shape[static_cast<size_t>(axis)] *= 2;
  Value result = emitter.tiles.reshapeTo(stacked, shape);
  for (size_t i = 0; i < shape.size(); ++i) {
    result.origins[i] = static_cast<int64_t>(i) == axis ? nullptr : a.origins[i];
  }
  return result;
}

Value gatherBuiltin(Emitter &emitter, const Bound &args) {
  Value source = emitter.tiles.toTile(args["src"]), index = emitter.tiles.toTile(args["index"]);
  std::optional<int64_t> axis = emitter.constants.integer(args["axis"], "'axis' of 'gather'");
  if (source.isPoison() || index.isPoison() || !axis) {
    return Value::poison();
  }
  if (index.isPointer() || isFloat(index.tileType.element.dtype)) {
    return emitter.report.fail("E0204",
                               "'index' of 'gather' expects integers, but got " + describe(index),
                               "convert with .to(tl.int32)");
  }
  const Shape &from = source.tileType.shape, &at = index.tileType.shape;
  auto rank = static_cast<int64_t>(from.size());
  if (!source.isBlock() || from.size() != at.size()) {
    return emitter.report.fail("E0215",
                               "'gather' expects a tile and an index tile of one rank, but got " +
                                   describe(source) + " and " + describe(index));
  }
  if (*axis < -rank || *axis >= rank) {
    return emitter.report.fail("E0215", "'axis' of 'gather' is " + std::to_string(*axis) +
                                            ", but the tile " + typeText(source.tileType) +
                                            " has " + std::to_string(rank) +
                                            (rank == 1 ? " dimension" : " dimensions"));
  }
  int64_t along = *axis < 0 ? *axis + rank : *axis;
  for (size_t i = 0; i < from.size(); ++i) {
    if (static_cast<int64_t>(i) != along && from[i] != at[i]) {
      return emitter.report.fail("E0215",
                                 "'gather' along dimension " + std::to_string(along) +
                                     " expects equal sizes in all others, but got " +
                                     shapeText(from) + " and " + shapeText(at) + ": dimension " +
                                     std::to_string(i) + " is " + std::to_string(from[i]) +
                                     " and " + std::to_string(at[i]),
                                 "bring the index to the shape with tl.broadcast_to");
    }
  }
  DType indexType = index.tileType.element.dtype;
  if (isUnsigned(indexType) || indexType == DType::Bool) {
    // Tile IR has no signs: a large unsigned index must not become a negative one.
    index = emitter.tiles.cast(index, {bitWidth(indexType) < 32 ? DType::I32 : DType::I64, false});
  }
  TileType type{source.tileType.element, at};
  mlir::Value ssa = emitter.tiles.make<tile::GatherOp>(emitter.tiles.mlirType(type), source.ssa,
                                                       index.ssa, static_cast<uint32_t>(along));
  return Value::tile(ssa, type, index.origins);
}

Value histogramBuiltin(Emitter &emitter, const Bound &args) {
  Value source = emitter.tiles.toTile(args["input"]);
  std::optional<int64_t> bins =
      emitter.constants.integer(args["num_bins"], "'num_bins' of 'histogram'");
  if (source.isPoison() || !bins) {
    return Value::poison();
  }
  ElementType element = source.tileType.element;
  if (element.isPointer || isFloat(element.dtype)) {
    return emitter.report.fail("E0204", "'histogram' counts integers, but got " + describe(source),
                               "convert with .to(tl.int32)");
  }
  if (source.tileType.shape.size() != 1) {
    return emitter.report.fail("E0215",
                               "'histogram' expects a tile of rank 1, but got " + describe(source),
                               "flatten it with tl.ravel");
  }
  TileType type{{DType::I32, false}, {*bins}};
  if (!emitter.tiles.checkShape(type.shape)) {
    return Value::poison();
  }
  if ((isUnsigned(element.dtype) || element.dtype == DType::Bool) && bitWidth(element.dtype) < 32) {
    source =
        emitter.tiles.cast(source, {DType::I32, false}); // 200 in eight bits is no negative number
  }
  Value mask;
  if (!args["mask"].isNone()) {
    mask = emitter.tiles.broadcastTo(emitter.tiles.truth(args["mask"]), source.tileType.shape,
                                     source.origins);
    if (mask.isPoison()) {
      return mask;
    }
  }
  mlir::Value ssa =
      emitter.tiles.make<tile::HistogramOp>(emitter.tiles.mlirType(type), source.ssa, mask.ssa);
  return Value::tile(ssa, type, {emitter.position.origin(args.expr("num_bins"), *bins)});
}

} // namespace nereid::language::emit
