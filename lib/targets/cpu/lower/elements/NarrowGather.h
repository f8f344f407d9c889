// SPDX-License-Identifier: Apache-2.0
// Scattered elements of 8 and 16 bits.
#pragma once

#include "mlir/IR/Builders.h"
#include "mlir/IR/BuiltinTypes.h"

namespace nereid::cpu {

/// Elements of less than 32 bits, for which there is no gather: the aligned words that they are in,
/// of which none reaches beyond a page, and their bits at the words' beginning.
mlir::Value gatherOfWords(mlir::OpBuilder &builder, mlir::Location loc, mlir::Value addresses,
                          mlir::Value lanes, mlir::Value passThrough, mlir::VectorType type);

} // namespace nereid::cpu
