// SPDX-License-Identifier: Apache-2.0
// What stands after a dot or in brackets: dtype queries, shapes, methods, tile indexing with `:`
// and None, and indexing of tuples.
#include "lib/language/emit/builtins/BlockAccess.h"

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

Value Emitter::typeMethod(const Value &type, const std::string &name) {
  if (name == "get_block_shapes") {
    return shapeValue(type.tileType.shape);
  }
  std::optional<bool> answer = typePredicate(type.tileType, name);
  return answer ? Value::boolean(*answer) : fail("E0223", "a type has no method '" + name + "'");
}

static Value transposed(Emitter &emitter, const Value &base) {
  if (base.tileType.shape.size() != 2) {
    return emitter.fail("E0215", "'.T' expects a tile of rank 2, but got " + describe(base),
                        "use tl.trans with the order of dimensions");
  }
  const BuiltinEntry *entry = findBuiltin("trans", 'T');
  return emitter.callBuiltin(*entry, {Argument{"", base, nullptr}}, {});
}

static std::optional<Value> runtimeAttribute(Emitter &emitter, const Value &base,
                                             const TileType &type, const std::string &name) {
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
    return transposed(emitter, base);
  }
  if (name == "value" && base.isNumber()) {
    return base;
  }
  if (const BuiltinEntry *entry = findBuiltin(name, 'm')) {
    return method(base, entry, name);
  }
  return std::nullopt;
}

Value Emitter::attribute(const Value &base, const std::string &name) {
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
    return moduleAttribute(base.text, name);
  case Value::Kind::File:
  case Value::Kind::Import:
    return importAttribute(base, name);
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
    if (std::optional<Value> found = runtimeAttribute(*this, base, base.tileType, name)) {
      return *found;
    }
    break;
  case Value::Kind::Bool:
  case Value::Kind::Int:
  case Value::Kind::Float: {
    TileType type{{defaultType(base).value_or(DType::I64), false}, {}};
    if (std::optional<Value> found = runtimeAttribute(*this, base, type, name)) {
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
  return fail("E0223", describe(base) + " has no attribute '" + name + "'", help);
}

std::optional<Value> Emitter::tryAttribute(const Value &base, const std::string &name) {
  size_t before = reported.size();
  Value value = attribute(base, name);
  bool isMissing = value.isPoison() || value.kind == Value::Kind::Import;
  if (isMissing) {
    rollBack(before);
  }
  return isMissing ? std::nullopt : std::optional(value);
}

/// `:`, also written with None for its ends.
static bool isFullSlice(const Expr &index) {
  return index.kind == ExprKind::Slice && llvm::all_of(index.operands, [](const ExprPtr &end) {
           return !end || end->kind == ExprKind::None;
         });
}

static Value subscriptTile(Emitter &emitter, const Value &base, const Expr &index) {
  std::vector<const Expr *> parts;
  if (index.kind == ExprKind::Tuple) {
    for (const ExprPtr &operand : index.operands) {
      parts.push_back(operand.get());
    }
  } else {
    parts.push_back(&index);
  }
  Value result = base;
  int64_t rank = static_cast<int64_t>(base.tileType.shape.size());
  int64_t axis = 0, used = 0;
  for (const Expr *part : parts) {
    At at(emitter, part->range);
    if (part->kind == ExprKind::Ellipsis) {
      axis += rank - used;
      used = rank;
      continue;
    }
    if (isFullSlice(*part)) {
      if (!base.isBlock()) {
        continue; // upstream counts a scalar's dimensions as they come: s[:, None] has one
      }
      if (++used > rank) {
        return emitter.fail("E0218", "too many indices for " + describe(base));
      }
      ++axis;
      continue;
    }
    Value value = emitter.evaluate(*part);
    if (value.isPoison()) {
      return value;
    }
    if (!value.isNone()) {
      return emitter.fail("E0218",
                          "a tile is indexed with ':' and None only, but got " + describe(value),
                          "load the element you need, or reduce over the dimension");
    }
    // a scalar becomes a tile of one element first
    result = emitter.expandDim(result, result.isBlock() ? axis : 0);
    ++axis;
  }
  return result;
}

static std::optional<int64_t> sliceBound(Emitter &emitter, const Expr *expr, int64_t fallback,
                                         int64_t count) {
  if (!expr) {
    return fallback;
  }
  std::optional<int64_t> bound =
      emitter.constantInteger(emitter.evaluate(*expr), "a slice of a tuple");
  if (!bound) {
    return std::nullopt;
  }
  int64_t at = *bound < 0 ? *bound + count : *bound;
  return std::max<int64_t>(0, std::min(at, count));
}

static Value subscriptTuple(Emitter &emitter, const Value &base, const Expr &index) {
  auto count = static_cast<int64_t>(base.elements.size());
  if (index.kind == ExprKind::Slice) {
    if (index.operands.size() > 2 && index.operands[2]) {
      return emitter.fail("E0218", "a slice with a step is not supported in a kernel");
    }
    std::optional<int64_t> from = sliceBound(emitter, index.operands[0].get(), 0, count);
    std::optional<int64_t> to = sliceBound(emitter, index.operands[1].get(), count, count);
    if (!from || !to) {
      return Value::poison();
    }
    std::vector<Value> elements;
    for (int64_t i = *from; i < *to; ++i) {
      elements.push_back(base.elements[static_cast<size_t>(i)]);
    }
    return Value::tuple(std::move(elements));
  }
  std::optional<int64_t> at = emitter.constantInteger(emitter.evaluate(index), "a tuple's index");
  if (!at) {
    return Value::poison();
  }
  if (*at < -count || *at >= count) {
    return emitter.fail("E0218", "index " + std::to_string(*at) + " is outside a tuple of " +
                                     std::to_string(count));
  }
  return base.elements[static_cast<size_t>(*at < 0 ? *at + count : *at)];
}

Value Emitter::subscript(const Value &base, const Expr &index) {
  if (base.isPoison()) {
    return base;
  }
  if (base.isTuple()) {
    return subscriptTuple(*this, base, index);
  }
  if (base.isTile() || base.isNumber()) {
    Value source = toTile(base);
    return source.isPoison() ? source : subscriptTile(*this, source, index);
  }
  return fail("E0218", describe(base) + " cannot be indexed",
              base.kind == Value::Kind::Function ? "a kernel cannot launch another kernel" : "");
}

} // namespace nereid::language::emit
