// SPDX-License-Identifier: Apache-2.0
// Narrow numbers are read in VNNI groups of consecutive k (GemmTypes::packFactor). Where the number
// of k leaves a part of a group, what stands in memory behind a's rows must not be multiplied.
#pragma once

#include "lib/targets/cpu/lower/product/GemmOperands.h"

namespace nereid::cpu {

/// Where the last group of the block of k is a part, reads rows of a from copies with zeros behind
/// them.
void completeGroups(KernelState &kernel, mlir::OpBuilder &at, mlir::Location loc,
                    const GemmLoop &gemm, const GemmShape &shape, GemmKernel &gemmKernel,
                    const GemmOperands &operands);

} // namespace nereid::cpu
