// SPDX-License-Identifier: Apache-2.0
// Nests of square blocks that are transposed in registers: one tile is read along one dimension and
// written along another.
#pragma once

#include "lib/targets/cpu/lower/plan/LanePlan.h"

namespace nereid::cpu {

/// The nest materialises or stores one such tile.
bool canTranspose(const KernelState &kernel, llvm::ArrayRef<FusionRoot> roots,
                  const LanePlan &plan);

/// One block, of the vector's width along both dimensions. `transposedDim` is the one that is
/// contiguous on the side that is not the lanes'.
void emitTransposed(Evaluator &evaluator, const FusionRoot &root, const LanePlan &plan,
                    int8_t transposedDim, mlir::Location loc);
void emitTransposedStore(Evaluator &evaluator, tile::StoreOp store, const LanePlan &plan,
                         int8_t transposedDim, mlir::Location loc);

} // namespace nereid::cpu
