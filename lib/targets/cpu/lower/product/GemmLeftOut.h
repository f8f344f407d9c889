// SPDX-License-Identifier: Apache-2.0
// Rows of a that the mask leaves out add zero times b to their sums: nothing, unless b holds an
// infinity or NaN. Then the sums of every other row are infinite or NaN in that column, which one
// of them tells; only in that case, and where there is no other row, the zeros are multiplied.
#pragma once

#include "lib/targets/cpu/lower/product/GemmOperands.h"

namespace nereid::cpu {

/// Behind the register blocks of a panel in one block of k; `block` as it was in front of them.
void emitLeftOutRows(KernelState &kernel, mlir::OpBuilder &at, mlir::Location loc,
                     const GemmShape &shape, const GemmKernel &gemmKernel,
                     const GemmOperands &operands, const GemmBlock &block);

} // namespace nereid::cpu
