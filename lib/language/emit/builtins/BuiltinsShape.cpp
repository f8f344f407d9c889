// SPDX-License-Identifier: Apache-2.0
// Builtins that make tiles and change their shape or type.
#include "lib/language/emit/Emitter.h"

#include <algorithm>

namespace nereid::language::emit {

Value arange(Emitter &emitter, const Bound &args) {
  std::optional<int64_t> start = emitter.constants.integer(args["start"], "'start' of 'arange'");
  std::optional<int64_t> end = emitter.constants.integer(args["end"], "'end' of 'arange'");
  if (!start || !end) {
    return Value::poison();
  }
  constexpr int64_t limit = int64_t(1) << 31;
  if (*end <= *start || *start < -limit || *end > limit) {
    return emitter.report.fail("E0215", "'arange' expects start < end in 32 bits, but got " +
                                            std::to_string(*start) + " and " +
                                            std::to_string(*end));
  }
  TileType type{{DType::I32, false}, {*end - *start}};
  if (!emitter.tiles.checkShape(type.shape)) {
    return Value::poison();
  }
  mlir::Value ssa = emitter.tiles.make<tile::MakeRangeOp>(
      emitter.tiles.mlirType(type), static_cast<uint32_t>(*start), static_cast<uint32_t>(*end));
  return Value::tile(ssa, type, {emitter.position.origin(args.expr("end"), type.shape[0])});
}

/// Origins of a shape written as a tuple display, one per element.
static Origins shapeOrigins(Emitter &emitter, const Expr *expr, const Shape &shape) {
  Origins origins(shape.size(), nullptr);
  bool isDisplay = expr && (expr->kind == ExprKind::Tuple || expr->kind == ExprKind::List) &&
                   expr->operands.size() == shape.size();
  for (size_t i = 0; i < shape.size(); ++i) {
    origins[i] = emitter.position.origin(isDisplay ? expr->operands[i].get() : expr, shape[i]);
  }
  return origins;
}

/// Upstream hands a literal over as 64 bits, and to an integer type no fraction.
static bool isTakenBy(const Value &literal, DType type) {
  if (!literal.isWeak() || isFloat(type) || type == DType::Bool) {
    return true;
  }
  Integer low = isUnsigned(type) ? 0 : -(static_cast<Integer>(1) << 63);
  Integer high = low + (static_cast<Integer>(1) << 64) - 1;
  return literal.isWhole() ? literal.integer >= low && literal.integer <= high : literal.real == 0;
}

static Value filled(Emitter &emitter, const Value &shapeArgument, const Expr *shapeExpr,
                    const Value &value, const Value &type, const std::string &name) {
  std::optional<Shape> shape = emitter.constants.shape(shapeArgument, "'shape' of '" + name + "'");
  std::optional<ElementType> element = emitter.constants.type(type, "'dtype' of '" + name + "'");
  if (!shape || !element || !emitter.tiles.checkShape(*shape)) {
    return Value::poison();
  }
  if (!element->isPointer && !isTakenBy(value, element->dtype)) {
    return emitter.report.fail(
        "E0222", "the constant " + pythonText(value) + " is not a value of " + typeText(*element),
        "write an integer that the type holds");
  }
  Value scalar = emitter.tiles.cast(value, *element);
  if (scalar.isBlock()) {
    return emitter.report.fail("E0204", "'value' of '" + name + "' expects a scalar, but got " +
                                            describe(value));
  }
  return scalar.isPoison()
             ? scalar
             : emitter.tiles.splat(scalar, *shape, shapeOrigins(emitter, shapeExpr, *shape));
}

Value full(Emitter &emitter, const Bound &args) {
  return filled(emitter, args["shape"], args.expr("shape"), args["value"], args["dtype"], "full");
}

Value zeros(Emitter &emitter, const Bound &args) {
  return filled(emitter, args["shape"], args.expr("shape"), Value::whole(0), args["dtype"],
                "zeros");
}

Value zerosLike(Emitter &emitter, const Bound &args) {
  Value like = emitter.tiles.toTile(args["input"]);
  if (like.isPoison() || like.isPointer()) {
    return like.isPoison()
               ? like
               : emitter.report.fail("E0204", "'zeros_like' expects a tile of numbers, but "
                                              "got " +
                                                  describe(like));
  }
  Value zero =
      emitter.tiles.constantTile(Value::whole(0), like.tileType.element.dtype, like.tileType.shape);
  zero.origins = like.origins;
  return zero;
}

/// The cast that `fp_downcast_rounding='rtz'` asks for: to a narrower float, dropping digits.
static Value castTowardZero(Emitter &emitter, const Value &input, ElementType to, bool isBitcast) {
  Value source = emitter.tiles.toTile(input);
  if (source.isPoison()) {
    return source;
  }
  ElementType from = source.tileType.element;
  bool isNarrowing = !isBitcast && !from.isPointer && !to.isPointer && isFloat(from.dtype) &&
                     isFloat(to.dtype) && bitWidth(from.dtype) > bitWidth(to.dtype);
  if (!isNarrowing) {
    return emitter.report.fail(
        "E0209",
        "'fp_downcast_rounding' expects a cast to a narrower float, but got " + typeText(from) +
            " to " + typeText(to),
        "drop the rounding");
  }
  if (to.dtype == DType::F8E4B15) {
    return emitter.tiles.cast(source,
                              to); // which upstream rounds in one way, whatever is asked for
  }
  TileType target{to, source.tileType.shape};
  auto mode = mlir::arith::RoundingModeAttr::get(emitter.tiles.builder.getContext(),
                                                 mlir::arith::RoundingMode::toward_zero);
  mlir::Value ssa = emitter.tiles.make<mlir::arith::TruncFOp>(
      emitter.tiles.mlirType(target), source.ssa, mode, mlir::arith::FastMathFlagsAttr());
  return Value::tile(ssa, target, source.origins);
}

Value castBuiltin(Emitter &emitter, const Bound &args) {
  std::optional<ElementType> type = emitter.constants.type(args["dtype"], "'dtype' of a cast");
  std::optional<bool> isBitcast = emitter.constants.flag(args["bitcast"], "'bitcast'");
  std::optional<std::string> rounding =
      emitter.constants.string(args["fp_downcast_rounding"], "'fp_downcast_rounding'");
  if (!type || !isBitcast || !rounding) {
    return Value::poison();
  }
  if (!rounding->empty() && *rounding != "rtne" && *rounding != "rtz") {
    return emitter.report.fail(
        "E0229", "'fp_downcast_rounding' expects 'rtne' or 'rtz', but got '" + *rounding + "'");
  }
  const Value &input = args[args.isGiven("self") ? "self" : "input"];
  if (*rounding == "rtz") {
    return castTowardZero(emitter, input, *type, *isBitcast);
  }
  return *isBitcast ? emitter.tiles.bitcast(input, *type) : emitter.tiles.cast(input, *type);
}

Value toMethod(Emitter &emitter, const Bound &args) { return castBuiltin(emitter, args); }

/// A shape given as one tuple or as several integers.
static Value spreadArgument(const Bound &args) {
  if (args.rest().size() == 1) {
    return args.rest()[0].value;
  }
  std::vector<Value> elements;
  for (const Argument &argument : args.rest()) {
    elements.push_back(argument.value);
  }
  return Value::tuple(std::move(elements));
}

Value broadcastToBuiltin(Emitter &emitter, const Bound &args) {
  std::optional<Shape> shape =
      emitter.constants.shape(spreadArgument(args), "'shape' of 'broadcast_to'");
  return shape && emitter.tiles.checkShape(*shape)
             ? emitter.tiles.broadcastTo(args["input"], *shape)
             : Value::poison();
}

Value broadcastBuiltin(Emitter &emitter, const Bound &args) {
  Value a = emitter.tiles.toTile(args["input"]), b = emitter.tiles.toTile(args["other"]);
  bool isDone = !a.isPoison() && !b.isPoison() && emitter.tiles.broadcastPair(a, b);
  return isDone ? Value::tuple({a, b}) : Value::poison();
}

Value expandDims(Emitter &emitter, const Bound &args) {
  std::optional<Shape> axes = emitter.constants.shape(args["axis"], "'axis' of 'expand_dims'");
  Value result = emitter.tiles.toTile(args["input"]);
  if (!axes || result.isPoison()) {
    return Value::poison();
  }
  auto rank = static_cast<int64_t>(result.tileType.shape.size() + axes->size());
  for (int64_t &axis : *axes) {
    if (axis < -rank || axis >= rank) {
      return emitter.report.fail(
          "E0215", "'axis' of 'expand_dims' expects -" + std::to_string(rank) + " to " +
                       std::to_string(rank - 1) + ", but got " + std::to_string(axis));
    }
    axis = axis < 0 ? axis + rank : axis;
  }
  std::sort(axes->begin(), axes->end());
  for (int64_t axis : *axes) {
    result = emitter.tiles.expandDim(result, axis);
  }
  return result;
}

Value reshapeBuiltin(Emitter &emitter, const Bound &args) {
  Value given = spreadArgument(args);
  std::optional<Shape> shape = emitter.constants.shape(given, "'shape' of 'reshape'");
  if (!shape || !emitter.tiles.checkShape(*shape)) {
    return Value::poison();
  }
  return emitter.tiles.reshapeTo(args["input"], *shape);
}

Value viewBuiltin(Emitter &emitter, const Bound &args) { return reshapeBuiltin(emitter, args); }

/// The one element of a tile, as a scalar.
Value item(Emitter &emitter, const Bound &args) {
  Value tile = emitter.tiles.toTile(args["self"]);
  if (!tile.isPoison() && tile.tileType.elementCount() != 1) {
    return emitter.report.fail("E0215",
                               "'item' expects a tile of one element, but got " + describe(tile),
                               "reduce the tile first, e.g. with tl.max");
  }
  return tile.isBlock() ? emitter.tiles.reshapeTo(tile, {}) : tile;
}

Value ravel(Emitter &emitter, const Bound &args) {
  Value source = emitter.tiles.toTile(args["x"]);
  return source.isPoison() ? source
                           : emitter.tiles.reshapeTo(source, {source.tileType.elementCount()});
}

static Value permuted(Emitter &emitter, const Value &input, Shape order) {
  Value source = emitter.tiles.toTile(input);
  if (source.isPoison()) {
    return source;
  }
  auto rank = static_cast<int64_t>(source.tileType.shape.size());
  if (order.empty()) {
    for (int64_t i = 0; i < rank; ++i) {
      order.push_back(i < rank - 2 ? i : 2 * rank - 3 - i);
    }
  }
  Shape sorted = order;
  for (int64_t &axis : sorted) {
    axis = axis < 0 ? axis + rank : axis;
  }
  order = sorted;
  std::sort(sorted.begin(), sorted.end());
  bool isPermutation = static_cast<int64_t>(sorted.size()) == rank && rank >= 1;
  for (int64_t i = 0; isPermutation && i < rank; ++i) {
    isPermutation = sorted[static_cast<size_t>(i)] == i;
  }
  if (!isPermutation) {
    return emitter.report.fail("E0215", "the order " + shapeText(order) +
                                            " is not a permutation of the dimensions of " +
                                            describe(source));
  }
  TileType type{source.tileType.element, {}};
  Origins origins;
  std::vector<int32_t> axes;
  for (int64_t axis : order) {
    type.shape.push_back(source.tileType.shape[static_cast<size_t>(axis)]);
    origins.push_back(source.origins[static_cast<size_t>(axis)]);
    axes.push_back(static_cast<int32_t>(axis));
  }
  mlir::Value ssa = emitter.tiles.make<tile::TransOp>(emitter.tiles.mlirType(type), source.ssa,
                                                      llvm::ArrayRef<int32_t>(axes));
  return Value::tile(ssa, type, origins);
}

Value trans(Emitter &emitter, const Bound &args) {
  std::optional<Shape> order = emitter.constants.shape(spreadArgument(args), "'dims' of 'trans'");
  if (!order) {
    return Value::poison();
  }
  const Value &input = args["input"];
  if (order->empty() && input.isTile() && input.tileType.shape.size() < 2) {
    return emitter.report.fail("E0215", "'trans' expects a tile of rank 2 or more, but got " +
                                            describe(input));
  }
  return permuted(emitter, input, *order);
}

Value permute(Emitter &emitter, const Bound &args) {
  std::optional<Shape> order = emitter.constants.shape(spreadArgument(args), "'dims' of 'permute'");
  return order ? permuted(emitter, args["input"], *order) : Value::poison();
}

} // namespace nereid::language::emit
