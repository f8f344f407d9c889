// SPDX-License-Identifier: Apache-2.0
// Run-time values: MLIR types of the language's types, constants, casts, splats and broadcasts.
#include "lib/language/emit/Emitter.h"
#include "lib/language/emit/expressions/Float8E4B15.h"

#include "runtime/elements/Float8.h"

#include "mlir/IR/Matchers.h"

#include <cmath>

namespace nereid::language::emit {

/// Upstream's limit on the elements of one tile.
static constexpr int64_t maxTileElements = 1048576;

mlir::Type Emitter::mlirType(ElementType type) {
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

mlir::Type Emitter::mlirType(const TileType &type) {
  mlir::Type element = mlirType(type.element);
  return type.isBlock() ? mlir::Type(mlir::RankedTensorType::get(type.shape, element)) : element;
}

Value Emitter::constantTile(const Value &number, DType type, llvm::ArrayRef<int64_t> shape) {
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

Value Emitter::toTile(const Value &value) {
  if (value.isTile() || value.isPoison()) {
    return value;
  }
  if (value.kind == Value::Kind::Import) {
    return failNotFound(value);
  }
  if (!value.isNumber()) {
    return fail("E0204", "expects a number or a tile, but got " + describe(value));
  }
  std::optional<DType> type = defaultType(value);
  if (!type) {
    return fail("E0222", "the constant " + pythonText(value) + " does not fit 64 bits");
  }
  return constantTile(value, *type);
}

std::optional<Value> Emitter::knownNumber(const Value &value) {
  if (value.isNumber()) {
    return value;
  }
  mlir::Attribute attribute;
  if (!value.isTile() || value.isBlock() || value.isPointer() ||
      !mlir::matchPattern(value.ssa, mlir::m_Constant(&attribute))) {
    return std::nullopt;
  }
  DType type = value.tileType.element.dtype;
  Value number;
  if (auto whole = llvm::dyn_cast<mlir::IntegerAttr>(attribute)) {
    llvm::APInt bits = whole.getValue();
    bool isZeroExtended = isUnsigned(type) || type == DType::Bool;
    auto byte = static_cast<uint8_t>(bits.getZExtValue());
    number = type == DType::Bool      ? Value::boolean(!bits.isZero())
             : type == DType::F8E4B15 ? Value::floating(fromFloat8(byte, type))
             : isZeroExtended         ? Value::whole(bits.getZExtValue())
                                      : Value::whole(bits.getSExtValue());
  } else if (auto real = llvm::dyn_cast<mlir::FloatAttr>(attribute)) {
    number = Value::floating(real.getValueAsDouble());
  } else {
    return std::nullopt;
  }
  number.bound = type;
  return number;
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
static mlir::Value convertNumber(Emitter &emitter, const Value &value, DType to) {
  using namespace mlir::arith;
  DType from = value.tileType.element.dtype;
  TileType target{{to, false}, value.tileType.shape};
  mlir::Type type = emitter.mlirType(target);
  mlir::Value ssa = value.ssa;
  if (from == DType::F8E4B15) {
    return emitter.cast(halfOfE4B15(emitter, value), target.element).ssa;
  }
  if (to == DType::F8E4B15) {
    return e4b15Of(emitter, isFloat(from) ? value : emitter.cast(value, {DType::F32, false})).ssa;
  }
  if (isFloat(from) && isFloat(to)) {
    if (bitWidth(from) == bitWidth(to)) {
      // formats of one width do not contain each other: through float32, which holds all of them
      mlir::Type wide = emitter.mlirType(TileType{{DType::F32, false}, target.shape});
      return emitter.make<TruncFOp>(type, emitter.make<ExtFOp>(wide, ssa));
    }
    // MLIR's own folding of the truncation would keep an infinity of float8e5.
    if (std::optional<double> number = isFloat8(to) ? constantReal(ssa) : std::nullopt) {
      return emitter.constantTile(Value::floating(*number), to, target.shape).ssa;
    }
    return bitWidth(from) < bitWidth(to) ? emitter.make<ExtFOp>(type, ssa)
                                         : emitter.make<TruncFOp>(type, ssa);
  }
  if (isFloat8(from) || isFloat8(to)) {
    // Integers that float32 rounds lie beyond the largest 8-bit float and saturate either way.
    Value wide = emitter.cast(value, {DType::F32, false});
    return emitter.cast(wide, target.element).ssa;
  }
  if (isFloat(from)) {
    return isUnsigned(to) ? emitter.make<FPToUIOp>(type, ssa) : emitter.make<FPToSIOp>(type, ssa);
  }
  bool isZeroExtended = isUnsigned(from) || from == DType::Bool;
  if (isFloat(to)) {
    return isZeroExtended ? emitter.make<UIToFPOp>(type, ssa) : emitter.make<SIToFPOp>(type, ssa);
  }
  if (bitWidth(from) == bitWidth(to)) {
    return ssa;
  }
  if (bitWidth(from) > bitWidth(to)) {
    return emitter.make<TruncIOp>(type, ssa);
  }
  return isZeroExtended ? emitter.make<ExtUIOp>(type, ssa) : emitter.make<ExtSIOp>(type, ssa);
}

Value Emitter::cast(const Value &value, ElementType to) {
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
      return fail("E0209", "cannot convert " + typeText(from) + " to " + typeText(to),
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
  return Value::tile(convertNumber(*this, source, to.dtype), target, source.origins);
}

Value Emitter::bitcast(const Value &value, ElementType to) {
  Value source = toTile(value);
  if (source.isPoison() || source.tileType.element == to) {
    return source;
  }
  ElementType from = source.tileType.element;
  if (from.isPointer || to.isPointer) {
    return cast(source, to);
  }
  if (bitWidth(from.dtype) != bitWidth(to.dtype)) {
    return fail("E0209",
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

Value Emitter::truth(const Value &value) {
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

Value Emitter::splat(const Value &scalar, llvm::ArrayRef<int64_t> shape, Origins origins) {
  Value source = toTile(scalar);
  if (source.isPoison() || shape.empty()) {
    return source;
  }
  TileType target{source.tileType.element, Shape(shape.begin(), shape.end())};
  mlir::Type type = mlirType(target);
  mlir::Attribute attribute;
  if (mlir::matchPattern(source.ssa, mlir::m_Constant(&attribute))) {
    auto dense = mlir::DenseElementsAttr::get(llvm::cast<mlir::RankedTensorType>(type), attribute);
    return Value::tile(builder.create<mlir::arith::ConstantOp>(location(), dense), target, origins);
  }
  return Value::tile(make<tile::SplatOp>(type, source.ssa), target, origins);
}

Value Emitter::expandDim(const Value &value, int64_t axis) {
  Value source = toTile(value);
  if (source.isPoison()) {
    return source;
  }
  if (!source.isBlock()) {
    return splat(source, {1});
  }
  TileType target = source.tileType;
  target.shape.insert(target.shape.begin() + axis, 1);
  Origins origins = source.origins;
  origins.insert(origins.begin() + axis, nullptr);
  mlir::Value ssa =
      make<tile::ExpandDimsOp>(mlirType(target), source.ssa, static_cast<uint32_t>(axis));
  return Value::tile(ssa, target, origins);
}

Value Emitter::broadcastTo(const Value &value, llvm::ArrayRef<int64_t> shape, Origins origins) {
  Value source = toTile(value);
  if (source.isPoison() || llvm::ArrayRef<int64_t>(source.tileType.shape) == shape) {
    return source;
  }
  if (!source.isBlock()) {
    return splat(source, shape, origins);
  }
  while (source.tileType.shape.size() < shape.size()) {
    source = expandDim(source, 0);
  }
  bool isPossible = source.tileType.shape.size() == shape.size();
  origins.resize(shape.size(), nullptr);
  for (size_t i = 0; isPossible && i < shape.size(); ++i) {
    isPossible = source.tileType.shape[i] == shape[i] || source.tileType.shape[i] == 1;
    if (source.tileType.shape[i] != 1) {
      origins[i] = source.origins[i];
    }
  }
  if (!isPossible) {
    return fail("E0213",
                "cannot broadcast " + shapeText(value.tileType.shape) + " to " + shapeText(shape),
                "sizes must be equal or 1, aligned at the last dimension");
  }
  TileType target{source.tileType.element, Shape(shape.begin(), shape.end())};
  if (target == source.tileType) {
    return source;
  }
  return Value::tile(make<tile::BroadcastOp>(mlirType(target), source.ssa), target, origins);
}

bool Emitter::broadcastPair(Value &a, Value &b) {
  if (a.tileType.shape == b.tileType.shape) {
    return true;
  }
  const Shape &left = a.tileType.shape, &right = b.tileType.shape;
  size_t rank = std::max(left.size(), right.size());
  Shape shape(rank, 1);
  Origins origins(rank, nullptr);
  for (size_t i = 0; i < rank; ++i) {
    int64_t sizeA = i + left.size() < rank ? 1 : left[i + left.size() - rank];
    int64_t sizeB = i + right.size() < rank ? 1 : right[i + right.size() - rank];
    if (sizeA != sizeB && sizeA != 1 && sizeB != 1) {
      error("E0213", "shapes do not broadcast: " + shapeText(left) + " and " + shapeText(right) +
                         " differ in dimension " + std::to_string(i) + ", " +
                         std::to_string(sizeA) + " and " + std::to_string(sizeB))
          .withHelp("sizes must be equal or 1; make dimensions of size 1 with x[:, None] or "
                    "x[None, :]");
      return false;
    }
    shape[i] = std::max(sizeA, sizeB);
    bool isFromA = sizeA == shape[i] && a.isBlock() && i + left.size() >= rank;
    origins[i] = isFromA                                     ? a.origins[i + left.size() - rank]
                 : (b.isBlock() && i + right.size() >= rank) ? b.origins[i + right.size() - rank]
                                                             : nullptr;
  }
  if (!checkShape(shape)) {
    return false;
  }
  a = broadcastTo(a, shape, origins);
  b = broadcastTo(b, shape, origins);
  return !a.isPoison() && !b.isPoison();
}

Value Emitter::reshapeTo(const Value &value, llvm::ArrayRef<int64_t> shape) {
  Value source = toTile(value);
  if (source.isPoison()) {
    return source;
  }
  TileType target{source.tileType.element, Shape(shape.begin(), shape.end())};
  if (target.elementCount() != source.tileType.elementCount()) {
    return fail("E0215", "cannot reshape " + shapeText(source.tileType.shape) + " with " +
                             std::to_string(source.tileType.elementCount()) + " elements to " +
                             shapeText(shape) + " with " + std::to_string(target.elementCount()));
  }
  if (target == source.tileType) {
    return source;
  }
  if (!source.isBlock()) {
    return splat(source, shape);
  }
  if (!target.isBlock()) {
    return Value::tile(make<tile::UnsplatOp>(mlirType(target), source.ssa), target);
  }
  return Value::tile(make<tile::ReshapeOp>(mlirType(target), source.ssa), target);
}

bool Emitter::checkShape(llvm::ArrayRef<int64_t> shape) {
  int64_t count = 1;
  for (size_t i = 0; i < shape.size(); ++i) {
    int64_t size = shape[i];
    if (size <= 0 || (size & (size - 1)) != 0) {
      error("E0215", "a tile's sizes are powers of two, but dimension " + std::to_string(i) +
                         " of " + shapeText(shape) + " is " + std::to_string(size))
          .withHelp("round it up with triton.next_power_of_2 and mask what is too much");
      return false;
    }
    if (size > maxTileElements || (count *= size) > maxTileElements) {
      error("E0215", "a tile of " + shapeText(shape) + " has more than " +
                         std::to_string(maxTileElements) + " elements")
          .withHelp("use a smaller block and loop over it");
      return false;
    }
  }
  return true;
}

bool Emitter::broadcastAll(std::vector<Value> &values) {
  // Each pair widens to what both reach; the second round gives all the widest shape.
  for (int round = 0; round < 2; ++round) {
    for (size_t i = 1; i < values.size(); ++i) {
      if (!broadcastPair(values[0], values[i])) {
        return false;
      }
    }
  }
  return true;
}

} // namespace nereid::language::emit
