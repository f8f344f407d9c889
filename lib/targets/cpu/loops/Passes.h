// SPDX-License-Identifier: Apache-2.0
// The phase `loops-opt`: passes over finished loops (scf, arith, math, vectors of rank 1, LLVM
// memory operations) that make them read ahead, overlap, or take wider vectors. The functions of
// docs/math.md and the narrow floats are expanded in their midst (expand-half and expand-math of
// lib/lowering), since what overlaps best is known only of what they become. Each leaves less for
// the next: no half-precision values after expand-half, no math function without an instruction
// after expand-math.
#pragma once

#include "lib/lowering/Passes.h"
#include "lib/targets/cpu/codegen/CpuMachine.h"

#include "mlir/Pass/Pass.h"

#include <memory>

namespace mlir {
class OpPassManager;
}

namespace nereid::cpu {

/// The whole phase, in order.
void buildLoopsOptPipeline(mlir::OpPassManager &manager, const CpuMachine &machine);

/// What expand-half and expand-math may take for granted.
lowering::FloatUnit floatUnitOf(const CpuMachine &machine);

/// compute four math functions of float32 scalars of one block as one of a vector
std::unique_ptr<mlir::Pass> createPackScalarsPass();

/// read the next row while this one is computed and written
std::unique_ptr<mlir::Pass> createPrefetchNextRowPass(const Machine &machine);

/// read a page ahead where a large launch bypasses the caches
std::unique_ptr<mlir::Pass> createPrefetchAheadPass();

/// widen neighbouring vectors of bfloat16 by their even and odd lanes where the order of lanes does
/// not matter
std::unique_ptr<mlir::Pass> createWidenPairsPass();

/// compute chains of 32-bit products in their even and odd lanes (x86)
std::unique_ptr<mlir::Pass> createSplitProductsPass(const CpuMachine &machine);

/// compute the first half of the next iteration beside the second half of this one
std::unique_ptr<mlir::Pass> createOverlapIterationsPass(const CpuMachine &machine);

/// compute the vectors of one iteration side by side, step by step
std::unique_ptr<mlir::Pass> createInterleaveVectorsPass(const CpuMachine &machine);

} // namespace nereid::cpu
