// SPDX-License-Identifier: Apache-2.0
// Turns one kernel of tile IR into loops over native vectors: pass `convert-tile-to-loops`. What
// stands between the tile phases and codegen: after it there are no tiles and no tile operations,
// only scf, arith, math, vectors of rank 1 and LLVM memory accesses on the entry ABI of
// runtime/Kernel.h. Needs MLIR headers.
#pragma once

#include "lib/support/Diagnostics.h"

#include "mlir/IR/BuiltinOps.h"
#include "mlir/Pass/Pass.h"
#include "mlir/Support/LogicalResult.h"

#include <cstdint>
#include <memory>

namespace mlir {
class MLIRContext;
}

namespace nereid::cpu {

/// Moving the lanes of one vector register by a register of lane numbers.
enum class LanePermutes : uint8_t { None, Avx2, Avx512 };

/// What the loops are shaped for; filled from the machine description.
struct LoweringOptions {
  int vectorBytes = 32;       ///< 16, 32 or 64
  int vectorRegisters = 16;   ///< 16 or 32
  bool hasFma = true;         ///< fused multiply-add of float32 and float64
  bool hasMaskedMoves = true; ///< masked vector loads and stores of any element width
  bool hasGather = true;      ///< vector loads from one address for each element, of 4 or 8 bytes
  bool hasScatter = false;    ///< the same for stores
  bool hasStreamingStores = true; ///< stores past the caches, ordered by an x86 fence
  /// A launch that writes so much to one tensor bypasses the caches also without `.cs`; 0 = never.
  uint64_t streamFromBytes = 32u << 20;
  bool hasBf16Dots = false; ///< sums of two products of bfloat16 in each lane of a whole vector
  bool hasInt8Dots = false; ///< sums of four products of int8, the first factor unsigned
  LanePermutes lanePermutes = LanePermutes::None;
  uint64_t scratchLimitBytes = 8u << 20;
};

/// Rewrites the module's only `tile.kernel` function into
///   func.func @name(%slots: !llvm.ptr, %id: !llvm.ptr, %count: !llvm.ptr, %scratch: !llvm.ptr)
/// with attributes `tile.kernel`, `nereid.scratch_bytes : i64`, when a loop may wait for another
/// program `nereid.can_wait`, and when one call runs programs up to %id[3] `nereid.takes_ranges`;
/// other discardable attributes stay. On failure diags says why (E03xx unsupported, E05xx
/// resources) and the module is left unchanged.
mlir::LogicalResult lowerTileToLoops(mlir::ModuleOp module, const LoweringOptions &options,
                                     Diagnostics &diags);

/// The same as a pass; diagnostics are emitted on the module's location.
std::unique_ptr<mlir::Pass> createConvertTileToLoopsPass(const LoweringOptions &options = {});

/// Dialects the output uses; load them into the context before lowering.
void loadLoweringDialects(mlir::MLIRContext &context);

} // namespace nereid::cpu
