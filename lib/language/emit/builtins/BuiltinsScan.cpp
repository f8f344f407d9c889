// SPDX-License-Identifier: Apache-2.0
// Reductions and scans whose combination is a function of the kernel's own: it is elaborated on
// scalars in the operation's region. Several tiles of one shape combine as one tuple.
#include "lib/language/emit/builtins/Reduction.h"

namespace nereid::language::emit {

/// The tiles given, alone or as a tuple.
struct CombinedInputs {
  std::vector<Value> tiles;
  bool isTuple = false;
};

static std::optional<CombinedInputs> inputsOf(Emitter &emitter, const Value &given,
                                              const std::string &name) {
  CombinedInputs inputs;
  inputs.isTuple = given.isTuple();
  for (const Value &each : given.isTuple() ? given.elements : std::vector<Value>{given}) {
    Value tile = emitter.tiles.toTile(each);
    if (tile.isPoison()) {
      return std::nullopt;
    }
    if (!tile.isBlock() || tile.isPointer()) {
      emitter.report.error("E0215",
                           "'" + name + "' expects tiles of numbers, but got " + describe(each));
      return std::nullopt;
    }
    if (!inputs.tiles.empty() && tile.tileType.shape != inputs.tiles[0].tileType.shape) {
      emitter.report
          .error("E0213", "'" + name + "' expects tiles of one shape, but got " +
                              shapeText(inputs.tiles[0].tileType.shape) + " and " +
                              shapeText(tile.tileType.shape))
          .withHelp("bring them to one shape with tl.broadcast_to");
      return std::nullopt;
    }
    inputs.tiles.push_back(std::move(tile));
  }
  if (inputs.tiles.empty()) {
    emitter.report.error("E0229",
                         "'" + name + "' expects at least one tile, but got an empty tuple");
    return std::nullopt;
  }
  return inputs;
}

/// One result of the function as a scalar of the element's type.
static Value combinedElement(Emitter &emitter, const Value &value, ElementType type,
                             const std::string &function) {
  if (value.isWeak() && (value.isWhole() || isFloat(type.dtype))) {
    return emitter.tiles.cast(value, type);
  }
  Value result = value.isNumber() ? emitter.tiles.toTile(value) : value;
  if (result.isPoison() || (result.isTile() && result.tileType == TileType{type, {}})) {
    return result;
  }
  return emitter.report.fail("E0204",
                             "'" + function + "' combines elements of type " + typeText(type) +
                                 " and must return one, but returns " + describe(result),
                             "convert the elements before, or the result inside '" + function +
                                 "', so that both have one type");
}

static std::vector<Value> callCombine(Emitter &emitter, const Value &function,
                                      const std::vector<Value> &first,
                                      const std::vector<Value> &second) {
  std::vector<Argument> arguments;
  for (const std::vector<Value> *group : {&first, &second}) {
    for (const Value &element : *group) {
      arguments.push_back({"", element, nullptr});
    }
  }
  bool isBuiltin = function.kind == Value::Kind::Builtin;
  Value returned = isBuiltin
                       ? emitter.evaluation.callBuiltin(*function.builtin, std::move(arguments), {})
                       : emitter.evaluation.callFunction(function, std::move(arguments));
  if (returned.isPoison()) {
    return {returned};
  }
  std::string name = isBuiltin ? std::string(function.builtin->name) : function.function->name;
  std::vector<Value> values = returned.isTuple() ? returned.elements : std::vector<Value>{returned};
  if (values.size() != first.size()) {
    return {emitter.report.fail("E0217", "'" + name + "' combines " + std::to_string(first.size()) +
                                             " values and must return as many, but returns " +
                                             describe(returned))};
  }
  for (size_t i = 0; i < values.size(); ++i) {
    values[i] = combinedElement(emitter, values[i], first[i].tileType.element, name);
  }
  return values;
}

static bool checkFunction(Emitter &emitter, const Value &function, const std::string &name) {
  bool isCallable = function.kind == Value::Kind::Function ||
                    (function.kind == Value::Kind::Builtin && function.builtin->function);
  if (!isCallable) {
    emitter.report
        .error("E0224",
               "'combine_fn' of '" + name + "' expects a function, but got " + describe(function))
        .withHelp(
            "write a function of two elements, decorated with @triton.jit, and pass its name");
  }
  return isCallable;
}

Value reduceBuiltin(Emitter &emitter, const Bound &args) {
  std::optional<CombinedInputs> inputs = inputsOf(emitter, args["input"], "reduce");
  const Value &function = args["combine_fn"];
  if (!inputs || !checkFunction(emitter, function, "reduce")) {
    return Value::poison();
  }
  std::optional<Reduction> reduction =
      reductionOf(emitter, inputs->tiles[0], args["axis"], args["keep_dims"], "reduce");
  if (!reduction) {
    return Value::poison();
  }
  std::vector<Value> sources = {reduction->input};
  for (size_t i = 1; i < inputs->tiles.size(); ++i) {
    sources.push_back(emitter.tiles.reshapeTo(inputs->tiles[i], reduction->input.tileType.shape));
  }
  std::vector<Value> results = emitReduce(
      emitter, *reduction, sources, [&](const std::vector<Value> &a, const std::vector<Value> &b) {
        return callCombine(emitter, function, a, b);
      });
  if (results[0].isPoison()) {
    return results[0];
  }
  return inputs->isTuple ? Value::tuple(std::move(results)) : results[0];
}

Value associativeScan(Emitter &emitter, const Bound &args) {
  const std::string name = "associative_scan";
  std::optional<CombinedInputs> inputs = inputsOf(emitter, args["input"], name);
  const Value &function = args["combine_fn"];
  std::optional<bool> isReverse =
      emitter.constants.flag(args["reverse"], "'reverse' of 'associative_scan'");
  if (!inputs || !isReverse || !checkFunction(emitter, function, name)) {
    return Value::poison();
  }
  if (args["axis"].isNone()) {
    return emitter.report.fail("E0215",
                               "'axis' of 'associative_scan' expects a dimension, but got None");
  }
  std::optional<Reduction> along =
      reductionOf(emitter, inputs->tiles[0], args["axis"], Value::boolean(false), name);
  if (!along) {
    return Value::poison();
  }
  std::vector<mlir::Type> types;
  std::vector<mlir::Value> operands;
  for (const Value &source : inputs->tiles) {
    types.push_back(emitter.tiles.mlirType(source.tileType));
    operands.push_back(source.ssa);
  }
  auto op = emitter.tiles.create<tile::ScanOp>(types, operands, static_cast<uint32_t>(along->axis),
                                               *isReverse);
  bool isFilled = fillCombineRegion(emitter, op.getCombine(), inputs->tiles,
                                    [&](const std::vector<Value> &a, const std::vector<Value> &b) {
                                      return callCombine(emitter, function, a, b);
                                    });
  if (!isFilled) {
    return Value::poison();
  }
  std::vector<Value> results;
  for (unsigned i = 0; i < inputs->tiles.size(); ++i) {
    const Value &source = inputs->tiles[i];
    results.push_back(Value::tile(op.getResults()[i], source.tileType, source.origins));
  }
  return inputs->isTuple ? Value::tuple(std::move(results)) : results[0];
}

} // namespace nereid::language::emit
