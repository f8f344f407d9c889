// SPDX-License-Identifier: Apache-2.0
// Which operations of a block belong to chains of 32-bit products whose upper halves are used, as
// in counter-based random numbers; SplitProducts.cpp rewrites them.
#pragma once

#include "mlir/IR/BuiltinTypes.h"
#include "mlir/IR/Operation.h"

#include "llvm/ADT/DenseSet.h"
#include "llvm/ADT/SmallVector.h"

namespace nereid::cpu {

/// trunci(shrui(muli(extui a, extui b), 32)) on vectors of i32. One factor may be a constant.
struct HighProduct {
  mlir::Value a;
  mlir::Value b; ///< null when the factor is the constant
  uint32_t constant = 0;
};
bool matchHighProduct(mlir::Operation *op, HighProduct &product);

/// The same for the lower half: muli on vectors of i32.
bool matchLowProduct(mlir::Operation *op, HighProduct &product);

/// Chains of one block, each in the order of the block.
using ProductChain = llvm::SmallVector<mlir::Operation *>;
llvm::SmallVector<ProductChain> findProductChains(mlir::Block &block, unsigned vectorBytes);

/// True for the same scalar in every lane.
bool isSplat(mlir::Value value);

} // namespace nereid::cpu
