// SPDX-License-Identifier: Apache-2.0
// Atomics on a pointer or a tile of pointers. Each gives what memory held before.
#include "lib/language/emit/builtins/BlockAccess.h"

namespace nereid::language::emit {

/// How an atomic orders other accesses, and for whom.
struct Ordering {
  tile::MemorySemantics semantics;
  tile::MemoryScope scope;
};

static std::optional<Ordering> orderingOf(Emitter &emitter, const Bound &args,
                                          const std::string &name) {
  std::string semText = "acq_rel", scopeText = "gpu";
  for (auto [key, text] : {std::pair("sem", &semText), std::pair("scope", &scopeText)}) {
    if (args[key].isNone()) {
      continue;
    }
    std::optional<std::string> given =
        emitter.constants.string(args[key], "'" + std::string(key) + "' of '" + name + "'");
    if (!given) {
      return std::nullopt;
    }
    *text = *given;
  }
  std::optional<tile::MemorySemantics> semantics = tile::symbolizeMemorySemantics(semText);
  std::optional<tile::MemoryScope> scope = tile::symbolizeMemoryScope(scopeText);
  if (!semantics) {
    emitter.report.error("E0229",
                         "'sem' of '" + name +
                             "' expects 'acquire', 'release', 'acq_rel' or 'relaxed', but got '" +
                             semText + "'");
    return std::nullopt;
  }
  if (!scope) {
    emitter.report.error("E0229", "'scope' of '" + name +
                                      "' expects 'gpu', 'cta' or 'sys', but got '" + scopeText +
                                      "'");
    return std::nullopt;
  }
  return Ordering{*semantics, *scope};
}

static bool checkPointer(Emitter &emitter, const Value &pointer, const std::string &name) {
  if (pointer.isPointer()) {
    return !refuseConst(emitter, pointer, name);
  }
  emitter.report.error("E0216", "'" + name + "' expects a pointer, but got " + describe(pointer))
      .withHelp(pointer.isBlockAccess()
                    ? "atomics take addresses: add offsets to the pointer itself"
                    : "declare the argument as a pointer in the signature, e.g. *i32");
  return false;
}

/// The value as the pointee's type in the pointers' shape.
static Value operandFor(Emitter &emitter, const Value &given, const Value &pointer,
                        const std::string &what, const std::string &name) {
  if (given.isPointer()) {
    return emitter.report.fail("E0216", "'" + what + "' of '" + name +
                                            "' expects numbers, but got " + describe(given));
  }
  Value value = emitter.tiles.cast(given, {pointer.tileType.element.dtype, false});
  if (value.isPoison()) {
    return value;
  }
  if (value.isBlock() && !pointer.isBlock()) {
    return emitter.report.fail(
        "E0216",
        "'" + what + "' of '" + name + "' is " + describe(value) + ", but the pointer is a scalar",
        "add an offset tile to the pointer, e.g. pointer + tl.arange(0, BLOCK)");
  }
  return emitter.tiles.broadcastTo(value, pointer.tileType.shape, pointer.origins);
}

/// The mask in the pointers' shape, which never grow: an element would be updated twice.
static std::optional<Value> maskFor(Emitter &emitter, const Value &given, const Value &pointer,
                                    const std::string &name) {
  if (given.isNone()) {
    return given;
  }
  Value mask = emitter.tiles.truth(given);
  if (mask.isPoison()) {
    return std::nullopt;
  }
  if (mask.isBlock() && !pointer.isBlock()) {
    emitter.report
        .error("E0216",
               "the mask of '" + name + "' is " + describe(mask) + ", but the pointer is a scalar")
        .withHelp("add an offset tile to the pointer, e.g. pointer + tl.arange(0, BLOCK)");
    return std::nullopt;
  }
  mask = emitter.tiles.broadcastTo(mask, pointer.tileType.shape, pointer.origins);
  return mask.isPoison() ? std::nullopt : std::optional(mask);
}

/// Which element types an update is defined for; E0216 lists them.
static bool checkElement(Emitter &emitter, const Value &pointer, const std::string &name,
                         tile::AtomicKind kind) {
  DType type = pointer.tileType.element.dtype;
  bool isWord = isInteger(type) && bitWidth(type) >= 32;
  bool isWideFloat = type == DType::F32 || type == DType::F64;
  bool isHalf = type == DType::F16 || type == DType::BF16;
  bool isAllowed = isWord;
  std::string allowed = "i32, i64, u32 or u64";
  switch (kind) {
  case tile::AtomicKind::Add:
    isAllowed = isWord || isWideFloat || isHalf;
    allowed = "f16, bf16, f32, f64, " + allowed;
    break;
  case tile::AtomicKind::Max:
  case tile::AtomicKind::Min:
  case tile::AtomicKind::Exchange:
    isAllowed = isWord || isWideFloat;
    allowed = "f32, f64, " + allowed;
    break;
  default:
    break;
  }
  if (!isAllowed) {
    emitter.report
        .error("E0216",
               "'" + name + "' expects a pointer to " + allowed + ", but got " + describe(pointer))
        .withHelp(isInteger(type) ? "keep the values in 32 bits, or update the word around them "
                                    "with tl.atomic_cas"
                                  : "keep the values in a type listed, or compare and exchange "
                                    "their bits with tl.atomic_cas");
  }
  return isAllowed;
}

/// The operation's kind for the element type.
static tile::AtomicKind kindFor(tile::AtomicKind kind, DType type) {
  bool isReal = isFloat(type);
  switch (kind) {
  case tile::AtomicKind::Add:
    return isReal ? tile::AtomicKind::FAdd : kind;
  case tile::AtomicKind::Max:
    return isReal ? tile::AtomicKind::FMax : isUnsigned(type) ? tile::AtomicKind::UMax : kind;
  case tile::AtomicKind::Min:
    return isReal ? tile::AtomicKind::FMin : isUnsigned(type) ? tile::AtomicKind::UMin : kind;
  default:
    return kind;
  }
}

static Value update(Emitter &emitter, const Bound &args, const std::string &name,
                    tile::AtomicKind kind) {
  const Value &pointer = args["pointer"];
  if (!checkPointer(emitter, pointer, name) || !checkElement(emitter, pointer, name, kind)) {
    return Value::poison();
  }
  Value value = operandFor(emitter, args["val"], pointer, "val", name);
  std::optional<Value> mask = maskFor(emitter, args["mask"], pointer, name);
  std::optional<Ordering> ordering = orderingOf(emitter, args, name);
  if (value.isPoison() || !mask || !ordering) {
    return Value::poison();
  }
  DType type = pointer.tileType.element.dtype;
  auto op = emitter.tiles.create<tile::AtomicRMWOp>(value.ssa.getType(), kindFor(kind, type),
                                                    pointer.ssa, value.ssa, mask->ssa,
                                                    ordering->semantics, ordering->scope);
  return Value::tile(op.getResult(), {{type, false}, pointer.tileType.shape}, pointer.origins);
}

Value atomicAdd(Emitter &emitter, const Bound &args) {
  return update(emitter, args, "atomic_add", tile::AtomicKind::Add);
}

Value atomicAnd(Emitter &emitter, const Bound &args) {
  return update(emitter, args, "atomic_and", tile::AtomicKind::And);
}

Value atomicMax(Emitter &emitter, const Bound &args) {
  return update(emitter, args, "atomic_max", tile::AtomicKind::Max);
}

Value atomicMin(Emitter &emitter, const Bound &args) {
  return update(emitter, args, "atomic_min", tile::AtomicKind::Min);
}

Value atomicOr(Emitter &emitter, const Bound &args) {
  return update(emitter, args, "atomic_or", tile::AtomicKind::Or);
}

Value atomicXchg(Emitter &emitter, const Bound &args) {
  return update(emitter, args, "atomic_xchg", tile::AtomicKind::Exchange);
}

Value atomicXor(Emitter &emitter, const Bound &args) {
  return update(emitter, args, "atomic_xor", tile::AtomicKind::Xor);
}

Value atomicCas(Emitter &emitter, const Bound &args) {
  const std::string name = "atomic_cas";
  const Value &pointer = args["pointer"];
  if (!checkPointer(emitter, pointer, name)) {
    return Value::poison();
  }
  ElementType element{pointer.tileType.element.dtype, false};
  if (bitWidth(element.dtype) < 16) {
    return emitter.report.fail("E0216",
                               "'atomic_cas' expects a pointer to elements of 16, 32 or 64 bits, "
                               "but got " +
                                   describe(pointer));
  }
  Value compare = operandFor(emitter, args["cmp"], pointer, "cmp", name);
  Value value = operandFor(emitter, args["val"], pointer, "val", name);
  std::optional<Ordering> ordering = orderingOf(emitter, args, name);
  if (compare.isPoison() || value.isPoison() || !ordering) {
    return Value::poison();
  }
  auto op =
      emitter.tiles.create<tile::AtomicCASOp>(value.ssa.getType(), pointer.ssa, compare.ssa,
                                              value.ssa, ordering->semantics, ordering->scope);
  return Value::tile(op.getResult(), {element, pointer.tileType.shape}, pointer.origins);
}

} // namespace nereid::language::emit
