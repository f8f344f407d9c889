// SPDX-License-Identifier: Apache-2.0
// Turns one kernel of tile IR into loops over native vectors: pass `convert-tile-to-loops`. What
// stands between the tile phases and codegen: after it there are no tiles and no tile operations,
// only scf, arith, math, vectors of rank 1 and LLVM memory accesses on the entry ABI of
// runtime/Kernel.h. Needs MLIR headers.
#pragma once

#include "lib/machine/Machine.h"
#include "lib/support/Diagnostics.h"

#include "mlir/IR/BuiltinOps.h"
#include "mlir/Pass/Pass.h"
#include "mlir/Support/LogicalResult.h"

#include <memory>

namespace mlir {
class MLIRContext;
}

namespace nereid::cpu {

/// Rewrites the module's only `tile.kernel` function into
///   func.func @name(%slots: !llvm.ptr, %id: !llvm.ptr, %count: !llvm.ptr, %scratch: !llvm.ptr)
/// with attributes `tile.kernel`, `nereid.scratch_bytes : i64`, when a loop may wait for another
/// program `nereid.blocking`, and when one call runs programs up to %id[3] `nereid.takes_ranges`;
/// other discardable attributes stay. Expects what the phase `tile-cpu` makes. On failure diags
/// says why (E03xx unsupported, E05xx resources) and the module is left unchanged. The loops are
/// shaped for `machine`, whose vectors have 16, 32 or 64 bytes.
mlir::LogicalResult lowerTileToLoops(mlir::ModuleOp module, const Machine &machine,
                                     Diagnostics &diags);

/// The same as a pass; diagnostics are emitted on the module's location.
std::unique_ptr<mlir::Pass> createConvertTileToLoopsPass(const Machine &machine);

/// Dialects the output uses; load them into the context before lowering.
void loadLoweringDialects(mlir::MLIRContext &context);

} // namespace nereid::cpu
