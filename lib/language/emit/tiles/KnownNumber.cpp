// SPDX-License-Identifier: Apache-2.0
#include "lib/language/emit/tiles/KnownNumber.h"

#include "runtime/elements/Float8.h"

#include "mlir/IR/Matchers.h"

namespace nereid::language::emit {

std::optional<Value> knownNumber(const Value &value) {
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

std::optional<bool> constantTruth(const Value &value) {
  switch (value.kind) {
  case Value::Kind::None:
    return false;
  case Value::Kind::Bool:
  case Value::Kind::Int:
    return value.integer != 0;
  case Value::Kind::Float:
    return value.real != 0;
  case Value::Kind::String:
    return !value.text.empty();
  case Value::Kind::Tuple:
    return !value.elements.empty();
  case Value::Kind::Poison:
  case Value::Kind::Import: // of a library that is not read
    return std::nullopt;
  case Value::Kind::Tile: {
    if (value.isPointer() && !value.isBlock()) {
      return true; // an argument that is not None
    }
    std::optional<Value> known = knownNumber(value);
    return known ? constantTruth(*known) : std::nullopt;
  }
  default:
    return true;
  }
}

} // namespace nereid::language::emit
