// SPDX-License-Identifier: Apache-2.0
// Construction, comparison and wording of elaboration-time values.
#include "lib/language/emit/Value.h"

#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <limits>

namespace nereid::language::emit {

int64_t TileType::elementCount() const {
  int64_t count = 1;
  for (int64_t size : shape) {
    count *= size;
  }
  return count;
}

int bitWidth(DType type) {
  return type == DType::Bool ? 1 : static_cast<int>(sizeInBytes(type)) * 8;
}

bool isInteger(DType type) { return !isFloat(type); }

bool isUnsigned(DType type) { return isUnsignedInteger(type); }

std::string typeText(ElementType type) {
  std::string name;
  switch (type.dtype) {
  case DType::F16:
    name = "f16";
    break;
  case DType::F32:
    name = "f32";
    break;
  case DType::F64:
    name = "f64";
    break;
  default:
    name = std::string(kernelName(type.dtype));
  }
  return type.isPointer ? (type.isConst ? "*const " : "*") + name : name;
}

std::string typeText(const TileType &type) {
  std::string text;
  for (int64_t size : type.shape) {
    text += std::to_string(size) + "x";
  }
  return text + typeText(type.element);
}

std::string shapeText(llvm::ArrayRef<int64_t> shape) {
  std::string text = "(";
  for (size_t i = 0; i < shape.size(); ++i) {
    text += (i ? ", " : "") + std::to_string(shape[i]);
  }
  return text + (shape.size() == 1 ? ",)" : ")");
}

std::string integerText(Integer value) {
  bool isNegative = value < 0;
  unsigned __int128 rest = isNegative ? -static_cast<unsigned __int128>(value) : value;
  std::string digits;
  do {
    digits.insert(digits.begin(), static_cast<char>('0' + static_cast<int>(rest % 10)));
    rest /= 10;
  } while (rest != 0);
  return isNegative ? "-" + digits : digits;
}

Value Value::poison() {
  Value value;
  value.kind = Kind::Poison;
  return value;
}

Value Value::none() { return {}; }

Value Value::boolean(bool isTrue) {
  Value value;
  value.kind = Kind::Bool;
  value.integer = isTrue;
  return value;
}

Value Value::whole(Integer number) {
  Value value;
  value.kind = Kind::Int;
  value.integer = number;
  return value;
}

Value Value::floating(double number) {
  Value value;
  value.kind = Kind::Float;
  value.real = number;
  return value;
}

Value Value::string(std::string text) {
  Value value;
  value.kind = Kind::String;
  value.text = std::move(text);
  return value;
}

Value Value::type(ElementType element) {
  Value value;
  value.kind = Kind::Type;
  value.tileType.element = element;
  return value;
}

Value Value::tuple(std::vector<Value> elements) {
  Value value;
  value.kind = Kind::Tuple;
  value.elements = std::move(elements);
  return value;
}

Value Value::moduleNamed(std::string path) {
  Value value;
  value.kind = Kind::Module;
  value.text = std::move(path);
  return value;
}

Value Value::tile(mlir::Value ssa, TileType type, Origins origins) {
  Value value;
  value.kind = Kind::Tile;
  value.ssa = ssa;
  value.origins = std::move(origins);
  value.origins.resize(type.shape.size(), nullptr);
  value.tileType = std::move(type);
  return value;
}

bool isSame(const Value &a, const Value &b) {
  if (a.kind != b.kind) {
    return false;
  }
  switch (a.kind) {
  case Value::Kind::Poison:
  case Value::Kind::None:
    return true;
  case Value::Kind::Bool:
  case Value::Kind::Int:
    return a.integer == b.integer && a.bound == b.bound;
  case Value::Kind::Float:
    return (a.real == b.real || (std::isnan(a.real) && std::isnan(b.real))) &&
           std::signbit(a.real) == std::signbit(b.real) && a.bound == b.bound;
  case Value::Kind::String:
  case Value::Kind::Module:
  case Value::Kind::Import:
    return a.text == b.text;
  case Value::Kind::Type:
    return a.tileType == b.tileType && a.text == b.text && a.elements.size() == b.elements.size() &&
           std::equal(a.elements.begin(), a.elements.end(), b.elements.begin(), isSame);
  case Value::Kind::Function:
    return a.function == b.function;
  case Value::Kind::Class:
    return a.classDef == b.classDef;
  case Value::Kind::File:
    return a.module == b.module;
  case Value::Kind::Builtin:
    return a.builtin == b.builtin;
  case Value::Kind::Tile:
    return a.ssa == b.ssa && a.tileType == b.tileType;
  case Value::Kind::BlockPointer:
  case Value::Kind::Descriptor:
    if (!(a.tileType == b.tileType)) {
      return false;
    }
    [[fallthrough]];
  case Value::Kind::Method:
  case Value::Kind::Range:
  case Value::Kind::Tuple:
    if (a.builtin != b.builtin || a.function != b.function || a.classDef != b.classDef ||
        a.text != b.text || a.elements.size() != b.elements.size()) {
      return false;
    }
    for (size_t i = 0; i < a.elements.size(); ++i) {
      if (!isSame(a.elements[i], b.elements[i])) {
        return false;
      }
    }
    return true;
  }
  return false;
}

std::optional<DType> defaultType(const Value &constant) {
  if (constant.bound) {
    return constant.bound;
  }
  if (constant.kind == Value::Kind::Bool) {
    return DType::Bool;
  }
  if (constant.kind == Value::Kind::Int) {
    constexpr Integer one = 1;
    Integer value = constant.integer;
    if (value >= -(one << 31) && value < (one << 31)) {
      return DType::I32;
    }
    if (value >= 0 && value < (one << 32)) {
      return DType::U32;
    }
    if (value >= -(one << 63) && value < (one << 63)) {
      return DType::I64;
    }
    if (value >= 0 && value < (one << 64)) {
      return DType::U64;
    }
    return std::nullopt;
  }
  if (constant.kind == Value::Kind::Float) {
    double magnitude = std::fabs(constant.real);
    bool fitsSingle = magnitude == 0 || !std::isfinite(constant.real) ||
                      (magnitude >= std::numeric_limits<float>::min() &&
                       magnitude <= std::numeric_limits<float>::max());
    return fitsSingle ? DType::F32 : DType::F64;
  }
  return std::nullopt;
}

std::string typeName(ElementType type) {
  std::string text(kernelName(type.dtype));
  if (isInteger(type.dtype)) {
    text = type.dtype == DType::Bool ? "int1" : std::string(torchName(type.dtype));
  }
  return type.isPointer ? (type.isConst ? "const_pointer<" : "pointer<") + text + ">" : text;
}

std::string typeName(const TileType &type) {
  std::string element = typeName(type.element);
  return type.isBlock() ? "<" + shapeText(type.shape) + ", " + element + ">" : element;
}

/// As upstream prints a tensor: "fp32[constexpr[8], constexpr[16]]".
static std::string tensorText(const TileType &type) {
  std::string text;
  for (int64_t size : type.shape) {
    text += (text.empty() ? "constexpr[" : ", constexpr[") + std::to_string(size) + "]";
  }
  return typeName(type.element) + "[" + text + "]";
}

std::string pythonText(const Value &value) {
  switch (value.kind) {
  case Value::Kind::None:
    return "None";
  case Value::Kind::Bool:
    return value.integer ? "True" : "False";
  case Value::Kind::Int:
    return integerText(value.integer);
  case Value::Kind::Float: {
    if (std::isnan(value.real)) {
      return "nan";
    }
    if (std::isinf(value.real)) {
      return value.real < 0 ? "-inf" : "inf";
    }
    char buffer[40];
    for (int digits = 1; digits <= 17; ++digits) {
      std::snprintf(buffer, sizeof buffer, "%.*g", digits, value.real);
      if (std::strtod(buffer, nullptr) == value.real) {
        break;
      }
    }
    std::string text = buffer;
    return text.find_first_of(".e") == std::string::npos ? text + ".0" : text;
  }
  case Value::Kind::String:
  case Value::Kind::Module:
  case Value::Kind::File:
  case Value::Kind::Import:
    return value.text;
  case Value::Kind::Type:
    return typeName(value.tileType);
  case Value::Kind::Tuple: {
    std::string text = "(";
    for (size_t i = 0; i < value.elements.size(); ++i) {
      text += (i ? ", " : "") + pythonRepresentation(value.elements[i]);
    }
    return text + (value.elements.size() == 1 ? ",)" : ")");
  }
  case Value::Kind::Function:
    return value.function->name;
  case Value::Kind::Tile:
    return tensorText(value.tileType);
  default:
    return describe(value);
  }
}

std::string pythonRepresentation(const Value &value) {
  if (value.isString()) {
    return "'" + value.text + "'";
  }
  std::string text = pythonText(value);
  bool isNumberType =
      value.isType() && !value.tileType.isBlock() && !value.tileType.element.isPointer;
  if (!isNumberType) {
    return text;
  }
  // "fp8e4nv" and "bf16" are float8e4nv and bfloat16 where they are attributes of the language.
  std::string_view prefix = text.starts_with("fp")   ? "float"
                            : text.starts_with("bf") ? "bfloat"
                                                     : "";
  return "triton.language." + std::string(prefix) + text.substr(prefix.empty() ? 0 : 2);
}

std::string describe(const Value &value) {
  switch (value.kind) {
  case Value::Kind::Poison:
    return "an erroneous value";
  case Value::Kind::None:
    return "None";
  case Value::Kind::Bool:
  case Value::Kind::Int:
  case Value::Kind::Float:
    return "the constant " + pythonText(value);
  case Value::Kind::String:
    return "the string '" + value.text + "'";
  case Value::Kind::Type:
    return "the type " + typeText(value.tileType);
  case Value::Kind::Tuple:
    return "a tuple of " + std::to_string(value.elements.size());
  case Value::Kind::Function:
    return "the function '" + value.function->name + "'";
  case Value::Kind::Class:
    return "the class '" + value.classDef->names[0].name + "'";
  case Value::Kind::Builtin:
  case Value::Kind::Method:
    return "a function";
  case Value::Kind::Module:
  case Value::Kind::File:
    return "the module '" + value.text + "'";
  case Value::Kind::Range:
    return "a range";
  case Value::Kind::Import:
    return "'" + value.text + "', imported from a module that is not found";
  case Value::Kind::Tile:
    return typeText(value.tileType) + (value.isBlock() ? " tile" : " scalar");
  case Value::Kind::BlockPointer:
    return "a block pointer to " + typeText(value.tileType);
  case Value::Kind::Descriptor:
    return "a tensor descriptor with blocks of " + typeText(value.tileType);
  }
  return "a value";
}

} // namespace nereid::language::emit
