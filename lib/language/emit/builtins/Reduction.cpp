// SPDX-License-Identifier: Apache-2.0
// Builds tile.reduce and the combining regions of reductions and scans.
#include "lib/language/emit/builtins/Reduction.h"

namespace nereid::language::emit {

std::optional<Reduction> reductionOf(Emitter &emitter, const Value &input, const Value &axis,
                                     const Value &keepDims, const std::string &name) {
  Reduction reduction;
  reduction.input = emitter.tiles.toTile(input);
  if (reduction.input.isPoison()) {
    return std::nullopt;
  }
  if (!reduction.input.isBlock() || reduction.input.isPointer()) {
    emitter.report
        .error("E0215", "'" + name + "' expects a tile of numbers, but got " + describe(input))
        .withHelp("to combine two values use tl.maximum, tl.minimum or +");
    return std::nullopt;
  }
  std::optional<bool> keep = emitter.constants.flag(keepDims, "'keep_dims' of '" + name + "'");
  if (!keep) {
    return std::nullopt;
  }
  reduction.keepDims = *keep;
  reduction.rank = reduction.input.tileType.shape.size();
  auto rank = static_cast<int64_t>(reduction.rank);
  if (axis.isNone()) {
    reduction.isWhole = true;
    reduction.input =
        emitter.tiles.reshapeTo(reduction.input, {reduction.input.tileType.elementCount()});
    return reduction;
  }
  std::optional<int64_t> at = emitter.constants.integer(axis, "'axis' of '" + name + "'");
  if (!at) {
    return std::nullopt;
  }
  if (*at < -rank || *at >= rank) {
    emitter.report.error("E0215", "'axis' of '" + name + "' is " + std::to_string(*at) +
                                      ", but the tile " + typeText(reduction.input.tileType) +
                                      " has " + std::to_string(rank) +
                                      (rank == 1 ? " dimension" : " dimensions"));
    return std::nullopt;
  }
  reduction.axis = *at < 0 ? *at + rank : *at;
  return reduction;
}

static Value restoreDims(Emitter &emitter, const Reduction &reduction, Value result) {
  if (!reduction.keepDims) {
    return result;
  }
  if (reduction.isWhole) {
    return emitter.tiles.splat(result, Shape(reduction.rank, 1));
  }
  return emitter.tiles.expandDim(result, reduction.axis);
}

bool fillCombineRegion(Emitter &emitter, mlir::Region &region, const std::vector<Value> &sources,
                       const Combine &combine) {
  mlir::OpBuilder &builder = emitter.tiles.builder;
  mlir::OpBuilder::InsertionGuard guard(builder);
  mlir::Location place = emitter.tiles.location();
  std::vector<mlir::Type> types;
  for (int group = 0; group < 2; ++group) {
    for (const Value &source : sources) {
      types.push_back(emitter.tiles.mlirType(source.tileType.element));
    }
  }
  std::vector<mlir::Location> places(types.size(), place);
  mlir::Block *body = builder.createBlock(&region, {}, types, places);
  std::vector<Value> first, second;
  auto count = static_cast<unsigned>(sources.size());
  for (unsigned i = 0; i < count; ++i) {
    TileType scalar{sources[i].tileType.element, {}};
    first.push_back(Value::tile(body->getArgument(i), scalar));
    second.push_back(Value::tile(body->getArgument(i + count), scalar));
  }
  std::vector<mlir::Value> returned;
  for (const Value &value : combine(first, second)) {
    if (value.isPoison()) {
      return false;
    }
    returned.push_back(value.ssa);
  }
  builder.create<tile::CombineReturnOp>(place, mlir::ValueRange(returned));
  return true;
}

std::vector<Value> emitReduce(Emitter &emitter, const Reduction &reduction,
                              const std::vector<Value> &sources, const Combine &combine) {
  std::vector<mlir::Type> resultTypes;
  std::vector<mlir::Value> operands;
  std::vector<TileType> types;
  Origins origins = sources[0].origins;
  origins.erase(origins.begin() + reduction.axis);
  for (const Value &source : sources) {
    TileType type = source.tileType;
    type.shape.erase(type.shape.begin() + reduction.axis);
    types.push_back(type);
    resultTypes.push_back(emitter.tiles.mlirType(type));
    operands.push_back(source.ssa);
  }
  auto op = emitter.tiles.create<tile::ReduceOp>(resultTypes, operands,
                                                 static_cast<uint32_t>(reduction.axis));
  if (!fillCombineRegion(emitter, op.getCombine(), sources, combine)) {
    return std::vector<Value>(sources.size(), Value::poison());
  }
  std::vector<Value> results;
  for (unsigned i = 0; i < sources.size(); ++i) {
    results.push_back(
        restoreDims(emitter, reduction, Value::tile(op.getResults()[i], types[i], origins)));
  }
  return results;
}

} // namespace nereid::language::emit
