// SPDX-License-Identifier: Apache-2.0
// Tensor descriptors: a base address with sizes and strides, through which whole blocks are read
// and written. What lies outside the sizes reads as 0 (or NaN) and is never written. Here they are
// their parts, as loops and branches carry them; each access has operations of its own in tile IR.
#include "lib/language/emit/builtins/BlockAccess.h"

#include <cmath>

namespace nereid::language::emit {

static const char *const howToMake =
    "make one with tl.make_tensor_descriptor, or take 'tensordesc<fp16[128,64]>' in the signature";

static bool isDescriptor(Emitter &emitter, const Value &given, const std::string &name) {
  if (given.kind == Value::Kind::Descriptor) {
    return true;
  }
  emitter.report
      .error("E0216", "'" + name + "' expects a tensor descriptor, but got " + describe(given))
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
    return emitter.report.fail(
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
  std::optional<Value> last = knownNumber(strides.elements.back());
  if (last && last->integer != 1) {
    return emitter.report.fail(
        "E0216", "the last of 'strides'" + of + " expects 1, but got " + pythonText(*last),
        "a descriptor's rows are contiguous; use tl.make_block_ptr for others");
  }
  descriptor.tileType = {{type, false}, *block};
  descriptor.text = padding.kind == Value::Kind::Float ? "nan" : "";
  descriptor.elements = {args["base"], std::move(sizes), std::move(strides)};
  return descriptor;
}

/// For isinstance; nothing can be made by calling it.
Value descriptorType(Emitter &emitter, const Bound &) {
  return emitter.report.fail("E0224", "'tensor_descriptor' is a type and cannot be called",
                             howToMake);
}

/// The operation that makes the descriptor, in front of each access: equal ones become one, and
/// leave the loops, as the phases after this one go on.
static mlir::Value descriptorValue(Emitter &emitter, const Value &descriptor) {
  auto scalars = [&](size_t part) {
    llvm::SmallVector<mlir::Value> values;
    for (const Value &element : descriptor.elements[part].elements) {
      values.push_back(emitter.tiles.cast(element, {DType::I64, false}).ssa);
    }
    return values;
  };
  auto type =
      tile::DescriptorType::get(emitter.tiles.builder.getContext(), descriptor.tileType.shape,
                                emitter.tiles.mlirType(descriptor.tileType.element));
  return emitter.tiles.create<tile::MakeDescriptorOp>(
      type, descriptor.elements[BlockParts::Base].ssa, scalars(BlockParts::Sizes),
      scalars(BlockParts::Strides),
      descriptor.text == "nan" ? tile::Padding::NaN : tile::Padding::Zero);
}

/// One access: its descriptor, and where in it.
struct DescriptorAccess {
  const Value &descriptor;
  TileType type;                          ///< of the tile read or written
  llvm::SmallVector<mlir::Value> offsets; ///< of a block
  mlir::Value rows, column;               ///< of picked rows
};

/// The block at the offsets; nothing after an error.
static std::optional<DescriptorAccess> blockAt(Emitter &emitter, const Bound &args,
                                               const std::string &name) {
  const Value &descriptor = args["desc"];
  if (!isDescriptor(emitter, descriptor, name)) {
    return std::nullopt;
  }
  size_t rank = descriptor.tileType.shape.size();
  Value offsets =
      indexTuple(emitter, args["offsets"], rank, DType::I64, "'offsets' of '" + name + "'");
  if (offsets.isPoison() || !emitter.tiles.checkShape(descriptor.tileType.shape)) {
    return std::nullopt;
  }
  DescriptorAccess access{descriptor, descriptor.tileType, {}, {}, {}};
  for (const Value &offset : offsets.elements) {
    access.offsets.push_back(emitter.tiles.cast(offset, {DType::I64, false}).ssa);
  }
  return access;
}

/// Rows picked by a tile of row numbers, columns from `y_offset` on; nothing after an error.
static std::optional<DescriptorAccess> rowsAt(Emitter &emitter, const Bound &args,
                                              const std::string &name) {
  const Value &descriptor = args["desc"];
  if (!isDescriptor(emitter, descriptor, name)) {
    return std::nullopt;
  }
  const Shape &shape = descriptor.tileType.shape;
  if (shape.size() != 2 || shape[0] != 1) {
    emitter.report
        .error("E0216", "'" + name + "' expects a descriptor with blocks of one row, but got " +
                            describe(descriptor))
        .withHelp("make it with block_shape=[1, N]");
    return std::nullopt;
  }
  Value rows = emitter.tiles.toTile(args["x_offsets"]);
  if (rows.isPoison()) {
    return std::nullopt;
  }
  bool areIndices =
      rows.tileType.shape.size() == 1 && !rows.isPointer() && !isFloat(rows.tileType.element.dtype);
  if (!areIndices) {
    emitter.report.error("E0216", "'x_offsets' of '" + name +
                                      "' expects a tile of rank 1 of integers, but got " +
                                      describe(rows));
    return std::nullopt;
  }
  Value column = indexValue(emitter, args["y_offset"], DType::I64, "'y_offset' of '" + name + "'");
  TileType type{descriptor.tileType.element, {rows.tileType.shape[0], shape[1]}};
  if (column.isPoison() || !emitter.tiles.checkShape(type.shape)) {
    return std::nullopt;
  }
  return DescriptorAccess{descriptor,
                          type,
                          {},
                          emitter.tiles.cast(rows, {DType::I64, false}).ssa,
                          emitter.tiles.cast(column, {DType::I64, false}).ssa};
}

/// The value as the descriptor's elements; its shape must be that of the tile written.
static Value operandFor(Emitter &emitter, const DescriptorAccess &access, const Value &given,
                        const std::string &name) {
  if (refuseConst(emitter, access.descriptor.elements[BlockParts::Base], name)) {
    return Value::poison();
  }
  Value value = emitter.tiles.toTile(given);
  if (value.isPoison()) {
    return value;
  }
  if (value.isPointer() || value.tileType.shape != access.type.shape) {
    return emitter.report.fail("E0216",
                               "'value' of '" + name + "' expects a tile of " +
                                   typeText(access.type) + ", but got " + describe(value),
                               "reshape it, or broadcast it with tl.broadcast_to");
  }
  return emitter.tiles.cast(value, access.type.element);
}

Value loadDescriptor(Emitter &emitter, const Bound &args) {
  std::optional<DescriptorAccess> access = blockAt(emitter, args, "load");
  if (!access) {
    return Value::poison();
  }
  mlir::Value ssa = emitter.tiles.create<tile::DescriptorLoadOp>(
      emitter.tiles.mlirType(access->type), descriptorValue(emitter, access->descriptor),
      access->offsets);
  return Value::tile(ssa, access->type, access->descriptor.origins);
}

Value storeDescriptor(Emitter &emitter, const Bound &args) {
  std::optional<DescriptorAccess> access = blockAt(emitter, args, "store");
  Value value = access ? operandFor(emitter, *access, args["value"], "store") : Value::poison();
  if (value.isPoison()) {
    return value;
  }
  emitter.tiles.create<tile::DescriptorStoreOp>(descriptorValue(emitter, access->descriptor),
                                                access->offsets, value.ssa);
  return Value::none();
}

Value gatherDescriptor(Emitter &emitter, const Bound &args) {
  std::optional<DescriptorAccess> access = rowsAt(emitter, args, "gather");
  if (!access) {
    return Value::poison();
  }
  mlir::Value ssa = emitter.tiles.create<tile::DescriptorGatherOp>(
      emitter.tiles.mlirType(access->type), descriptorValue(emitter, access->descriptor),
      access->rows, access->column);
  return Value::tile(ssa, access->type, {nullptr, access->descriptor.origins[1]});
}

Value scatterDescriptor(Emitter &emitter, const Bound &args) {
  std::optional<DescriptorAccess> access = rowsAt(emitter, args, "scatter");
  Value value = access ? operandFor(emitter, *access, args["value"], "scatter") : Value::poison();
  if (value.isPoison()) {
    return value;
  }
  emitter.tiles.create<tile::DescriptorScatterOp>(descriptorValue(emitter, access->descriptor),
                                                  access->rows, access->column, value.ssa);
  return Value::none();
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
  std::optional<DescriptorAccess> access = blockAt(emitter, args, name);
  Value value = access ? operandFor(emitter, *access, args["value"], name) : Value::poison();
  if (value.isPoison()) {
    return value;
  }
  DType type = value.tileType.element.dtype;
  std::optional<tile::AtomicKind> fitting = kindFor(kind, type);
  if (!fitting) {
    return emitter.report.fail("E0216",
                               "'" + name + "' is not defined for elements of " +
                                   typeText(ElementType{type, false}),
                               "it updates integers of 32 and 64 bits; atomic_add, atomic_max and "
                               "atomic_min also floats of 16 bits and more");
  }
  emitter.tiles.create<tile::DescriptorReduceOp>(
      *fitting, descriptorValue(emitter, access->descriptor), access->offsets, value.ssa);
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
