// SPDX-License-Identifier: Apache-2.0
// Elementwise builtins. Like upstream, mathematical functions take f32 and f64 only.
#include "lib/language/emit/Emitter.h"
#include "lib/language/emit/operators/Float8E4B15.h"
#include "lib/tile/ir/Attributes.h"

#include <bit>

namespace nereid::language::emit {

/// A run-time f32 or f64 value, or poison with the cast to write.
static Value realArgument(Emitter &emitter, const Value &value, const char *name) {
  Value source = emitter.tiles.toTile(value);
  if (source.isPoison()) {
    return source;
  }
  ElementType type = source.tileType.element;
  if (type.isPointer || (type.dtype != DType::F32 && type.dtype != DType::F64)) {
    return emitter.report.fail(
        "E0204", "'" + std::string(name) + "' expects f32 or f64, but got " + describe(value),
        type.isPointer ? "load the value first" : "convert with .to(tl.float32)");
  }
  return source;
}

template <class Op> static Value unaryMath(Emitter &emitter, const Value &x, const char *name) {
  Value source = realArgument(emitter, x, name);
  return source.isPoison() ? source : emitter.tiles.like<Op>(source, source.ssa);
}

#define NEREID_UNARY(function, Op)                                                                 \
  Value function(Emitter &emitter, const Bound &args) {                                            \
    return unaryMath<mlir::math::Op>(emitter, args["x"], #function);                               \
  }
NEREID_UNARY(exp, ExpOp)
NEREID_UNARY(fastExp, ExpOp)
NEREID_UNARY(exp2, Exp2Op)
NEREID_UNARY(expm1, ExpM1Op)
NEREID_UNARY(log, LogOp)
NEREID_UNARY(log2, Log2Op)
NEREID_UNARY(log10, Log10Op)
NEREID_UNARY(log1p, Log1pOp)
NEREID_UNARY(sqrt, SqrtOp)
NEREID_UNARY(sqrtRn, SqrtOp)
NEREID_UNARY(rsqrt, RsqrtOp)
NEREID_UNARY(sin, SinOp)
NEREID_UNARY(cos, CosOp)
NEREID_UNARY(tan, TanOp)
NEREID_UNARY(tanh, TanhOp)
NEREID_UNARY(asin, AsinOp)
NEREID_UNARY(acos, AcosOp)
NEREID_UNARY(atan, AtanOp)
NEREID_UNARY(asinh, AsinhOp)
NEREID_UNARY(acosh, AcoshOp)
NEREID_UNARY(atanh, AtanhOp)
NEREID_UNARY(cbrt, CbrtOp)
NEREID_UNARY(sinh, SinhOp)
NEREID_UNARY(cosh, CoshOp)
NEREID_UNARY(erf, ErfOp)
NEREID_UNARY(floor, FloorOp)
NEREID_UNARY(ceil, CeilOp)
NEREID_UNARY(trunc, TruncOp)
NEREID_UNARY(rint, RoundEvenOp)
NEREID_UNARY(round, RoundOp)
#undef NEREID_UNARY

template <class Op> static Value binaryMath(Emitter &emitter, const Bound &args, const char *name) {
  Value x = literalAsScalar(args["x"]), y = literalAsScalar(args["y"]);
  if (!emitter.promotion.promote(x, y, name, Arithmetic::Plain)) {
    return Value::poison();
  }
  Value source = realArgument(emitter, x, name);
  return source.isPoison() ? source : emitter.tiles.like<Op>(x, x.ssa, y.ssa);
}

Value atan2(Emitter &emitter, const Bound &args) {
  return binaryMath<mlir::math::Atan2Op>(emitter, args, "atan2");
}

Value pow(Emitter &emitter, const Bound &args) {
  return binaryMath<mlir::math::PowFOp>(emitter, args, "pow");
}

Value copysign(Emitter &emitter, const Bound &args) {
  return binaryMath<mlir::math::CopySignOp>(emitter, args, "copysign");
}

Value fmod(Emitter &emitter, const Bound &args) {
  return binaryMath<mlir::arith::RemFOp>(emitter, args, "fmod");
}

Value isnan(Emitter &emitter, const Bound &args) {
  Value source = realArgument(emitter, args["x"], "isnan");
  return source.isPoison() ? source : emitter.operators.compare("!=", source, source);
}

Value isinf(Emitter &emitter, const Bound &args) {
  Value source = unaryMath<mlir::math::AbsFOp>(emitter, args["x"], "isinf");
  return source.isPoison() ? source
                           : emitter.operators.compare("==", source, Value::floating(HUGE_VAL));
}

Value absolute(Emitter &emitter, const Bound &args) {
  Value source = emitter.tiles.toTile(args["x"]);
  if (source.isPoison()) {
    return source;
  }
  if (source.isPointer()) {
    return emitter.report.fail("E0204", "'abs' expects numbers, but got " + describe(source));
  }
  DType type = source.tileType.element.dtype;
  if (type == DType::F8E4B15) {
    return magnitudeOfE4B15(emitter.tiles, source);
  }
  if (isFloat8(type)) {
    Value wide = emitter.tiles.cast(source, {DType::F32, false});
    return emitter.tiles.cast(emitter.tiles.like<mlir::math::AbsFOp>(wide, wide.ssa),
                              {type, false});
  }
  if (isFloat(type)) {
    return emitter.tiles.like<mlir::math::AbsFOp>(source, source.ssa);
  }
  return isSignedInteger(type) ? emitter.tiles.like<mlir::math::AbsIOp>(source, source.ssa)
                               : source;
}

Value fabsBuiltin(Emitter &emitter, const Bound &args) {
  return unaryMath<mlir::math::AbsFOp>(emitter, args["x"], "fabs");
}

static Value marked(Value result, llvm::StringRef attribute) {
  if (mlir::Operation *op = result.isPoison() ? nullptr : result.ssa.getDefiningOp()) {
    op->setAttr(attribute, mlir::UnitAttr::get(op->getContext()));
  }
  return result;
}

Value where(Emitter &emitter, const Bound &args) {
  const Value &condition = args["condition"];
  bool isNumber = condition.isTile() && !condition.isPointer() &&
                  condition.tileType.element.dtype != DType::Bool;
  if (isNumber && !emitter.frame().module->isLibrary) {
    emitter.report.remarkOnce("R0205",
                              "the condition of 'tl.where' is " + describe(condition) +
                                  " and not i1; upstream will refuse it in a later release");
  }
  return emitter.operators.select(args["condition"], args["x"], args["y"]);
}

/// The library's: what `x` alone needs may stand behind a branch.
Value whereRarely(Emitter &emitter, const Bound &args) {
  Value chosen = emitter.operators.select(args["condition"], args["x"], args["y"]);
  return marked(std::move(chosen), tile::attribute::rare);
}

/// The library's: `short` is enough where all that becomes of `x` is rounded to 16 bits.
Value forHalves(Emitter &emitter, const Bound &args) {
  Value isNumber = emitter.operators.compare("==", args["x"], args["x"]);
  return marked(emitter.operators.select(isNumber, args["x"], args["short"]),
                tile::attribute::forHalves);
}

static Value extremumOf(Emitter &emitter, const Bound &args, bool isMax) {
  std::optional<std::string> nan =
      emitter.constants.string(args["propagate_nan"], "'propagate_nan'");
  return nan ? emitter.operators.extremum(isMax, args["x"], args["y"], *nan == "all")
             : Value::poison();
}

Value maximum(Emitter &emitter, const Bound &args) { return extremumOf(emitter, args, true); }
Value minimum(Emitter &emitter, const Bound &args) { return extremumOf(emitter, args, false); }
Value mathMax(Emitter &emitter, const Bound &args) { return extremumOf(emitter, args, true); }
Value mathMin(Emitter &emitter, const Bound &args) { return extremumOf(emitter, args, false); }

Value clamp(Emitter &emitter, const Bound &args) {
  std::optional<std::string> nan =
      emitter.constants.string(args["propagate_nan"], "'propagate_nan'");
  if (!nan) {
    return Value::poison();
  }
  bool propagateNan = *nan == "all";
  Value x = args["x"], min = literalAsScalar(args["min"]), max = literalAsScalar(args["max"]);
  // The bounds meet first, so that neither is rounded to the other operand's narrower type.
  using Kind = Arithmetic;
  if (!emitter.promotion.promote(min, max, "clamp", Kind::Plain)) {
    return Value::poison();
  }
  Value low = emitter.operators.extremum(true, x, min, propagateNan);
  return low.isPoison() ? low : emitter.operators.extremum(false, low, max, propagateNan);
}

Value addBuiltin(Emitter &emitter, const Bound &args) {
  return emitter.operators.binary("+", args["x"], args["y"]);
}

Value subBuiltin(Emitter &emitter, const Bound &args) {
  return emitter.operators.binary("-", args["x"], args["y"]);
}

Value mulBuiltin(Emitter &emitter, const Bound &args) {
  return emitter.operators.binary("*", args["x"], args["y"]);
}

Value cdiv(Emitter &emitter, const Bound &args) {
  Value sum = emitter.operators.binary("-", emitter.operators.binary("+", args["x"], args["div"]),
                                       Value::whole(1));
  return emitter.operators.binary("//", sum, args["div"]);
}

Value fdiv(Emitter &emitter, const Bound &args) {
  Value x = literalAsScalar(args["x"]), y = literalAsScalar(args["y"]);
  if (!emitter.promotion.promote(x, y, "fdiv", Arithmetic::Plain)) {
    return Value::poison();
  }
  if (!isFloat(x.tileType.element.dtype)) {
    return emitter.report.fail("E0204",
                               "'fdiv' expects floating-point operands, but got " + describe(x));
  }
  if (x.tileType.element.dtype == DType::F8E4B15) { // bytes in tile IR
    return emitter.operators.binary("/", x, y);
  }
  return emitter.tiles.like<mlir::arith::DivFOp>(x, x.ssa, y.ssa);
}

static Value rounded(Value result) { return marked(std::move(result), tile::attribute::rounded); }

/// The library's: of normal numbers, within two units in the last place.
Value divideNearby(Emitter &emitter, const Bound &args) {
  return marked(binaryMath<mlir::arith::DivFOp>(emitter, args, "_divide_nearby"),
                tile::attribute::nearby);
}

Value divRn(Emitter &emitter, const Bound &args) {
  return rounded(binaryMath<mlir::arith::DivFOp>(emitter, args, "div_rn"));
}

Value addRn(Emitter &emitter, const Bound &args) {
  return binaryMath<mlir::arith::AddFOp>(emitter, args, "add_rn");
}

Value subRn(Emitter &emitter, const Bound &args) {
  return binaryMath<mlir::arith::SubFOp>(emitter, args, "sub_rn");
}

Value mulRn(Emitter &emitter, const Bound &args) {
  return rounded(binaryMath<mlir::arith::MulFOp>(emitter, args, "mul_rn"));
}

Value fmaxBuiltin(Emitter &emitter, const Bound &args) {
  return emitter.operators.extremum(true, args["x"], args["y"], false);
}

Value fminBuiltin(Emitter &emitter, const Bound &args) {
  return emitter.operators.extremum(false, args["x"], args["y"], false);
}

Value fastExp10(Emitter &emitter, const Bound &args) {
  Value source = realArgument(emitter, args["x"], "fast_exp10f");
  if (source.isPoison()) {
    return source;
  }
  const TileType &type = source.tileType;
  Value ten = emitter.tiles.constantTile(Value::floating(10), type.element.dtype, type.shape);
  return emitter.tiles.like<mlir::math::PowFOp>(source, ten.ssa, source.ssa);
}

Value fma(Emitter &emitter, const Bound &args) {
  Value x = literalAsScalar(args["x"]), y = literalAsScalar(args["y"]),
        z = literalAsScalar(args["z"]);
  using Kind = Arithmetic;
  // three operands meet in pairs until all have one type and shape
  if (!emitter.promotion.promote(x, y, "fma", Kind::Plain) ||
      !emitter.promotion.promote(x, z, "fma", Kind::Plain) ||
      !emitter.promotion.promote(y, z, "fma", Kind::Plain)) {
    return Value::poison();
  }
  if (!isFloat(x.tileType.element.dtype)) {
    return emitter.report.fail("E0204",
                               "'fma' expects floating-point operands, but got " + describe(x));
  }
  ElementType element = x.tileType.element;
  if (element.dtype == DType::F8E4B15) { // bytes in tile IR
    for (Value *operand : {&x, &y, &z}) {
      *operand = emitter.tiles.cast(*operand, {DType::F32, false});
    }
  }
  return emitter.tiles.cast(emitter.tiles.like<mlir::math::FmaOp>(x, x.ssa, y.ssa, z.ssa), element);
}

Value nextPowerOf2(Emitter &emitter, const Bound &args) {
  std::optional<int64_t> n = emitter.constants.integer(args["n"], "'next_power_of_2'");
  if (!n) {
    return Value::poison();
  }
  if (*n > (int64_t(1) << 61)) {
    return emitter.report.fail("E0222",
                               "'next_power_of_2' of " + std::to_string(*n) + " is too large");
  }
  return Value::whole(*n <= 1 ? 1 : static_cast<int64_t>(std::bit_ceil(static_cast<uint64_t>(*n))));
}

Value logicalAnd(Emitter &emitter, const Bound &args) {
  return emitter.operators.logical(true, args["self"], args["other"]);
}

Value logicalOr(Emitter &emitter, const Bound &args) {
  return emitter.operators.logical(false, args["self"], args["other"]);
}

Value sigmoid(Emitter &emitter, const Bound &args) {
  Value power = unaryMath<mlir::math::ExpOp>(
      emitter, emitter.operators.unary("-", emitter.tiles.toTile(args["x"])), "sigmoid");
  return emitter.operators.binary("/", Value::whole(1),
                                  emitter.operators.binary("+", Value::whole(1), power));
}

} // namespace nereid::language::emit
