// SPDX-License-Identifier: Apache-2.0
// Neighbouring elements of a thread in one instruction.
#pragma once

#include "lib/targets/nvidia/threads/ThreadCode.h"
#include "lib/tile/analysis/axis/AxisInfo.h"

namespace nereid::nvidia {

/// Registers that one instruction takes, and the type of the words it moves them in.
struct Access {
  int64_t registers = 1; ///< a power of two; neighbours in memory
  unsigned wordBits = 32;
  unsigned words = 1;
};

/// How many registers from a multiple on are neighbours in memory, behind each other along the
/// dimension that memory runs along, with one truth value of the mask.
Access accessFor(const layout::LinearLayout &layout, mlir::Type element,
                 const tile::AxisInfo &pointer, const std::optional<tile::AxisInfo> &mask);

/// What a load asks of caches.
struct LoadHints {
  bool isVolatile = false;
  tile::CacheModifier cache = tile::CacheModifier::None;
  tile::EvictionPolicy evict = tile::EvictionPolicy::Normal;
};

/// Emits the words of one load; `condition` and `others` may be missing.
llvm::SmallVector<mlir::Value> loadWords(ThreadCode &code, const LoadHints &hints,
                                         const Access &access, mlir::Value address,
                                         mlir::Value condition, llvm::ArrayRef<mlir::Value> others);

/// Whether the thread's masks are all true.
mlir::Value allOf(ThreadCode &code, mlir::Value mask);

} // namespace nereid::nvidia
