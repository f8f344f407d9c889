// SPDX-License-Identifier: Apache-2.0
#include "lib/language/emit/expressions/Attributes.h"

#include "lib/language/emit/builtins/BlockAccess.h"
#include "lib/language/emit/modules/Imports.h"
#include "lib/language/emit/modules/LanguageModules.h"
#include "lib/language/emit/modules/Objects.h"

#include <map>

namespace nereid::language::emit {

static Value method(const Value &self, const BuiltinEntry *entry, const std::string &name) {
  Value value;
  value.kind = Value::Kind::Method;
  value.builtin = entry;
  value.text = name;
  value.elements = {self};
  return value;
}

static Value shapeValue(const Shape &shape) {
  std::vector<Value> sizes;
  for (int64_t size : shape) {
    sizes.push_back(Value::whole(size));
  }
  return Value::tuple(std::move(sizes));
}

static Value typeValue(const TileType &type) {
  Value value = Value::type(type.element);
  value.tileType = type;
  return value;
}

/// What `.type` gives of a value that is known and no variable's.
static Value typeOfConstant(const Value &constant) {
  Value value = Value::type({defaultType(constant).value_or(DType::I32), false});
  value.text = constantType;
  value.elements = {constant};
  return value;
}

static bool isKnown(const Value &value) {
  return !value.isTile() && !value.isBlockAccess() &&
         llvm::all_of(value.elements, [](const Value &element) { return isKnown(element); });
}

static int mantissaBits(DType type) {
  if (isFloat8(type)) {
    return type == DType::F8E5M2 || type == DType::F8E5M2FNUZ ? 2 : 3;
  }
  return type == DType::F16 ? 10 : type == DType::BF16 ? 7 : type == DType::F32 ? 23 : 52;
}

static std::optional<Value> typeAttribute(const TileType &type, const std::string &name) {
  ElementType element = type.element;
  int bits = element.isPointer ? 64 : bitWidth(element.dtype);
  if (name == "scalar" || (name == "element_ty" && type.isBlock())) {
    return Value::type(element);
  }
  if (name == "element_ty") {
    return Value::type({element.dtype, false});
  }
  if (name == "primitive_bitwidth") {
    return Value::whole(bits);
  }
  if (name == "int_bitwidth" && !element.isPointer && isInteger(element.dtype)) {
    return Value::whole(bits);
  }
  if (name == "itemsize") {
    return Value::whole(std::max(bits / 8, 1));
  }
  if (name == "fp_mantissa_width" && !element.isPointer && isFloat(element.dtype)) {
    return Value::whole(mantissaBits(element.dtype));
  }
  if (name == "name") {
    return Value::string(typeName(type));
  }
  if (name == "shape" && type.isBlock()) {
    return shapeValue(type.shape);
  }
  if (name == "numel" && type.isBlock()) {
    return Value::whole(type.elementCount());
  }
  return std::nullopt;
}

/// Answers of `dtype.is_…()`.
static std::optional<bool> typePredicate(const TileType &type, const std::string &name) {
  DType dtype = type.element.dtype;
  bool isNumber = !type.element.isPointer;
  static const std::map<std::string, DType> exact = {{"is_fp16", DType::F16},
                                                     {"is_bf16", DType::BF16},
                                                     {"is_fp32", DType::F32},
                                                     {"is_fp64", DType::F64},
                                                     {"is_int1", DType::Bool},
                                                     {"is_bool", DType::Bool},
                                                     {"is_int8", DType::I8},
                                                     {"is_int16", DType::I16},
                                                     {"is_int32", DType::I32},
                                                     {"is_int64", DType::I64},
                                                     {"is_uint8", DType::U8},
                                                     {"is_uint16", DType::U16},
                                                     {"is_uint32", DType::U32},
                                                     {"is_uint64", DType::U64},
                                                     {"is_fp8e4nv", DType::F8E4M3FN},
                                                     {"is_fp8e5", DType::F8E5M2},
                                                     {"is_fp8e4b8", DType::F8E4M3FNUZ},
                                                     {"is_fp8e5b16", DType::F8E5M2FNUZ},
                                                     {"is_fp8e4b15", DType::F8E4B15}};
  if (auto found = exact.find(name); found != exact.end()) {
    return isNumber && dtype == found->second;
  }
  if (name == "is_floating") {
    return isNumber && isFloat(dtype);
  }
  if (name == "is_standard_floating") {
    return isNumber && isFloat(dtype) && !isFloat8(dtype);
  }
  if (name == "is_fp8") {
    return isNumber && isFloat8(dtype);
  }
  if (name == "is_int" || name == "is_integer_type") {
    return isNumber && isInteger(dtype);
  }
  if (name == "is_int_signed") {
    return isNumber && isSignedInteger(dtype);
  }
  if (name == "is_int_unsigned") {
    return isNumber && isInteger(dtype) && !isSignedInteger(dtype);
  }
  if (name == "is_ptr") {
    return type.element.isPointer;
  }
  if (name == "is_block") {
    return type.isBlock();
  }
  return std::nullopt;
}

Value typeMethod(Reporter &report, const Value &type, const std::string &name) {
  if (name == "get_block_shapes") {
    return shapeValue(type.tileType.shape);
  }
  std::optional<bool> answer = typePredicate(type.tileType, name);
  return answer ? Value::boolean(*answer)
                : report.fail("E0223", "a type has no method '" + name + "'");
}

Value Attributes::transposed(const Value &base) {
  if (base.tileType.shape.size() != 2) {
    return emitter.report.fail("E0215", "'.T' expects a tile of rank 2, but got " + describe(base),
                               "use tl.trans with the order of dimensions");
  }
  const BuiltinEntry *entry = findBuiltin("trans", 'T');
  return emitter.evaluation.callBuiltin(*entry, {Argument{"", base, nullptr}}, {});
}

std::optional<Value> Attributes::runtimeAttribute(const Value &base, const TileType &type,
                                                  const std::string &name) {
  if (name == "dtype") {
    return Value::type(type.element);
  }
  if (name == "type") {
    return base.isWeak() ? typeOfConstant(base) : typeValue(type);
  }
  if (name == "shape") {
    return shapeValue(type.shape);
  }
  if (name == "numel") {
    return Value::whole(type.elementCount());
  }
  if (name == "T") {
    return transposed(base);
  }
  if (name == "value" && base.isNumber()) {
    return base;
  }
  if (const BuiltinEntry *entry = findBuiltin(name, 'm')) {
    return method(base, entry, name);
  }
  return std::nullopt;
}

Value Attributes::attribute(const Value &base, const std::string &name) {
  bool isConstant = base.isType() || base.isString() || base.isTuple() || base.isNone() ||
                    base.kind == Value::Kind::Function;
  if (base.isTuple() && base.classDef) {
    if (std::optional<Value> found = objectAttribute(base, name)) {
      return *found;
    }
  }
  if (name == "__name__" && base.kind == Value::Kind::Function) {
    return Value::string(base.function->name);
  }
  if (name == "value" && isConstant) { // of a tl.constexpr
    return base;
  }
  if (name == "type" && (base.isString() || base.isNone() || (base.isTuple() && isKnown(base)))) {
    return typeOfConstant(base);
  }
  switch (base.kind) {
  case Value::Kind::Poison:
    return base;
  case Value::Kind::Module:
    return languageModules.attribute(base.text, name);
  case Value::Kind::File:
  case Value::Kind::Import:
    return imports.attribute(base, name);
  case Value::Kind::BlockPointer:
  case Value::Kind::Descriptor:
    if (std::optional<Value> found = blockAttribute(base, name)) {
      return *found;
    }
    break;
  case Value::Kind::Type:
    if (base.text == pointerToBlock && (name == "element_ty" || name == "scalar")) {
      Value found = base;
      found.text.clear();
      found.tileType.element.isPointer = false;
      return name == "scalar" ? base : found;
    }
    if (std::optional<Value> found = typeAttribute(base.tileType, name)) {
      return *found;
    }
    if (typePredicate(base.tileType, name) ||
        (name == "get_block_shapes" && base.tileType.isBlock())) {
      return method(base, nullptr, name);
    }
    break;
  case Value::Kind::Tile:
    if (std::optional<Value> found = runtimeAttribute(base, base.tileType, name)) {
      return *found;
    }
    break;
  case Value::Kind::Bool:
  case Value::Kind::Int:
  case Value::Kind::Float: {
    TileType type{{defaultType(base).value_or(DType::I64), false}, {}};
    if (std::optional<Value> found = runtimeAttribute(base, type, name)) {
      return *found;
    }
    break;
  }
  default:
    break;
  }
  std::string help;
  if (base.isTile()) {
    for (const std::string &other : nearestNames(name, builtinNames('m'))) {
      help += (help.empty() ? "did you mean '" : ", '") + other + "'";
    }
    help += help.empty() ? "" : "?";
  } else if (base.isNone()) {
    help = "the argument is None in this specialisation; guard the use with 'is not None'";
  }
  return emitter.report.fail("E0223", describe(base) + " has no attribute '" + name + "'", help);
}

std::optional<Value> Attributes::tryAttribute(const Value &base, const std::string &name) {
  size_t before = emitter.report.mark();
  Value value = attribute(base, name);
  bool isMissing = value.isPoison() || value.kind == Value::Kind::Import;
  if (isMissing) {
    emitter.report.rollBack(before);
  }
  return isMissing ? std::nullopt : std::optional(value);
}

} // namespace nereid::language::emit
