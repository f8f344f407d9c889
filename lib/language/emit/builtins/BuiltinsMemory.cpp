// SPDX-License-Identifier: Apache-2.0
// Builtins on the grid and on memory: program_id, num_programs, load, store.
#include "lib/language/emit/builtins/BlockAccess.h"

namespace nereid::language::emit {

static std::optional<uint32_t> gridAxis(Emitter &emitter, const Bound &args, const char *name) {
  std::optional<int64_t> axis =
      emitter.constants.integer(args["axis"], "'axis' of '" + std::string(name) + "'");
  if (axis && (*axis < 0 || *axis > 2)) {
    emitter.report.error("E0215", "'axis' of '" + std::string(name) +
                                      "' expects 0, 1 or 2, but got " + std::to_string(*axis));
    return std::nullopt;
  }
  return axis ? std::optional(static_cast<uint32_t>(*axis)) : std::nullopt;
}

Value programId(Emitter &emitter, const Bound &args) {
  std::optional<uint32_t> axis = gridAxis(emitter, args, "program_id");
  return axis ? Value::tile(emitter.tiles.make<tile::ProgramIdOp>(*axis), {{DType::I32, false}, {}})
              : Value::poison();
}

Value numPrograms(Emitter &emitter, const Bound &args) {
  std::optional<uint32_t> axis = gridAxis(emitter, args, "num_programs");
  return axis ? Value::tile(emitter.tiles.make<tile::NumProgramsOp>(*axis),
                            {{DType::I32, false}, {}})
              : Value::poison();
}

static bool checkPointer(Emitter &emitter, const Bound &args, const char *name) {
  const Value &pointer = args["pointer"];
  if (!pointer.isPointer()) {
    emitter.report
        .error("E0216",
               "'" + std::string(name) + "' expects a pointer, but got " + describe(pointer))
        .withHelp(pointer.isNone()
                      ? "the argument is None in this specialisation; guard the access with "
                        "'is not None'"
                      : "declare the argument as a pointer in the signature, e.g. *fp32");
    return false;
  }
  const Value &check = args["boundary_check"], &padding = args["padding_option"];
  if ((check.isTuple() && !check.elements.empty()) || check.isNumber() ||
      (padding.isString() && !padding.text.empty())) {
    emitter.report
        .error("E0216", "'boundary_check' and 'padding_option' go with a block pointer, but '" +
                            std::string(name) + "' got " + describe(pointer))
        .withHelp("use 'mask' and 'other', or make a block pointer with tl.make_block_ptr");
    return false;
  }
  return true;
}

/// Brings a mask to i1 and the pointers' shape, widening the pointers when the mask is larger.
static bool bindMask(Emitter &emitter, const Value &given, Value &pointer, Value &mask,
                     const char *name) {
  mask = emitter.tiles.truth(given);
  if (mask.isPoison()) {
    return false;
  }
  if (mask.isBlock() && !pointer.isBlock()) {
    emitter.report
        .error("E0216", "the mask of '" + std::string(name) + "' is " + describe(mask) +
                            ", but the pointer is a scalar")
        .withHelp("add an offset tile to the pointer, e.g. pointer + tl.arange(0, BLOCK)");
    return false;
  }
  return emitter.tiles.broadcastPair(pointer, mask);
}

static std::optional<tile::CacheModifier> cacheModifier(Emitter &emitter, const Bound &args,
                                                        const char *allowed) {
  std::optional<std::string> text =
      emitter.constants.string(args["cache_modifier"], "'cache_modifier'");
  if (!text) {
    return std::nullopt;
  }
  if (text->empty()) {
    return tile::CacheModifier::None;
  }
  bool isAllowed = std::string_view(allowed).find(*text + " ") != std::string_view::npos;
  std::optional<tile::CacheModifier> modifier =
      tile::symbolizeCacheModifier(llvm::StringRef(*text).drop_front());
  if (!isAllowed || !modifier) {
    emitter.report.error("E0229", "'cache_modifier' expects one of " + std::string(allowed) +
                                      "or '', but got '" + *text + "'");
    return std::nullopt;
  }
  return modifier;
}

static std::optional<tile::EvictionPolicy> evictionPolicy(Emitter &emitter, const Bound &args) {
  std::optional<std::string> text =
      emitter.constants.string(args["eviction_policy"], "'eviction_policy'");
  if (!text) {
    return std::nullopt;
  }
  if (text->empty() || *text == "evict_normal") {
    return tile::EvictionPolicy::Normal;
  }
  if (*text == "evict_first" || *text == "evict_last") {
    return *text == "evict_first" ? tile::EvictionPolicy::First : tile::EvictionPolicy::Last;
  }
  emitter.report.error("E0229",
                       "'eviction_policy' expects 'evict_first', 'evict_last' or '', but got '" +
                           *text + "'");
  return std::nullopt;
}

/// Pointers, mask and what is read where the mask is false, of a load through pointers.
static bool bindLoad(Emitter &emitter, const Bound &args, Value &pointer, Value &mask,
                     Value &other) {
  if (!checkPointer(emitter, args, "load")) {
    return false;
  }
  pointer = args["pointer"];
  bool hasMask = !args["mask"].isNone(), hasOther = !args["other"].isNone();
  if (hasOther && !hasMask) {
    emitter.report.error("E0216", "'other' of 'load' needs a mask")
        .withHelp("add 'mask=', or drop 'other'");
    return false;
  }
  if (hasMask && !bindMask(emitter, args["mask"], pointer, mask, "load")) {
    return false;
  }
  if (hasOther) {
    other = emitter.tiles.cast(args["other"], {pointer.tileType.element.dtype, false});
    if (other.isPoison()) {
      return false;
    }
    if (other.isBlock() && !pointer.isBlock()) {
      emitter.report.error("E0216", "'other' of 'load' is " + describe(other) +
                                        ", but the pointer is a scalar");
      return false;
    }
    other = emitter.tiles.broadcastTo(other, pointer.tileType.shape, pointer.origins);
  }
  return !other.isPoison();
}

/// The same of a load through a block pointer.
static bool bindBlockLoad(Emitter &emitter, const Bound &args, Value &pointer, Value &mask,
                          Value &other) {
  const Value &access = args["pointer"];
  BlockTile block = addressForAccess(emitter, args, "load");
  Value padding = paddingValue(emitter, args["padding_option"], access.tileType.element.dtype);
  if (block.pointers.isPoison() || padding.isPoison()) {
    return false;
  }
  pointer = block.pointers;
  pointer.origins = access.origins;
  mask = block.mask;
  if (!mask.isNone()) {
    other =
        emitter.tiles.constantTile(padding, access.tileType.element.dtype, access.tileType.shape);
  }
  return true;
}

Value loadBuiltin(Emitter &emitter, const Bound &args) {
  Value pointer, mask, other;
  bool isBlockPointer = args["pointer"].kind == Value::Kind::BlockPointer;
  if (!(isBlockPointer ? bindBlockLoad : bindLoad)(emitter, args, pointer, mask, other)) {
    return Value::poison();
  }
  ElementType element{pointer.tileType.element.dtype, false};
  std::optional<tile::CacheModifier> cache = cacheModifier(emitter, args, ".ca .cg .cs .cv ");
  std::optional<tile::EvictionPolicy> evict = evictionPolicy(emitter, args);
  std::optional<bool> isVolatile = emitter.constants.flag(args["volatile"], "'volatile'");
  if (!cache || !evict || !isVolatile) {
    return Value::poison();
  }
  TileType type{element, pointer.tileType.shape};
  mlir::Value ssa = emitter.tiles.create<tile::LoadOp>(
      emitter.tiles.mlirType(type), pointer.ssa, mask.ssa, other.ssa, *cache, *evict, *isVolatile);
  return Value::tile(ssa, type, pointer.origins);
}

bool refuseConst(Emitter &emitter, const Value &pointer, const std::string &name) {
  if (!pointer.tileType.element.isConst) {
    return false;
  }
  emitter.report
      .error("E0216", "'" + name + "' writes through " + describe(pointer) +
                          ", which is annotated tl.const and only read")
      .withHelp("remove the annotation, or write to another tensor");
  return true;
}

Value storeBuiltin(Emitter &emitter, const Bound &args) {
  Value pointer = args["pointer"], mask;
  const bool isBlockPointer = pointer.kind == Value::Kind::BlockPointer;
  if (refuseConst(emitter, isBlockPointer ? pointer.elements[BlockParts::Base] : pointer,
                  "store")) {
    return Value::poison();
  }
  if (isBlockPointer) {
    BlockTile block = addressForAccess(emitter, args, "store");
    pointer = block.pointers;
    mask = block.mask;
    if (pointer.isPoison()) {
      return pointer;
    }
  } else if (!checkPointer(emitter, args, "store")) {
    return Value::poison();
  } else if (!args["mask"].isNone() && !bindMask(emitter, args["mask"], pointer, mask, "store")) {
    return Value::poison();
  }
  Value value = emitter.tiles.cast(args["value"], {pointer.tileType.element.dtype, false});
  if (value.isPoison()) {
    return value;
  }
  if (value.isBlock() && !pointer.isBlock()) {
    return emitter.report.fail(
        "E0216", "'store' writes " + describe(value) + " through a scalar pointer",
        "add an offset tile to the pointer, e.g. pointer + tl.arange(0, BLOCK)");
  }
  value = emitter.tiles.broadcastTo(value, pointer.tileType.shape);
  std::optional<tile::CacheModifier> cache = cacheModifier(emitter, args, ".wb .cg .cs .wt ");
  std::optional<tile::EvictionPolicy> evict = evictionPolicy(emitter, args);
  if (!cache || !evict || value.isPoison()) {
    return Value::poison();
  }
  emitter.tiles.create<tile::StoreOp>(pointer.ssa, value.ssa, mask.ssa, *cache, *evict);
  return Value::none();
}

} // namespace nereid::language::emit
