// SPDX-License-Identifier: Apache-2.0
// Padding rows: rows of a that the mask excludes, so that their elements are zero. Each adds zero
// times b to its sums, which changes nothing unless b holds an infinity or NaN. Such an element
// makes the sums of all rows that are read infinite or NaN in its column, so that the sums of one
// of these rows show it. Only then, or when no row is read, this code multiplies the zeros.
#pragma once

#include "lib/targets/cpu/lower/product/GemmOperands.h"

namespace nereid::cpu {

/// Emits it behind the register blocks of a panel in one block of k; `block` is as in front of
/// them.
void emitPaddingRows(KernelState &kernel, mlir::OpBuilder &at, mlir::Location loc,
                     const GemmShape &shape, const GemmKernel &gemmKernel,
                     const GemmOperands &operands, const GemmBlock &block);

} // namespace nereid::cpu
