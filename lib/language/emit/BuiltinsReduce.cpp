// SPDX-License-Identifier: Apache-2.0
// Reductions: sum, max, min with or without indices, xor, or, and softmax on top of them. Types
// follow upstream: sums of small integers widen to 32 bits, max and min of 16-bit floats give f32.
#include "lib/language/emit/Emitter.h"

namespace nereid::language::emit {

using Combine = std::function<std::vector<Value>(const std::vector<Value> &first,
                                                 const std::vector<Value> &second)>;

/// The tile to reduce, its axis (none: all elements, the tile is flattened) and keep_dims.
struct Reduction {
  Value input;
  int64_t axis = 0;
  bool isWhole = false;
  bool keepDims = false;
  size_t rank = 0;
};

static std::optional<Reduction> reductionOf(Emitter &emitter, const Value &input, const Value &axis,
                                            const Value &keepDims, const std::string &name) {
  Reduction reduction;
  reduction.input = emitter.toTile(input);
  if (reduction.input.isPoison()) {
    return std::nullopt;
  }
  if (!reduction.input.isBlock() || reduction.input.isPointer()) {
    emitter.error("E0215", "'" + name + "' expects a tile of numbers, but got " + describe(input))
        .withHelp("to combine two values use tl.maximum, tl.minimum or +");
    return std::nullopt;
  }
  std::optional<bool> keep = emitter.constantBool(keepDims, "'keep_dims' of '" + name + "'");
  if (!keep) {
    return std::nullopt;
  }
  reduction.keepDims = *keep;
  reduction.rank = reduction.input.tileType.shape.size();
  auto rank = static_cast<int64_t>(reduction.rank);
  if (axis.isNone()) {
    reduction.isWhole = true;
    reduction.input = emitter.reshapeTo(reduction.input, {reduction.input.tileType.elementCount()});
    return reduction;
  }
  std::optional<int64_t> at = emitter.constantInteger(axis, "'axis' of '" + name + "'");
  if (!at) {
    return std::nullopt;
  }
  if (*at < -rank || *at >= rank) {
    emitter.error("E0215", "'axis' of '" + name + "' is " + std::to_string(*at) +
                               ", but the tile " + typeText(reduction.input.tileType) + " has " +
                               std::to_string(rank) + (rank == 1 ? " dimension" : " dimensions"));
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
    return emitter.splat(result, Shape(reduction.rank, 1));
  }
  return emitter.expandDim(result, reduction.axis);
}

static std::vector<Value> emitReduce(Emitter &emitter, const Reduction &reduction,
                                     const std::vector<Value> &sources, const Combine &combine) {
  std::vector<mlir::Type> resultTypes, scalarTypes;
  std::vector<mlir::Value> operands;
  std::vector<TileType> types;
  Origins origins = sources[0].origins;
  origins.erase(origins.begin() + reduction.axis);
  for (const Value &source : sources) {
    TileType type = source.tileType;
    type.shape.erase(type.shape.begin() + reduction.axis);
    types.push_back(type);
    resultTypes.push_back(emitter.mlirType(type));
    scalarTypes.push_back(emitter.mlirType(type.element));
    operands.push_back(source.ssa);
  }
  mlir::OpBuilder &builder = emitter.builder;
  mlir::Location place = emitter.location();
  auto op = builder.create<tile::ReduceOp>(place, resultTypes, operands,
                                           static_cast<uint32_t>(reduction.axis));
  std::vector<mlir::Type> blockTypes = scalarTypes;
  blockTypes.insert(blockTypes.end(), scalarTypes.begin(), scalarTypes.end());
  std::vector<mlir::Location> places(blockTypes.size(), place);
  mlir::Block *body = builder.createBlock(&op.getCombine(), {}, blockTypes, places);
  std::vector<Value> first, second;
  auto count = static_cast<unsigned>(sources.size());
  for (unsigned i = 0; i < count; ++i) {
    TileType scalar{types[i].element, {}};
    first.push_back(Value::tile(body->getArgument(i), scalar));
    second.push_back(Value::tile(body->getArgument(i + count), scalar));
  }
  std::vector<mlir::Value> returned;
  for (const Value &value : combine(first, second)) {
    returned.push_back(value.ssa);
  }
  builder.create<tile::CombineReturnOp>(place, mlir::ValueRange(returned));
  builder.setInsertionPointAfter(op);
  std::vector<Value> results;
  for (unsigned i = 0; i < count; ++i) {
    results.push_back(
        restoreDims(emitter, reduction, Value::tile(op.getResults()[i], types[i], origins)));
  }
  return results;
}

static Value reduceWith(Emitter &emitter, const Reduction &reduction,
                        const std::function<Value(const Value &, const Value &)> &combine) {
  return emitReduce(emitter, reduction, {reduction.input},
                    [&](const std::vector<Value> &a, const std::vector<Value> &b) {
                      return std::vector<Value>{combine(a[0], b[0])};
                    })[0];
}

static Value sumOf(Emitter &emitter, Reduction reduction, std::optional<ElementType> wanted) {
  DType type = reduction.input.tileType.element.dtype;
  if (!wanted && isInteger(type) && bitWidth(type) < 32) {
    wanted = ElementType{isUnsigned(type) ? DType::U32 : DType::I32, false};
  }
  if (wanted) {
    reduction.input = emitter.cast(reduction.input, *wanted);
  }
  return reduceWith(emitter, reduction,
                    [&](const Value &a, const Value &b) { return emitter.binary("+", a, b); });
}

Value sum(Emitter &emitter, const Bound &args) {
  std::optional<Reduction> reduction =
      reductionOf(emitter, args["input"], args["axis"], args["keep_dims"], "sum");
  std::optional<ElementType> wanted;
  if (!args["dtype"].isNone()) {
    wanted = emitter.constantType(args["dtype"], "'dtype' of 'sum'");
  }
  bool isTyped = args["dtype"].isNone() || wanted;
  return reduction && isTyped ? sumOf(emitter, *reduction, wanted) : Value::poison();
}

static Value extremumReduction(Emitter &emitter, Reduction reduction, bool isMax) {
  DType type = reduction.input.tileType.element.dtype;
  if (bitWidth(type) < 32) {
    reduction.input =
        emitter.cast(reduction.input, {isFloat(type) ? DType::F32 : DType::I32, false});
  }
  return reduceWith(emitter, reduction, [&](const Value &a, const Value &b) {
    return emitter.extremum(isMax, a, b, false);
  });
}

static Value indices(Emitter &emitter, const Reduction &reduction) {
  const Shape &shape = reduction.input.tileType.shape;
  int64_t size = shape[static_cast<size_t>(reduction.axis)];
  TileType type{{DType::I32, false}, {size}};
  Value index = Value::tile(
      emitter.make<tile::MakeRangeOp>(emitter.mlirType(type), 0u, static_cast<uint32_t>(size)),
      type);
  for (int64_t i = 0; i < static_cast<int64_t>(shape.size()); ++i) {
    if (i != reduction.axis) {
      index = emitter.expandDim(index, i);
    }
  }
  return emitter.broadcastTo(index, shape);
}

/// Value and position of the extremum. With tieBreakLeft the smaller index of equal values wins.
static std::vector<Value> extremumWithIndex(Emitter &emitter, Reduction reduction, bool isMax,
                                            bool tieBreakLeft) {
  if (reduction.input.tileType.element.dtype == DType::BF16) {
    reduction.input = emitter.cast(reduction.input, {DType::F32, false});
  }
  std::vector<Value> sources = {reduction.input, indices(emitter, reduction)};
  const char *better = isMax ? ">" : "<";
  return emitReduce(emitter, reduction, sources,
                    [&](const std::vector<Value> &a, const std::vector<Value> &b) {
                      Value isFirst = emitter.compare(better, a[0], b[0]);
                      if (tieBreakLeft) {
                        Value isTie = emitter.logical(true, emitter.compare("==", a[0], b[0]),
                                                      emitter.compare("<", a[1], b[1]));
                        isFirst = emitter.logical(false, isFirst, isTie);
                      }
                      return std::vector<Value>{emitter.select(isFirst, a[0], b[0]),
                                                emitter.select(isFirst, a[1], b[1])};
                    });
}

static Value extremumBuiltin(Emitter &emitter, const Bound &args, bool isMax) {
  std::string name = isMax ? "max" : "min";
  std::optional<Reduction> reduction =
      reductionOf(emitter, args["input"], args["axis"], args["keep_dims"], name);
  std::optional<bool> withIndices =
      emitter.constantBool(args["return_indices"], "'return_indices' of '" + name + "'");
  std::optional<bool> left = emitter.constantBool(args["return_indices_tie_break_left"],
                                                  "'return_indices_tie_break_left'");
  if (!reduction || !withIndices || !left) {
    return Value::poison();
  }
  return *withIndices ? Value::tuple(extremumWithIndex(emitter, *reduction, isMax, *left))
                      : extremumReduction(emitter, *reduction, isMax);
}

Value maxReduction(Emitter &emitter, const Bound &args) {
  return extremumBuiltin(emitter, args, true);
}

Value minReduction(Emitter &emitter, const Bound &args) {
  return extremumBuiltin(emitter, args, false);
}

static Value indexBuiltin(Emitter &emitter, const Bound &args, bool isMax) {
  std::string name = isMax ? "argmax" : "argmin";
  std::optional<Reduction> reduction =
      reductionOf(emitter, args["input"], args["axis"], args["keep_dims"], name);
  std::optional<bool> left = emitter.constantBool(args["tie_break_left"], "'tie_break_left'");
  return reduction && left ? extremumWithIndex(emitter, *reduction, isMax, *left)[1]
                           : Value::poison();
}

Value argmax(Emitter &emitter, const Bound &args) { return indexBuiltin(emitter, args, true); }
Value argmin(Emitter &emitter, const Bound &args) { return indexBuiltin(emitter, args, false); }

static Value bitReduction(Emitter &emitter, const Bound &args, const char *op, const char *name) {
  std::optional<Reduction> reduction =
      reductionOf(emitter, args["input"], args["axis"], args["keep_dims"], name);
  if (!reduction) {
    return Value::poison();
  }
  if (isFloat(reduction->input.tileType.element.dtype)) {
    return emitter.fail("E0204", "'" + std::string(name) + "' expects integers, but got " +
                                     describe(args["input"]));
  }
  return reduceWith(emitter, *reduction,
                    [&](const Value &a, const Value &b) { return emitter.binary(op, a, b); });
}

Value xorSum(Emitter &emitter, const Bound &args) {
  return bitReduction(emitter, args, "^", "xor_sum");
}

Value reduceOr(Emitter &emitter, const Bound &args) {
  return bitReduction(emitter, args, "|", "reduce_or");
}

Value softmax(Emitter &emitter, const Bound &args) {
  Value axis = args["dim"].isNone() ? Value::whole(0) : args["dim"];
  std::optional<Reduction> reduction =
      reductionOf(emitter, args["x"], axis, Value::boolean(true), "softmax");
  if (!reduction) {
    return Value::poison();
  }
  if (!isFloat(reduction->input.tileType.element.dtype)) {
    return emitter.fail("E0204",
                        "'softmax' expects floating-point values, but got " + describe(args["x"]));
  }
  Value largest = extremumReduction(emitter, *reduction, true);
  Value shifted = emitter.binary("-", reduction->input, largest);
  if (shifted.isPoison()) {
    return shifted;
  }
  Value powers = emitter.like<mlir::math::ExpOp>(shifted, shifted.ssa);
  Reduction total = *reduction;
  total.input = powers;
  return emitter.binary("/", powers, sumOf(emitter, total, std::nullopt));
}

} // namespace nereid::language::emit
