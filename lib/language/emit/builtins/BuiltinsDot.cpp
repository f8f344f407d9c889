// SPDX-License-Identifier: Apache-2.0
// tl.dot: checks of ranks, types and the contracted size, with where each size was written; float32
// operands are exact unless the source asks for TF32. More than one dimension before the last two
// is one batch.
#include "lib/language/emit/Emitter.h"

namespace nereid::language::emit {

static std::string operandName(Emitter &emitter, const Bound &args, const char *param) {
  const Expr *expr = args.expr(param);
  std::string text = expr ? emitter.position.sourceText(*expr) : "";
  return "'" + (text.empty() ? std::string(param) : text) + "'";
}

static void noteOrigin(Diagnostic &diagnostic, const std::string &name, const Value &value,
                       size_t dimension) {
  if (const DimOrigin *origin = value.origins[dimension]) {
    diagnostic.note(origin->place + ": " + name + " takes " +
                    std::to_string(value.tileType.shape[dimension]) + " from " + origin->text);
  }
}

static bool checkOperands(Emitter &emitter, const Bound &args, const Value &a, const Value &b) {
  std::string nameA = operandName(emitter, args, "input");
  std::string nameB = operandName(emitter, args, "other");
  std::string types =
      nameA + " is " + typeText(a.tileType) + " and " + nameB + " is " + typeText(b.tileType);
  size_t rank = a.tileType.shape.size();
  if (a.isPointer() || b.isPointer() || rank != b.tileType.shape.size() || rank < 2) {
    emitter.report.error("E0214", "'tl.dot' expects two tiles of one rank, which is 2 or more")
        .note(types)
        .withHelp("load tiles with x[:, None] and x[None, :] offsets");
    return false;
  }
  if (!(a.tileType.element == b.tileType.element) || a.tileType.element.dtype == DType::Bool) {
    emitter.report.error("E0214", "'tl.dot' operands expect one number type")
        .note(types)
        .withHelp("convert one of them with .to(" + nameA.substr(1, nameA.size() - 2) + ".dtype)");
    return false;
  }
  const Shape &left = a.tileType.shape, &right = b.tileType.shape;
  if (llvm::ArrayRef<int64_t>(left).drop_back(2) != llvm::ArrayRef<int64_t>(right).drop_back(2)) {
    emitter.report.error("E0214", "'tl.dot' operands disagree on the batch size").note(types);
    return false;
  }
  if (left[rank - 1] == right[rank - 2]) {
    return true;
  }
  Diagnostic &diagnostic =
      emitter.report.error("E0214", "'tl.dot' operands disagree on the contracted size");
  std::string dimA = std::to_string(rank - 1), dimB = std::to_string(rank - 2);
  diagnostic.note(types + "; expects a.shape[" + dimA + "] == b.shape[" + dimB + "], but got " +
                  std::to_string(left[rank - 1]) + " and " + std::to_string(right[rank - 2]));
  noteOrigin(diagnostic, nameA, a, rank - 1);
  noteOrigin(diagnostic, nameB, b, rank - 2);
  const DimOrigin *origin = a.origins[rank - 1];
  std::string wanted = std::to_string(left[rank - 1]);
  if (origin) {
    wanted = origin->text.substr(0, origin->text.find(" = "));
  }
  diagnostic.withHelp("load " + nameB + " with " + wanted + " rows");
  return false;
}

static std::optional<tile::InputPrecision> precisionOf(Emitter &emitter, const Bound &args) {
  std::optional<std::string> text =
      emitter.constants.string(args["input_precision"], "'input_precision'");
  std::optional<bool> allowTf32 = emitter.constants.flag(args["allow_tf32"], "'allow_tf32'");
  if (!text || !allowTf32) {
    return std::nullopt;
  }
  if (text->empty()) {
    return *allowTf32 ? tile::InputPrecision::TF32 : tile::InputPrecision::IEEE;
  }
  // Three or six products of bfloat16 parts come near what float32 gives; here it is exact.
  const bool isSplit = *text == "bf16x3" || *text == "bf16x6";
  std::optional<tile::InputPrecision> precision =
      isSplit ? tile::InputPrecision::IEEE : tile::symbolizeInputPrecision(*text);
  if (!precision) {
    emitter.report.error("E0229", "'input_precision' expects 'ieee', 'tf32', 'tf32x3', 'bf16x3' or "
                                  "'bf16x6', but got '" +
                                      *text + "'");
  }
  return precision;
}

/// Type of the result: of 8-bit integers always int32, else the accumulator's, or out_dtype, or
/// what upstream takes for the operands.
static std::optional<DType> resultType(Emitter &emitter, const Bound &args, DType operand) {
  if (isInteger(operand) && bitWidth(operand) == 8) {
    return DType::I32;
  }
  if (!args["out_dtype"].isNone()) {
    std::optional<ElementType> type =
        emitter.constants.type(args["out_dtype"], "'out_dtype' of 'dot'");
    if (!type) {
      return std::nullopt;
    }
    bool isFitting = isFloat(type->dtype) == isFloat(operand) && !type->isPointer;
    if (!isFitting) {
      emitter.report.error("E0214", "'tl.dot' of " + typeText(ElementType{operand, false}) +
                                        " operands cannot give " + typeText(*type));
      return std::nullopt;
    }
    // for wider operands the default of upstream, f32 or i32, would lose what they hold
    return bitWidth(type->dtype) < bitWidth(operand) ? operand : type->dtype;
  }
  if (args["acc"].isTile()) {
    return args["acc"].tileType.element.dtype;
  }
  return operand == DType::F64    ? DType::F64
         : isFloat(operand)       ? DType::F32
         : bitWidth(operand) > 32 ? operand
                                  : DType::I32;
}

Value dot(Emitter &emitter, const Bound &args) {
  Value a = emitter.tiles.toTile(args["input"]), b = emitter.tiles.toTile(args["other"]);
  const bool areFloat8 = isFloat8(a.tileType.element.dtype) && isFloat8(b.tileType.element.dtype) &&
                         !a.isPointer() && !b.isPointer();
  if (areFloat8) { // of all formats, mixed ones too; float16 holds their numbers exactly
    a = emitter.tiles.cast(a, {DType::F16, false});
    b = emitter.tiles.cast(b, {DType::F16, false});
  }
  if (a.isPoison() || b.isPoison() || !checkOperands(emitter, args, a, b)) {
    return Value::poison();
  }
  if (areFloat8 && !args["max_num_imprecise_acc"].isNone()) {
    std::optional<int64_t> most = emitter.constants.integer(args["max_num_imprecise_acc"],
                                                            "'max_num_imprecise_acc' of 'dot'");
    if (const int64_t contracted = a.tileType.shape.back(); most && *most > contracted) {
      return emitter.report.fail("E0214", "'max_num_imprecise_acc' of 'tl.dot' expects at most the "
                                          "contracted size " +
                                              std::to_string(contracted) + ", but got " +
                                              std::to_string(*most));
    }
    if (!most) {
      return Value::poison();
    }
  }
  std::optional<tile::InputPrecision> precision = precisionOf(emitter, args);
  std::optional<DType> type = resultType(emitter, args, a.tileType.element.dtype);
  if (!precision || !type) {
    return Value::poison();
  }
  if (isUnsigned(a.tileType.element.dtype) &&
      bitWidth(a.tileType.element.dtype) < bitWidth(*type)) {
    a = emitter.tiles.cast(a, {*type, false}); // the operation extends integers by their sign
    b = emitter.tiles.cast(b, {*type, false});
  }
  size_t rank = a.tileType.shape.size();
  TileType result{{*type, false}, a.tileType.shape};
  result.shape[rank - 1] = b.tileType.shape[rank - 1];
  Origins origins = a.origins;
  origins[rank - 1] = b.origins[rank - 1];
  Value acc = args["acc"];
  if (acc.isNone() || acc.isNumber()) {
    acc = emitter.tiles.constantTile(acc.isNone() ? Value::whole(0) : acc, *type, result.shape);
  }
  bool isFloating = isFloat(*type) == isFloat(a.tileType.element.dtype);
  if (!acc.isTile() || !(acc.tileType == result) || !isFloating) {
    emitter.report
        .error("E0214", "the accumulator of 'tl.dot' expects " + typeText(result) + ", but got " +
                            describe(acc))
        .note(operandName(emitter, args, "input") + " is " + typeText(a.tileType) + " and " +
              operandName(emitter, args, "other") + " is " + typeText(b.tileType))
        .withHelp("make it with tl.zeros(" + shapeText(result.shape) + ", dtype=tl." +
                  (isFloating ? std::string(torchName(*type)) : "float32") + ")");
    return Value::poison();
  }
  if (rank <= 3) {
    mlir::Value ssa = emitter.tiles.make<tile::DotOp>(a.ssa, b.ssa, acc.ssa, *precision);
    return Value::tile(ssa, result, origins);
  }
  auto asBatch = [&](const Value &tile) {
    const Shape &shape = tile.tileType.shape;
    const int64_t matrix = shape[rank - 2] * shape[rank - 1];
    return emitter.tiles.reshapeTo(
        tile, {tile.tileType.elementCount() / matrix, shape[rank - 2], shape[rank - 1]});
  };
  acc = asBatch(acc);
  mlir::Value ssa =
      emitter.tiles.make<tile::DotOp>(asBatch(a).ssa, asBatch(b).ssa, acc.ssa, *precision);
  Value batch = emitter.tiles.reshapeTo(Value::tile(ssa, acc.tileType), result.shape);
  return Value::tile(batch.ssa, result, origins);
}

} // namespace nereid::language::emit
