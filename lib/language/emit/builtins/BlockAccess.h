// SPDX-License-Identifier: Apache-2.0
// What block pointers and tensor descriptors have in common. Descriptors have operations of their
// own in tile IR; each access through a block pointer becomes a tile of pointers and a mask, made
// here from base, sizes, strides and offsets in 64-bit arithmetic.
#pragma once

#include "lib/language/emit/Emitter.h"

namespace nereid::language::emit {

/// The parts of a block pointer's or descriptor's value, see Value::Kind.
struct BlockParts {
  enum : size_t { Base, Sizes, Strides, Offsets };
};

/// An integer or integer scalar as a value of the type; a constant stays known. E0216 names `what`.
Value indexValue(Emitter &emitter, const Value &given, DType type, const std::string &what);
/// A tuple of `rank` integers, each by indexValue. E0216 when there are more or fewer.
Value indexTuple(Emitter &emitter, const Value &given, size_t rank, DType type,
                 const std::string &what);
/// A scalar pointer to numbers; E0216 names `what` otherwise.
bool checkBase(Emitter &emitter, const Value &base, const std::string &what);
/// The sizes of a block, a tuple of powers of two, with where each was written.
std::optional<Shape> blockShape(Emitter &emitter, const Bound &args, const std::string &what,
                                Origins &origins);

struct BlockTile {
  Value pointers; ///< poison after an error
  Value mask;     ///< None when nothing is checked
};

/// What tl.load and tl.store take of a block pointer: pointers to its elements, and a mask that
/// holds where every index of the dimensions that boundary_check names is inside the size.
BlockTile addressForAccess(Emitter &emitter, const Bound &args, const char *name);
/// Text of a type value that is a pointer to a block, not a block of pointers.
inline constexpr const char *pointerToBlock = "pointer to block";
/// Text of the type of a constant, which is no type of elements.
inline constexpr const char *constantType = "constexpr_type";
/// dtype, shape and the like, and methods; nothing when there is no such attribute.
std::optional<Value> blockAttribute(const Value &access, const std::string &name);
/// E0216, and true, when the pointer is annotated tl.const.
bool refuseConst(Emitter &emitter, const Value &pointer, const std::string &name);
/// What is read outside the bounds: 0, or NaN where padding_option asks for it.
Value paddingValue(Emitter &emitter, const Value &option, DType type);

} // namespace nereid::language::emit
