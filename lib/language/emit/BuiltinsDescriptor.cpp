// SPDX-License-Identifier: Apache-2.0
// Tensor descriptors: a base address with sizes and strides, through which whole blocks are read
// and written. What lies outside the sizes reads as 0 (or NaN) and is never written.
#include "lib/language/emit/BlockAccess.h"

#include <cmath>

namespace nereid::language::emit {

static const char *const howToMake =
    "make one with tl.make_tensor_descriptor, or take 'tensordesc<fp16[128,64]>' in the signature";

static bool isDescriptor(Emitter &emitter, const Value &given, const std::string &name) {
  if (given.kind == Value::Kind::Descriptor) {
    return true;
  }
  emitter.error("E0216", "'" + name + "' expects a tensor descriptor, but got " + describe(given))
      .withHelp(howToMake);
  return false;
}

Value makeTensorDescriptor(Emitter &emitter, const Bound &args) {
  const std::string of = " of 'make_tensor_descriptor'";
  if (!checkBase(emitter, args["base"], "'base'" + of)) {
    return Value::poison();
  }
  Value descriptor;
  descriptor.kind = Value::Kind::Descriptor;
  std::optional<Shape> block = blockShape(emitter, args, "'block_shape'" + of, descriptor.origins);
  if (!block) {
    return Value::poison();
  }
  size_t rank = block->size();
  DType type = args["base"].tileType.element.dtype;
  constexpr int64_t smallestRow = 16; // upstream's limit, in bytes
  if (const int64_t bytes = block->back() * std::max(bitWidth(type) / 8, 1); bytes < smallestRow) {
    return emitter.fail(
        "E0216",
        "the last of 'block_shape'" + of + " expects at least " + std::to_string(smallestRow) +
            " bytes, but got " + std::to_string(block->back()) + " elements of " +
            typeText(ElementType{type, false}) + ", " + std::to_string(bytes) + " bytes",
        "take larger blocks, or tl.make_block_ptr");
  }
  Value sizes = indexTuple(emitter, args["shape"], rank, DType::I64, "'shape'" + of);
  Value strides = indexTuple(emitter, args["strides"], rank, DType::I64, "'strides'" + of);
  Value padding = paddingValue(emitter, args["padding_option"], type);
  if (sizes.isPoison() || strides.isPoison() || padding.isPoison()) {
    return Value::poison();
  }
  std::optional<Value> last = emitter.knownNumber(strides.elements.back());
  if (last && last->integer != 1) {
    return emitter.fail("E0216",
                        "the last of 'strides'" + of + " expects 1, but got " + pythonText(*last),
                        "a descriptor's rows are contiguous; use tl.make_block_ptr for others");
  }
  descriptor.tileType = {{type, false}, *block};
  descriptor.text = padding.kind == Value::Kind::Float ? "nan" : "";
  descriptor.elements = {args["base"], std::move(sizes), std::move(strides)};
  return descriptor;
}

/// For isinstance; nothing can be made by calling it.
Value descriptorType(Emitter &emitter, const Bound &) {
  return emitter.fail("E0224", "'tensor_descriptor' is a type and cannot be called", howToMake);
}

/// Pointers and mask of the block at the offsets; every dimension can end early.
static BlockTile blockAt(Emitter &emitter, const Bound &args, const std::string &name) {
  const Value &descriptor = args["desc"];
  if (!isDescriptor(emitter, descriptor, name)) {
    return {Value::poison(), Value::none()};
  }
  size_t rank = descriptor.tileType.shape.size();
  Value offsets =
      indexTuple(emitter, args["offsets"], rank, DType::I64, "'offsets' of '" + name + "'");
  if (offsets.isPoison()) {
    return {offsets, Value::none()};
  }
  BlockTile block = addressBlock(emitter, descriptor, blockIndices(emitter, descriptor, offsets),
                                 llvm::SmallVector<bool>(rank, true));
  block.pointers.origins = descriptor.origins;
  return block;
}

/// Rows picked by a tile of row numbers, columns from `y_offset` on.
static BlockTile rowsAt(Emitter &emitter, const Bound &args, const std::string &name) {
  const BlockTile failed{Value::poison(), Value::none()};
  const Value &descriptor = args["desc"];
  if (!isDescriptor(emitter, descriptor, name)) {
    return failed;
  }
  const Shape &shape = descriptor.tileType.shape;
  if (shape.size() != 2 || shape[0] != 1) {
    emitter
        .error("E0216", "'" + name + "' expects a descriptor with blocks of one row, but got " +
                            describe(descriptor))
        .withHelp("make it with block_shape=[1, N]");
    return failed;
  }
  Value rows = emitter.toTile(args["x_offsets"]);
  if (rows.isPoison()) {
    return failed;
  }
  bool areIndices =
      rows.tileType.shape.size() == 1 && !rows.isPointer() && !isFloat(rows.tileType.element.dtype);
  if (!areIndices) {
    emitter.error("E0216", "'x_offsets' of '" + name +
                               "' expects a tile of rank 1 of integers, but got " + describe(rows));
    return failed;
  }
  Value column = indexValue(emitter, args["y_offset"], DType::I64, "'y_offset' of '" + name + "'");
  if (column.isPoison()) {
    return failed;
  }
  Value first = Value::whole(0);
  first.bound = DType::I64;
  return addressBlock(emitter, descriptor,
                      {{first, emitter.cast(rows, {DType::I64, false}), false},
                       {emitter.cast(column, {DType::I64, false}), indexRange(emitter, shape[1])}},
                      {true, true});
}

static Value loadFrom(Emitter &emitter, const Value &descriptor, const BlockTile &block) {
  if (block.pointers.isPoison()) {
    return Value::poison();
  }
  TileType type{descriptor.tileType.element, block.pointers.tileType.shape};
  Value padding = descriptor.text == "nan" ? Value::floating(std::nan("")) : Value::whole(0);
  Value other = emitter.constantTile(padding, type.element.dtype, type.shape);
  mlir::Value ssa = emitter.builder.create<tile::LoadOp>(
      emitter.location(), emitter.mlirType(type), block.pointers.ssa, block.mask.ssa, other.ssa,
      tile::CacheModifier::None, tile::EvictionPolicy::Normal, false);
  return Value::tile(ssa, type, block.pointers.origins);
}

/// The value as the descriptor's elements; its shape must be that of the block.
static Value operandFor(Emitter &emitter, const Value &descriptor, const Value &given,
                        const BlockTile &block, const std::string &name) {
  if (block.pointers.isPoison() ||
      refuseConst(emitter, descriptor.elements[BlockParts::Base], name)) {
    return Value::poison();
  }
  Value value = emitter.toTile(given);
  if (value.isPoison()) {
    return value;
  }
  const Shape &wanted = block.pointers.tileType.shape;
  if (value.isPointer() || value.tileType.shape != wanted) {
    TileType expected{descriptor.tileType.element, wanted};
    return emitter.fail("E0216",
                        "'value' of '" + name + "' expects a tile of " + typeText(expected) +
                            ", but got " + describe(value),
                        "reshape it, or broadcast it with tl.broadcast_to");
  }
  return emitter.cast(value, descriptor.tileType.element);
}

static Value storeTo(Emitter &emitter, const Bound &args, const BlockTile &block,
                     const std::string &name) {
  Value value = operandFor(emitter, args["desc"], args["value"], block, name);
  if (value.isPoison()) {
    return value;
  }
  emitter.builder.create<tile::StoreOp>(emitter.location(), block.pointers.ssa, value.ssa,
                                        block.mask.ssa, tile::CacheModifier::None,
                                        tile::EvictionPolicy::Normal);
  return Value::none();
}

Value loadDescriptor(Emitter &emitter, const Bound &args) {
  return loadFrom(emitter, args["desc"], blockAt(emitter, args, "load"));
}

Value storeDescriptor(Emitter &emitter, const Bound &args) {
  return storeTo(emitter, args, blockAt(emitter, args, "store"), "store");
}

Value gatherDescriptor(Emitter &emitter, const Bound &args) {
  return loadFrom(emitter, args["desc"], rowsAt(emitter, args, "gather"));
}

Value scatterDescriptor(Emitter &emitter, const Bound &args) {
  return storeTo(emitter, args, rowsAt(emitter, args, "scatter"), "scatter");
}

/// The operation's kind for the element type; nothing when there is none for it.
static std::optional<tile::AtomicKind> kindFor(tile::AtomicKind kind, DType type) {
  bool isBitwise = kind == tile::AtomicKind::And || kind == tile::AtomicKind::Or ||
                   kind == tile::AtomicKind::Xor;
  bool isAdd = kind == tile::AtomicKind::Add, isMax = kind == tile::AtomicKind::Max;
  if (isFloat(type)) {
    bool isAllowed = !isBitwise && !isFloat8(type);
    return !isAllowed ? std::nullopt
                      : std::optional(isAdd   ? tile::AtomicKind::FAdd
                                      : isMax ? tile::AtomicKind::FMax
                                              : tile::AtomicKind::FMin);
  }
  if (bitWidth(type) < 32) {
    return std::nullopt;
  }
  if (isBitwise || isAdd || !isUnsigned(type)) {
    return kind;
  }
  return isMax ? tile::AtomicKind::UMax : tile::AtomicKind::UMin;
}

static Value update(Emitter &emitter, const Bound &args, const std::string &name,
                    tile::AtomicKind kind) {
  BlockTile block = blockAt(emitter, args, name);
  Value value = operandFor(emitter, args["desc"], args["value"], block, name);
  if (value.isPoison()) {
    return value;
  }
  DType type = value.tileType.element.dtype;
  std::optional<tile::AtomicKind> fitting = kindFor(kind, type);
  if (!fitting) {
    return emitter.fail("E0216",
                        "'" + name + "' is not defined for elements of " +
                            typeText(ElementType{type, false}),
                        "it updates integers of 32 and 64 bits; atomic_add, atomic_max and "
                        "atomic_min also floats of 16 bits and more");
  }
  emitter.builder.create<tile::AtomicRMWOp>(emitter.location(), value.ssa.getType(), *fitting,
                                            block.pointers.ssa, value.ssa, block.mask.ssa,
                                            tile::MemorySemantics::Relaxed, tile::MemoryScope::GPU);
  return Value::none();
}

Value descriptorAdd(Emitter &emitter, const Bound &args) {
  return update(emitter, args, "atomic_add", tile::AtomicKind::Add);
}

Value descriptorMax(Emitter &emitter, const Bound &args) {
  return update(emitter, args, "atomic_max", tile::AtomicKind::Max);
}

Value descriptorMin(Emitter &emitter, const Bound &args) {
  return update(emitter, args, "atomic_min", tile::AtomicKind::Min);
}

Value descriptorAnd(Emitter &emitter, const Bound &args) {
  return update(emitter, args, "atomic_and", tile::AtomicKind::And);
}

Value descriptorOr(Emitter &emitter, const Bound &args) {
  return update(emitter, args, "atomic_or", tile::AtomicKind::Or);
}

Value descriptorXor(Emitter &emitter, const Bound &args) {
  return update(emitter, args, "atomic_xor", tile::AtomicKind::Xor);
}

} // namespace nereid::language::emit
