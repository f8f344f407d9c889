// SPDX-License-Identifier: Apache-2.0
// The packed-panel cache. Programs that follow each other on a thread often multiply other rows of
// a by the same columns of b: a panel that one of them has packed serves the next ones.
//
// Why: packing takes 3 to 7 % of a product of 128 rows, more of narrow types; libraries pack b once
// for all rows.
// Requires: a kernel with one product, whose loop stands in no other, that neither waits, prints,
// asserts nor has atomics.
// Guarantees: panels are used again only where everything that they were made of is the same and
// no program writes to b. Scratch grows by `panelCacheBytes` at most.
// Example, matmul with neighbouring programs down the rows:
//   program 0: pack b[0:K, 0:128] ; multiply        program 1: multiply …
#pragma once

#include "lib/targets/cpu/lower/product/GemmOperands.h"

namespace nereid::cpu {

/// A kernel that fulfils what is required of it above.
bool mayCachePanels(mlir::func::FuncOp kernel);

class GemmPanelCache {
public:
  GemmPanelCache(KernelState &kernel, const GemmLoop &gemm, const GemmShape &shape,
                 const GemmKernel &gemmKernel, GemmOperands &operands);

  /// In front of the loop over blocks of k: compares with what the program before has left.
  void emit(mlir::OpBuilder &builder, mlir::Value tripCount);
  bool isUsed() const { return memory != nullptr; }
  /// For the block of k that starts with iteration `t`.
  void beginBlock(mlir::OpBuilder &at, mlir::Value t);
  /// Where the panel that starts at this column of the tile is, or is to be packed.
  mlir::Value panelAt(mlir::OpBuilder &at, mlir::Value column) const;
  /// Of int8: the sums of the panel's columns, see GemmKernel::columnSums.
  mlir::Value columnSumsOf(mlir::OpBuilder &at, mlir::Value panel) const;
  /// The panel of the next block of k.
  mlir::Value nextOf(mlir::OpBuilder &at, mlir::Value panel) const;
  mlir::Value isPacked, isNextPacked; ///< by a program before, in this block of k and in the next

private:
  bool canCache() const;
  mlir::Value isNeverWritten(mlir::OpBuilder &builder) const;
  bool isSameForAll(mlir::Value value) const;
  int64_t panelBytes() const;
  int64_t columnSumBytes() const;
  int64_t blockBytes() const;

  KernelState &kernel;
  const GemmLoop &gemm;
  const GemmShape &shape;
  const GemmKernel &gemmKernel;
  GemmOperands &operands;
  mlir::Location loc;
  int64_t cachedBlocks = 0;
  mlir::Value memory;           ///< of the panels; null = none are cached
  mlir::Value limit;            ///< blocks of k that this program caches, or finds cached
  mlir::Value isUsedAgain;      ///< a program before has packed them
  mlir::Value block, perColumn; ///< the block's panels, bytes from column to column
};

} // namespace nereid::cpu
