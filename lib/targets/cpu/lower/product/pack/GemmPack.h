// SPDX-License-Identifier: Apache-2.0
// Brings operands of a matrix product that lie the other way round in memory into the order in
// which the register blocks read them.
#pragma once

#include "lib/targets/cpu/lower/product/GemmKernel.h"

namespace nereid::cpu {

/// A panel of b whose columns each have consecutive k: panel[group][column] = column's lane of a
/// group of k, zero in columns beyond `left` and behind the last k. `columns` are the addresses of
/// the panel's columns at k = 0, `offset` elements before the first k wanted.
void packTransposedPanel(mlir::OpBuilder &builder, mlir::Location loc, KernelState &kernel,
                         const GemmShape &shape, const GemmTypes &types, mlir::Value columns,
                         mlir::Value offset, mlir::Value left, mlir::Value depth,
                         mlir::Value panel);

/// A block of a whose rows lie side by side: copy[k][row] for `rows` of `allRows` rows.
void packRowsSideBySide(mlir::OpBuilder &builder, mlir::Location loc, KernelState &kernel,
                        const GemmShape &shape, mlir::Value from, mlir::Value stride,
                        mlir::Value rows, int64_t allRows, mlir::Value depth, mlir::Value copy);

} // namespace nereid::cpu
