// SPDX-License-Identifier: Apache-2.0
// Asks for memory ahead of its use, which never faults. Who knows what is read next says so here:
// a later row (`cpu-prefetch-next-row`), the page behind (`cpu-prefetch-ahead`), the rows and the
// panel of the next block of a product (GemmPrefetch), the rows that are packed next (GemmPacking),
// the place of a later atomic. docs/notes/2026-11-ground.md has what each of them brings.
#pragma once

#include "lib/targets/cpu/MachineSizes.h"

#include "mlir/Dialect/LLVMIR/LLVMDialect.h"

namespace nereid::cpu::prefetch {

/// How near what is asked for comes: __builtin_prefetch's locality.
enum class Level : uint32_t { Second = 2, First = 3 };
enum class For : uint32_t { Reading = 0, Writing = 1 };

/// The line that the address lies in.
inline void line(mlir::OpBuilder &builder, mlir::Location loc, mlir::Value address, Level level,
                 For use = For::Reading) {
  constexpr uint32_t data = 1; // and not instructions
  builder.create<mlir::LLVM::Prefetch>(loc, address, static_cast<uint32_t>(use),
                                       static_cast<uint32_t>(level), data);
}

/// The lines of so many bytes, from `firstByte` behind the address on.
inline void lines(mlir::OpBuilder &builder, mlir::Location loc, mlir::Value address,
                  int32_t firstByte, int64_t bytes, Level level) {
  for (int64_t offset = 0; offset < bytes; offset += sizes::lineBytes) {
    mlir::LLVM::GEPArg by = firstByte + static_cast<int32_t>(offset);
    line(builder, loc,
         builder.create<mlir::LLVM::GEPOp>(loc, address.getType(), builder.getI8Type(), address,
                                           llvm::ArrayRef<mlir::LLVM::GEPArg>{by}),
         level);
  }
}

} // namespace nereid::cpu::prefetch
