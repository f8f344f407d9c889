// SPDX-License-Identifier: Apache-2.0
// tl.map_elementwise: a function of elements, applied to tiles. It is elaborated once, on whole
// tiles, as its operators already work on each element and its conditions choose element by
// element. With `pack`, neighbours along the last dimension are the arguments of one call.
#include "lib/language/emit/Emitter.h"

namespace nereid::language::emit {

/// The tiles of every pack-th element along the last dimension, from the first, second, … on.
static std::vector<Value> unpacked(Emitter &emitter, const Value &tile, int64_t pack) {
  if (pack == 1) {
    return {tile};
  }
  Shape pairs = tile.tileType.shape;
  pairs.back() /= 2;
  TileType half{tile.tileType.element, pairs};
  pairs.push_back(2);
  Value source = emitter.tiles.reshapeTo(tile, pairs);
  mlir::Type type = emitter.tiles.mlirType(half);
  auto split = emitter.tiles.create<tile::SplitOp>(type, type, source.ssa);
  std::vector<Value> even = unpacked(emitter, Value::tile(split->getResult(0), half), pack / 2);
  std::vector<Value> odd = unpacked(emitter, Value::tile(split->getResult(1), half), pack / 2);
  std::vector<Value> all;
  for (size_t i = 0; i < even.size(); ++i) {
    all.push_back(std::move(even[i]));
    all.push_back(std::move(odd[i]));
  }
  return all;
}

/// The reverse of `unpacked`.
static Value packed(Emitter &emitter, llvm::ArrayRef<Value> tiles) {
  if (tiles.size() == 1) {
    return tiles[0];
  }
  std::vector<Value> even, odd;
  for (size_t i = 0; i < tiles.size(); i += 2) {
    even.push_back(tiles[i]);
    odd.push_back(tiles[i + 1]);
  }
  Value left = packed(emitter, even), right = packed(emitter, odd);
  TileType pair = left.tileType;
  pair.shape.push_back(2);
  Value joined = Value::tile(
      emitter.tiles.make<tile::JoinOp>(emitter.tiles.mlirType(pair), left.ssa, right.ssa), pair);
  Shape shape = left.tileType.shape;
  shape.back() *= 2;
  return emitter.tiles.reshapeTo(joined, shape);
}

/// The function's results for tiles of one shape, each broadcast to it. False after an error.
static bool apply(Emitter &emitter, const Value &function, const std::vector<Value> &operands,
                  std::vector<Value> &results, bool &isTuple) {
  std::vector<Argument> arguments;
  for (const Value &operand : operands) {
    arguments.push_back({"", operand, nullptr});
  }
  const bool wasElementwise = emitter.frame().isElementwise;
  emitter.frame().isElementwise = true;
  Value returned = emitter.evaluation.callFunction(function, std::move(arguments));
  emitter.frame().isElementwise = wasElementwise;
  if (returned.isPoison()) {
    return false;
  }
  isTuple = returned.isTuple();
  results = isTuple ? returned.elements : std::vector<Value>{returned};
  for (Value &result : results) {
    result = emitter.tiles.broadcastTo(emitter.tiles.toTile(result), operands[0].tileType.shape,
                                       operands[0].origins);
    if (result.isPoison()) {
      return false;
    }
  }
  return true;
}

Value mapElementwise(Emitter &emitter, const Bound &args) {
  const Value &function = args["scalar_fn"];
  if (function.kind != Value::Kind::Function) {
    return emitter.report.fail("E0224",
                               "'scalar_fn' of 'map_elementwise' expects a function, but got " +
                                   describe(function),
                               "write a function of elements, decorated with @triton.jit");
  }
  std::optional<int64_t> pack =
      emitter.constants.integer(args["pack"], "'pack' of 'map_elementwise'");
  std::vector<Value> operands;
  for (const Argument &argument : args.rest()) {
    operands.push_back(emitter.tiles.toTile(argument.value));
    if (operands.back().isPoison()) {
      return operands.back();
    }
  }
  if (operands.empty()) {
    return emitter.report.fail("E0229",
                               "'map_elementwise' expects at least one tile, but got none");
  }
  if (!pack || !emitter.tiles.broadcastAll(operands)) {
    return Value::poison();
  }
  const Shape shape = operands[0].tileType.shape;
  const bool isPower = *pack > 0 && (*pack & (*pack - 1)) == 0;
  if (!isPower || (*pack > 1 && (shape.empty() || shape.back() % *pack != 0))) {
    return emitter.report.fail(
        "E0229", "'pack' of 'map_elementwise' expects a power of two that divides the last "
                 "dimension, but got " +
                     std::to_string(*pack) + " for " + describe(operands[0]));
  }
  std::vector<Value> elements, results;
  for (const Value &operand : operands) {
    for (Value &part : unpacked(emitter, operand, *pack)) {
      elements.push_back(std::move(part));
    }
  }
  bool isTuple = false;
  if (!apply(emitter, function, elements, results, isTuple)) {
    return Value::poison();
  }
  const auto step = static_cast<size_t>(*pack);
  if (results.size() % step != 0) {
    return emitter.report.fail(
        "E0229", "the function of 'map_elementwise' returns " + std::to_string(results.size()) +
                     " values, but pack=" + std::to_string(*pack) + " expects a multiple of it");
  }
  std::vector<Value> tiles;
  for (size_t i = 0; i < results.size(); i += step) {
    tiles.push_back(packed(emitter, llvm::ArrayRef<Value>(results).slice(i, step)));
  }
  return isTuple && (tiles.size() > 1 || step == 1) ? Value::tuple(std::move(tiles)) : tiles[0];
}

} // namespace nereid::language::emit
