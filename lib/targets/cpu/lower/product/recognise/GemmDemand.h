// SPDX-License-Identifier: Apache-2.0
// Which rows and columns of a product anybody looks at: the bounds that the masks of its stores
// have. What nobody looks at need not be computed, and what may be looked at must not be left out.
#pragma once

#include "lib/targets/cpu/lower/product/recognise/GemmLoop.h"

namespace nereid::cpu {

/// Fills in `store`, `sums`, `masksDemand` and `demanded`.
void findDemand(KernelState &kernel, mlir::scf::ForOp loop, GemmLoop &gemm);

/// The bounds of what is looked at in the end, per store, behind further products and loops as
/// well; empty: everything may be. Not all of them can be evaluated in front of the loop.
llvm::SmallVector<DemandedPart, 2> findWhatIsLookedAt(KernelState &kernel, mlir::Value sums);

} // namespace nereid::cpu
