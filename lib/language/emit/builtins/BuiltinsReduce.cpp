// SPDX-License-Identifier: Apache-2.0
// Reductions: sum, max, min with or without indices, xor and or. Types follow upstream: sums of
// small integers widen to 32 bits, max and min of 16-bit floats give f32.
#include "lib/language/emit/builtins/Reduction.h"

namespace nereid::language::emit {

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
    wanted = ElementType{isSignedInteger(type) ? DType::I32 : DType::U32, false};
  }
  if (wanted) {
    reduction.input = emitter.tiles.cast(reduction.input, *wanted);
  }
  return reduceWith(emitter, reduction, [&](const Value &a, const Value &b) {
    return emitter.operators.binary("+", a, b);
  });
}

Value sum(Emitter &emitter, const Bound &args) {
  std::optional<Reduction> reduction =
      reductionOf(emitter, args["input"], args["axis"], args["keep_dims"], "sum");
  std::optional<ElementType> wanted;
  if (!args["dtype"].isNone()) {
    wanted = emitter.constants.type(args["dtype"], "'dtype' of 'sum'");
  }
  bool isTyped = args["dtype"].isNone() || wanted;
  return reduction && isTyped ? sumOf(emitter, *reduction, wanted) : Value::poison();
}

static Value extremumReduction(Emitter &emitter, Reduction reduction, bool isMax) {
  DType type = reduction.input.tileType.element.dtype;
  if (bitWidth(type) < 32) {
    reduction.input =
        emitter.tiles.cast(reduction.input, {isFloat(type) ? DType::F32 : DType::I32, false});
  }
  return reduceWith(emitter, reduction, [&](const Value &a, const Value &b) {
    return emitter.operators.extremum(isMax, a, b, false);
  });
}

static Value indices(Emitter &emitter, const Reduction &reduction) {
  const Shape &shape = reduction.input.tileType.shape;
  int64_t size = shape[static_cast<size_t>(reduction.axis)];
  TileType type{{DType::I32, false}, {size}};
  Value index = Value::tile(emitter.tiles.make<tile::MakeRangeOp>(emitter.tiles.mlirType(type), 0u,
                                                                  static_cast<uint32_t>(size)),
                            type);
  for (int64_t i = 0; i < static_cast<int64_t>(shape.size()); ++i) {
    if (i != reduction.axis) {
      index = emitter.tiles.expandDim(index, i);
    }
  }
  return emitter.tiles.broadcastTo(index, shape);
}

/// Value and position of the extremum. With tieBreakLeft the smaller index of equal values wins.
static std::vector<Value> extremumWithIndex(Emitter &emitter, Reduction reduction, bool isMax,
                                            bool tieBreakLeft) {
  if (reduction.input.tileType.element.dtype == DType::BF16) {
    reduction.input = emitter.tiles.cast(reduction.input, {DType::F32, false});
  }
  std::vector<Value> sources = {reduction.input, indices(emitter, reduction)};
  const char *better = isMax ? ">" : "<";
  return emitReduce(
      emitter, reduction, sources, [&](const std::vector<Value> &a, const std::vector<Value> &b) {
        Value isFirst = emitter.operators.compare(better, a[0], b[0]);
        if (tieBreakLeft) {
          Value isTie = emitter.operators.logical(true, emitter.operators.compare("==", a[0], b[0]),
                                                  emitter.operators.compare("<", a[1], b[1]));
          isFirst = emitter.operators.logical(false, isFirst, isTie);
        }
        return std::vector<Value>{emitter.operators.select(isFirst, a[0], b[0]),
                                  emitter.operators.select(isFirst, a[1], b[1])};
      });
}

static Value extremumBuiltin(Emitter &emitter, const Bound &args, bool isMax) {
  std::string name = isMax ? "max" : "min";
  std::optional<Reduction> reduction =
      reductionOf(emitter, args["input"], args["axis"], args["keep_dims"], name);
  std::optional<bool> withIndices =
      emitter.constants.flag(args["return_indices"], "'return_indices' of '" + name + "'");
  std::optional<bool> left = emitter.constants.flag(args["return_indices_tie_break_left"],
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
  std::optional<bool> left = emitter.constants.flag(args["tie_break_left"], "'tie_break_left'");
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
    return emitter.report.fail("E0204", "'" + std::string(name) + "' expects integers, but got " +
                                            describe(args["input"]));
  }
  return reduceWith(emitter, *reduction, [&](const Value &a, const Value &b) {
    return emitter.operators.binary(op, a, b);
  });
}

Value xorSum(Emitter &emitter, const Bound &args) {
  return bitReduction(emitter, args, "^", "xor_sum");
}

Value reduceOr(Emitter &emitter, const Bound &args) {
  return bitReduction(emitter, args, "|", "reduce_or");
}

} // namespace nereid::language::emit
