// SPDX-License-Identifier: Apache-2.0
// The attributes `tile.…` that operations of other dialects carry, by name; those of values stand
// in Promises.h. A verifier says where each may stand and what it may be
// (TileVerifyAttributes.cpp).
#pragma once

#include "llvm/ADT/StringRef.h"

namespace nereid::tile::attribute {

// ---- of a function ----

/// Unit: the function is a kernel.
inline constexpr llvm::StringLiteral kernel = "tile.kernel";
/// i32, of a kernel: the options that it is compiled with. An absent one is the default: 4 warps, 3
/// stages, 1 block, as many registers as the target likes. Targets without warps ignore them.
inline constexpr llvm::StringLiteral numWarps = "tile.num_warps";
inline constexpr llvm::StringLiteral numCtas = "tile.num_ctas";
inline constexpr llvm::StringLiteral maxRegisters = "tile.maxnreg";
/// Dictionary of i64, of a kernel: options by name that a target has declared; a target refuses
/// those of others.
inline constexpr llvm::StringLiteral targetOptions = "tile.target_options";
/// i32: of a kernel the stages of software pipelines; of an scf.for those of this loop, from
/// tl.range.
inline constexpr llvm::StringLiteral numStages = "tile.num_stages";

// ---- hints of tl.range, of an scf.for ----

/// i32 of at least 0: iterations to unroll into one; 0 and 1 leave the loop as it is.
inline constexpr llvm::StringLiteral loopUnrollFactor = "tile.loop_unroll_factor";
/// Units: divide the body among groups of warps; make one loop of this one and the one around it;
/// keep one buffer for the accumulator of a dot; move nothing out of this loop.
inline constexpr llvm::StringLiteral warpSpecialize = "tile.warp_specialize";
inline constexpr llvm::StringLiteral flatten = "tile.flatten";
inline constexpr llvm::StringLiteral disallowAccMultiBuffer = "tile.disallow_acc_multi_buffer";
inline constexpr llvm::StringLiteral disableLicm = "tile.disable_licm";

// ---- of operations that a pass has made or judged ----

/// Units. Of an scf.for: it runs over neighbouring programs; it is one of two loops that run the
/// same programs, several or one at a time, so that both must combine a row in one order; of a
/// tile.program_id: it stands for the end of their range (`tile-coarsen-programs`). Of a
/// tile.atomic_rmw: threads may sum it up until the launch ends (`tile-privatise-atomics`).
inline constexpr llvm::StringLiteral coarsened = "tile.coarsened";
inline constexpr llvm::StringLiteral oneOrder = "tile.one_order";
inline constexpr llvm::StringLiteral endOfRange = "tile.end_of_range";
inline constexpr llvm::StringLiteral privateAtomic = "tile.private";

// ---- of arithmetic ----

/// Unit, of an arith.mulf or arith.divf: the result is rounded correctly and once, whatever a
/// target may do to products and quotients otherwise.
inline constexpr llvm::StringLiteral rounded = "tile.rounded";

/// Unit, of an arith.divf: operands and result are normal numbers, and it is enough that the result
/// is within two units in the last place.
inline constexpr llvm::StringLiteral nearby = "tile.nearby";

/// Unit, of an arith.select: few elements take the first value, so that what only it needs may
/// stand behind a branch.
inline constexpr llvm::StringLiteral rare = "tile.rare";

/// Unit, of an arith.select of a number, where it is none of NaN, and of what comes within 2^-16 of
/// it by less: the latter is enough where all that becomes of the result is rounded to 16 bits.
inline constexpr llvm::StringLiteral forHalves = "tile.for_halves";

// ---- of any operation ----

/// array<i64>, of the last operation of each iteration of an unrolled loop: numbers of the unrolled
/// loops that it ends one of. A loop inside another one has a smaller number.
inline constexpr llvm::StringLiteral iterations = "tile.iterations";

} // namespace nereid::tile::attribute
