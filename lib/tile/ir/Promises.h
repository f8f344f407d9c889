// SPDX-License-Identifier: Apache-2.0
// Promises about values that a target may build upon, as attributes. An argument of a kernel has
// `divisibility` as one i64, from ':16' in its signature. An operation has each of them as
// array<i64>, one number for each dimension of its only result (one for a scalar), from the hints
// tl.multiple_of, tl.max_contiguous and tl.max_constancy: where a run of values that count up
// begins the value is a multiple of the number, in bytes for addresses; groups of so many
// neighbours count up; groups of so many are equal. `nereid check` reports promises that are not
// kept.
#pragma once

#include "llvm/ADT/StringRef.h"

namespace nereid::tile::promise {

inline constexpr llvm::StringLiteral divisibility = "tile.divisibility";
inline constexpr llvm::StringLiteral contiguity = "tile.contiguity";
inline constexpr llvm::StringLiteral constancy = "tile.constancy";

} // namespace nereid::tile::promise
