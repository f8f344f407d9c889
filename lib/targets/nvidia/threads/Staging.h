// SPDX-License-Identifier: Apache-2.0
// Tiles in shared memory, for other threads to read; large ones part by part, in the same room.
#pragma once

#include "lib/targets/nvidia/threads/ThreadCode.h"

namespace nereid::nvidia {

/// Bytes of shared memory that one operation stages at a time: more would keep other programs off
/// the processor.
inline constexpr int64_t mostStagedBytes = 64 << 10;

/// Slots of copies begin at multiples of it: the swizzle of 128 bytes is a function of the address,
/// repeated each 1024 bytes. Where the driver puts shared memory is no such multiple by promise.
inline constexpr int64_t slotAlignment = 1024;

/// The elements whose row-major number has these bits.
struct TilePart {
  int64_t mask = 0; ///< 0: all elements
  int64_t bits = 0;
};

/// A thread's registers of elements that may be of the part, by whether they are. The condition is
/// null where every thread's are.
struct PartRegisters {
  mlir::Value isOfPart;
  llvm::SmallVector<size_t> registers;
};
llvm::SmallVector<PartRegisters> registersOf(ThreadCode &code, const layout::LinearLayout &layout,
                                             const TilePart &part);

/// Writes the elements of a part, each to the place, in elements, that `placeOf` gives for its
/// number. Barriers are the caller's.
void stage(ThreadCode &code, mlir::Value tile, const TilePart &part,
           llvm::function_ref<mlir::Value(mlir::Value)> placeOf);

} // namespace nereid::nvidia
