// SPDX-License-Identifier: Apache-2.0
// What stands after a dot on block pointers and tensor descriptors: types, sizes and methods.
#include "lib/language/emit/builtins/BlockAccess.h"

namespace nereid::language::emit {

static Value method(const Value &self, const BuiltinEntry *entry) {
  Value value;
  value.kind = Value::Kind::Method;
  value.builtin = entry;
  value.text = std::string(entry->name);
  value.elements = {self};
  return value;
}

static Value blockType(const TileType &type) {
  Value value = Value::type(type.element);
  value.tileType = type;
  return value;
}

static Value sizesOf(const Shape &shape) {
  std::vector<Value> sizes;
  for (int64_t size : shape) {
    sizes.push_back(Value::whole(size));
  }
  return Value::tuple(std::move(sizes));
}

static std::optional<Value> pointerAttribute(const Value &access, const std::string &name) {
  if (name != "dtype" && name != "type") {
    return std::nullopt;
  }
  Value type = blockType(access.tileType); // upstream: a pointer whose element is a block
  type.tileType.element.isPointer = true;
  type.text = pointerToBlock;
  return type;
}

static std::optional<Value> descriptorAttribute(const Value &access, const std::string &name) {
  if (name == "dtype") {
    return Value::type(access.tileType.element);
  }
  if (name == "block_type") {
    return blockType(access.tileType);
  }
  if (name == "block_shape") {
    return sizesOf(access.tileType.shape);
  }
  if (name == "shape") {
    return access.elements[BlockParts::Sizes];
  }
  if (name == "strides") {
    return access.elements[BlockParts::Strides];
  }
  return std::nullopt;
}

std::optional<Value> blockAttribute(const Value &access, const std::string &name) {
  bool isPointer = access.kind == Value::Kind::BlockPointer;
  if (std::optional<Value> found =
          isPointer ? pointerAttribute(access, name) : descriptorAttribute(access, name)) {
    return found;
  }
  const BuiltinEntry *entry = findBuiltin(name, isPointer ? 'b' : 'd');
  return entry ? std::optional(method(access, entry)) : std::nullopt;
}

} // namespace nereid::language::emit
