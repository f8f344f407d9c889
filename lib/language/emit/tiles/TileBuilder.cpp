// SPDX-License-Identifier: Apache-2.0
// Elements of run-time values: their types, constants and conversions.
#include "lib/language/emit/tiles/TileBuilder.h"
#include "lib/language/emit/operators/Float8E4B15.h"

#include "runtime/elements/Float8.h"

#include "mlir/IR/Matchers.h"

#include <cmath>

namespace nereid::language::emit {

mlir::Type TileBuilder::mlirType(ElementType type) {
  mlir::Type number;
  switch (type.dtype) {
  case DType::F16:
    number = builder.getF16Type();
    break;
  case DType::BF16:
    number = builder.getBF16Type();
    break;
  case DType::F32:
    number = builder.getF32Type();
    break;
  case DType::F64:
    number = builder.getF64Type();
    break;
  case DType::F8E4M3FN:
    number = builder.getFloat8E4M3FNType();
    break;
  case DType::F8E5M2:
    number = builder.getFloat8E5M2Type();
    break;
  case DType::F8E4M3FNUZ:
    number = builder.getFloat8E4M3FNUZType();
    break;
  case DType::F8E5M2FNUZ:
    number = builder.getFloat8E5M2FNUZType();
    break;
  default:
    number = builder.getIntegerType(bitWidth(type.dtype));
  }
  return type.isPointer ? mlir::Type(tile::PtrType::get(number)) : number;
}

mlir::Type TileBuilder::mlirType(const TileType &type) {
  mlir::Type element = mlirType(type.element);
  return type.isBlock() ? mlir::Type(mlir::RankedTensorType::get(type.shape, element)) : element;
}

Value TileBuilder::constantTile(const Value &number, DType type, llvm::ArrayRef<int64_t> shape) {
  TileType result{{type, false}, Shape(shape.begin(), shape.end())};
  mlir::Type element = mlirType(result.element);
  mlir::TypedAttr attribute;
  if (type == DType::F8E4B15) {
    attribute = mlir::IntegerAttr::get(element, toFloat8(number.asReal(), type));
  } else if (isFloat8(type)) { // saturates, which APFloat's own conversion does not
    llvm::APInt bits(8, toFloat8(number.asReal(), type));
    const auto &format = llvm::cast<mlir::FloatType>(element).getFloatSemantics();
    attribute = mlir::FloatAttr::get(element, llvm::APFloat(format, bits));
  } else if (isFloat(type)) {
    llvm::APFloat value(number.asReal());
    bool losesInfo = false;
    value.convert(llvm::cast<mlir::FloatType>(element).getFloatSemantics(),
                  llvm::APFloat::rmNearestTiesToEven, &losesInfo);
    attribute = mlir::FloatAttr::get(element, value);
  } else {
    Integer whole =
        number.kind == Value::Kind::Float ? static_cast<Integer>(number.real) : number.integer;
    if (type == DType::Bool) {
      whole = number.kind == Value::Kind::Float ? number.real != 0 : whole != 0;
    }
    llvm::APInt bits(64, static_cast<uint64_t>(whole));
    attribute = mlir::IntegerAttr::get(element, bits.trunc(bitWidth(type)));
  }
  if (result.isBlock()) {
    auto tensor = llvm::cast<mlir::RankedTensorType>(mlirType(result));
    attribute = mlir::DenseElementsAttr::get(tensor, mlir::Attribute(attribute));
  }
  return Value::tile(builder.create<mlir::arith::ConstantOp>(location(), attribute), result);
}

Value TileBuilder::toTile(const Value &value) {
  if (value.isTile() || value.isPoison()) {
    return value;
  }
  if (value.kind == Value::Kind::Import) {
    return report.failNotFound(value);
  }
  if (!value.isNumber()) {
    return report.fail("E0204", "expects a number or a tile, but got " + describe(value));
  }
  std::optional<DType> type = defaultType(value);
  if (!type) {
    return report.fail("E0222", "the constant " + pythonText(value) + " does not fit 64 bits");
  }
  return constantTile(value, *type);
}

/// The number that a constant, or every element of a constant tile, is.
static std::optional<double> constantReal(mlir::Value ssa) {
  mlir::Attribute attribute;
  if (!mlir::matchPattern(ssa, mlir::m_Constant(&attribute))) {
    return std::nullopt;
  }
  if (auto number = llvm::dyn_cast<mlir::FloatAttr>(attribute)) {
    return number.getValueAsDouble();
  }
  auto dense = llvm::dyn_cast<mlir::DenseElementsAttr>(attribute);
  return dense && dense.isSplat()
             ? std::optional(dense.getSplatValue<mlir::FloatAttr>().getValueAsDouble())
             : std::nullopt;
}

/// Between two number types, on values that are tiles already.
mlir::Value TileBuilder::convertNumber(const Value &value, DType to) {
  using namespace mlir::arith;
  DType from = value.tileType.element.dtype;
  TileType target{{to, false}, value.tileType.shape};
  mlir::Type type = mlirType(target);
  mlir::Value ssa = value.ssa;
  if (from == DType::F8E4B15) {
    return cast(halfOfE4B15(*this, value), target.element).ssa;
  }
  if (to == DType::F8E4B15) {
    return e4b15Of(*this, isFloat(from) ? value : cast(value, {DType::F32, false})).ssa;
  }
  if (isFloat(from) && isFloat(to)) {
    if (bitWidth(from) == bitWidth(to)) {
      // formats of one width do not contain each other: through float32, which holds all of them
      mlir::Type wide = mlirType(TileType{{DType::F32, false}, target.shape});
      return make<TruncFOp>(type, make<ExtFOp>(wide, ssa));
    }
    // MLIR's own folding of the truncation would keep an infinity of float8e5.
    if (std::optional<double> number = isFloat8(to) ? constantReal(ssa) : std::nullopt) {
      return constantTile(Value::floating(*number), to, target.shape).ssa;
    }
    return bitWidth(from) < bitWidth(to) ? make<ExtFOp>(type, ssa) : make<TruncFOp>(type, ssa);
  }
  if (isFloat8(from) || isFloat8(to)) {
    // Integers that float32 rounds lie beyond the largest 8-bit float and saturate either way.
    Value wide = cast(value, {DType::F32, false});
    return cast(wide, target.element).ssa;
  }
  if (isFloat(from)) {
    return isUnsigned(to) ? make<FPToUIOp>(type, ssa) : make<FPToSIOp>(type, ssa);
  }
  bool isZeroExtended = isUnsigned(from) || from == DType::Bool;
  if (isFloat(to)) {
    return isZeroExtended ? make<UIToFPOp>(type, ssa) : make<SIToFPOp>(type, ssa);
  }
  if (bitWidth(from) == bitWidth(to)) {
    return ssa;
  }
  if (bitWidth(from) > bitWidth(to)) {
    return make<TruncIOp>(type, ssa);
  }
  return isZeroExtended ? make<ExtUIOp>(type, ssa) : make<ExtSIOp>(type, ssa);
}

Value TileBuilder::cast(const Value &value, ElementType to) {
  if (value.isPoison()) {
    return value;
  }
  if (value.isNumber() && !to.isPointer && (!value.bound || *value.bound == to.dtype)) {
    bool isRange = value.kind != Value::Kind::Float || isFloat(to.dtype) ||
                   (std::isfinite(value.real) && std::fabs(value.real) < 0x1p63);
    if (isRange) {
      return constantTile(value, to.dtype);
    }
  }
  Value source = toTile(value);
  if (source.isPoison() || source.tileType.element == to) {
    return source;
  }
  ElementType from = source.tileType.element;
  TileType target{to, source.tileType.shape};
  mlir::Type type = mlirType(target);
  if (from.isPointer && to.isPointer) {
    bool isSameBits = mlirType(from) == mlirType(to); // differing in sign only
    return Value::tile(isSameBits ? source.ssa : make<tile::PtrCastOp>(type, source.ssa), target,
                       source.origins);
  }
  if (from.isPointer || to.isPointer) {
    if (isFloat(from.isPointer ? to.dtype : from.dtype)) {
      return report.fail("E0209", "cannot convert " + typeText(from) + " to " + typeText(to),
                         "an address converts to and from 64-bit integers only");
    }
    if (from.isPointer) {
      mlir::Type address = mlirType(TileType{{DType::I64, false}, target.shape});
      Value whole = Value::tile(make<tile::PtrToIntOp>(address, source.ssa),
                                {{DType::I64, false}, target.shape}, source.origins);
      return to.dtype == DType::Bool ? truth(whole) : cast(whole, to);
    }
    Value whole = cast(source, {DType::I64, false});
    return Value::tile(make<tile::IntToPtrOp>(type, whole.ssa), target, source.origins);
  }
  if (to.dtype == DType::Bool) {
    return truth(source);
  }
  return Value::tile(convertNumber(source, to.dtype), target, source.origins);
}

Value TileBuilder::bitcast(const Value &value, ElementType to) {
  Value source = toTile(value);
  if (source.isPoison() || source.tileType.element == to) {
    return source;
  }
  ElementType from = source.tileType.element;
  if (from.isPointer || to.isPointer) {
    return cast(source, to);
  }
  if (bitWidth(from.dtype) != bitWidth(to.dtype)) {
    return report.fail(
        "E0209",
        "cannot bitcast " + typeText(from) + " to " + typeText(to) + ": " +
            std::to_string(bitWidth(from.dtype)) + " bits and " +
            std::to_string(bitWidth(to.dtype)) + " bits",
        "bitcast between types of one width, or drop 'bitcast=True' to convert the value");
  }
  TileType target{to, source.tileType.shape};
  mlir::Type type = mlirType(target);
  mlir::Value ssa =
      type == source.ssa.getType() ? source.ssa : make<mlir::arith::BitcastOp>(type, source.ssa);
  return Value::tile(ssa, target, source.origins);
}

Value TileBuilder::truth(const Value &value) {
  Value source = toTile(value);
  if (source.isPoison()) {
    return source;
  }
  ElementType from = source.tileType.element;
  if (from.isPointer) {
    return cast(source, {DType::Bool, false});
  }
  if (from.dtype == DType::Bool) {
    return source;
  }
  if (isFloat8(from.dtype)) {
    return truth(cast(source, {DType::F32, false}));
  }
  Value zero = constantTile(Value::whole(0), from.dtype, source.tileType.shape);
  mlir::Value ssa =
      isFloat(from.dtype)
          ? make<mlir::arith::CmpFOp>(mlir::arith::CmpFPredicate::UNE, source.ssa, zero.ssa)
          : make<mlir::arith::CmpIOp>(mlir::arith::CmpIPredicate::ne, source.ssa, zero.ssa);
  return Value::tile(ssa, {{DType::Bool, false}, source.tileType.shape}, source.origins);
}

} // namespace nereid::language::emit
