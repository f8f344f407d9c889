// SPDX-License-Identifier: Apache-2.0
// The phase `tile-cpu`: tile IR to tile IR, what suits loops on a CPU better. Most of its passes
// are those of lib/tile/transforms with this target's criteria.
#pragma once

#include "lib/machine/Machine.h"
#include "lib/support/Diagnostics.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/Pass/Pass.h"
#include "mlir/Support/LogicalResult.h"

#include <memory>

namespace mlir {
class OpPassManager;
}

namespace nereid::cpu {

/// The module's function with the attribute `tile.kernel`; null when it has none with a body.
mlir::func::FuncOp findKernel(mlir::ModuleOp module);

/// Refuses what the lowering cannot represent, before anything is changed: E0301 without a kernel
/// and for values of unknown types or of too many dimensions, E0304 for inline assembly.
mlir::LogicalResult checkTileKernel(mlir::ModuleOp module, Diagnostics &diags);

/// The whole phase, in order. Expects what checkTileKernel accepts.
void buildTileCpuPipeline(mlir::OpPassManager &manager, const Machine &machine);

/// replace extrema of tile IR by those that LLVM's patterns know
std::unique_ptr<mlir::Pass> createUseLlvmExtremaPass();

/// delay the last store of a row until the next row is computed
std::unique_ptr<mlir::Pass> createPipelineRowsPass(const Machine &machine);

} // namespace nereid::cpu
