// SPDX-License-Identifier: Apache-2.0
// What becomes of a product's sums, while they are in the first-level cache: the element-wise
// operations behind the loop and the store that takes their result run on each register block of
// the last block of k.
#pragma once

#include "lib/targets/cpu/lower/product/GemmOperands.h"

namespace nereid::cpu {

/// Nothing can be seen to happen between the loop and the store, and all that the store needs
/// besides the sums is computed.
bool canStoreInLoop(const KernelState &kernel, mlir::scf::ForOp loop, mlir::Value sums,
                    tile::StoreOp store);

/// An i1: the store may write while the operands are still read. Kernel arguments are the same
/// tensor or do not overlap, see MemoryAccesses.h.
mlir::Value mayStoreWhileReading(KernelState &kernel, mlir::OpBuilder &builder,
                                 const GemmLoop &gemm);

/// What is stored takes few operations, the same for all rows: they work on the registers that hold
/// the sums. Else a loop over rows reads them back, which takes less code.
bool isStoredAtOnce(const KernelState &kernel, const GemmLoop &gemm);

/// Evaluates what is stored of some rows and of the panel's columns, and stores it.
class EpilogueOfRows {
public:
  /// `outside`: the scope of what neither rows nor columns change.
  EpilogueOfRows(KernelState &kernel, const GemmLoop &gemm, const GemmShape &shape, Scope &outside,
                 mlir::Value column)
      : kernel(kernel), gemm(gemm), shape(shape), outside(outside), column(column),
        loc(tile::StoreOp(gemm.store).getLoc()) {}

  /// Rows `row` to `end`, whose sums are in scratch; `left` of the panel's columns are looked at.
  void emitFromScratch(mlir::OpBuilder &at, mlir::Value row, mlir::Value end, mlir::Value left);
  /// The block's vectors of sums, row by row; those behind `end` are those of the last row again.
  void emitFromRegisters(mlir::OpBuilder &at, const GemmBlock &block,
                         llvm::ArrayRef<mlir::Value> sums, mlir::Value end, mlir::Value left);

private:
  struct Levels {
    Scope &columns, &rows;
  };
  void standAt(Evaluator &evaluator, Levels levels, mlir::Value row, int64_t vectors) const;
  void store(Evaluator &evaluator, int64_t vectors) const;
  llvm::SmallVector<mlir::Value> columnMasks(mlir::OpBuilder &at, mlir::Value left,
                                             int64_t vectors) const;
  void setMasks(Evaluator &evaluator, llvm::ArrayRef<mlir::Value> masks) const;

  KernelState &kernel;
  const GemmLoop &gemm;
  const GemmShape &shape;
  Scope &outside;
  mlir::Value column;
  mlir::Location loc;
};

} // namespace nereid::cpu
