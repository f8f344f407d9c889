// SPDX-License-Identifier: Apache-2.0
// The MLIR passes that take the loops level (scf, arith, math, 1-D vectors, LLVM memory operations)
// to the LLVM dialect. They run in this order: cpu-widen-pairs, expand-half and expand-math of
// lib/lowering, cpu-split-products, cpu-overlap-iterations, cpu-interleave-vectors,
// convert-loops-to-llvm. Each leaves less for the next: no half-precision values after the second,
// no math function without an instruction after the third.
#pragma once

#include "lib/targets/cpu/codegen/CpuMachine.h"

#include "mlir/Pass/Pass.h"

#include <memory>

namespace mlir {
class OpPassManager;
class DialectRegistry;
} // namespace mlir

namespace nereid::cpu {

/// widen neighbouring vectors of bfloat16 by their even and odd lanes where the order of lanes does
/// not matter
std::unique_ptr<mlir::Pass> createWidenPairsPass();

/// compute chains of 32-bit products in their even and odd lanes (x86)
std::unique_ptr<mlir::Pass> createSplitProductsPass(const CpuMachine &machine);

/// compute the first half of the next iteration beside the second half of this one
std::unique_ptr<mlir::Pass> createOverlapIterationsPass(const CpuMachine &machine);

/// compute the vectors of one iteration side by side, step by step
std::unique_ptr<mlir::Pass> createInterleaveVectorsPass(const CpuMachine &machine);

/// convert scf, arith, math, vector, cf and func to the LLVM dialect in one conversion
std::unique_ptr<mlir::Pass> createConvertLoopsToLlvmPass();

/// All of them.
void buildLoopsToLlvmPipeline(mlir::OpPassManager &manager, const CpuMachine &machine);

/// Dialects and translations that the passes and translateToLlvm need.
void registerCodegenDialects(mlir::DialectRegistry &registry);

} // namespace nereid::cpu
