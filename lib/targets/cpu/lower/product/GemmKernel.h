// SPDX-License-Identifier: Apache-2.0
// The innermost loop of a matrix product: a block of rows times a few vectors of columns stays in
// registers while k runs, one number or a VNNI group of narrow ones at a time. Rows of a are read
// through a table of addresses, so it does not matter how they lie in memory; b is read from a
// panel, which the first block of rows fills as it goes.
#pragma once

#include "lib/targets/cpu/lower/KernelState.h"

#include <functional>

namespace nereid::cpu {

/// Shape of the register block for the machine's vectors, registers and caches.
struct GemmShape {
  int64_t lanes = 16;  ///< elements in a vector
  int64_t vectors = 4; ///< of columns in the widest block
  int64_t depth = 128; ///< rows of b that fit the first-level cache beside their neighbours
  /// A last block of k takes up to so many at once, instead of leaving a few to one of their own.
  int64_t deepest = 160;
  /// Rows of a block of this many vectors: enough accumulators to hide the latency of a
  /// multiply-add, and room for b's vectors. 6 by 4 of 32 registers is no faster than 4 by 4 and
  /// takes twice as long to compile, with the blocks for the rows that 6 does not divide.
  int64_t rowsFor(int64_t width) const;
  bool manyRegisters = true;
};
GemmShape gemmShapeFor(const Machine &machine, int64_t elementBytes, int64_t columns);

/// What is multiplied. A lane of 32 bits has `packFactor` operands of consecutive k, one group: the
/// VNNI pack factor of the instruction that multiplies them.
struct GemmTypes {
  mlir::Type operand; ///< of a and b in memory: f32, i16 (the bits of bfloat16) or i8
  mlir::Type lane;    ///< f32 or i32
  mlir::Type sum;     ///< f32 or i32
  int64_t packFactor = 1;
};

/// One register block, where it is and what happens besides.
struct GemmBlock {
  int64_t rows = 0, vectors = 0;
  bool mayOverhang = true; ///< some of the rows may be behind the last one
  mlir::Value row, column; ///< of the tile of c, i64
  mlir::Value panel;       ///< address of b's vectors, `panelStride` lanes from group to group
  int64_t panelStride = 0;
  mlir::Value inPanel; ///< the first of the panel's columns that the block has; null = 0
  mlir::Value packs;   ///< a condition under which `pack` gives the vectors; null = never
  /// Stores b's vectors of a group of k to the panel and returns them.
  std::function<mlir::SmallVector<mlir::Value>(mlir::OpBuilder &, mlir::Value group, mlir::Value to,
                                               int64_t vectors)>
      pack;
  mlir::Value prefetch; ///< one line of it per group is brought into the second-level cache
  mlir::Value prefetchStep, prefetchRowStep; ///< elements to the next line, and behind a row's last
  int64_t prefetchLines = 1;                 ///< of a row
  mlir::Value stores; ///< a condition under which `store` takes the sums; null = never
  /// What becomes of the sums, row by row, instead of going to c.
  std::function<void(mlir::OpBuilder &, llvm::ArrayRef<mlir::Value> sums)> store;
};

class GemmKernel {
public:
  GemmKernel(KernelState &kernel, mlir::Location loc, const GemmShape &shape,
             const GemmTypes &types)
      : types(types), kernel(kernel), loc(loc), shape(shape) {}

  const GemmTypes types;

  mlir::Value rowTable; ///< addresses of a's elements at k = 0
  /// Where each row of the table has its sums, in elements from c; null = in the tile's order.
  mlir::Value rowPlaces;
  mlir::Value aOffset; ///< elements added to each of them
  mlir::Value aStride; ///< elements from one k to the next; null = 1
  mlir::Value c;       ///< accumulators, row-major
  int64_t cStride = 0;
  void prepareSigns(mlir::OpBuilder &builder, mlir::Value place);
  mlir::Value depth; ///< k runs from 0 to here
  /// Of int8: a vector of sums for each of the panel's, see multiplyAdd; null for other types.
  mlir::Value columnSums;
  mlir::Value signs; ///< of int8: a vector of the groups' sign bits, a constant nobody folds
  /// The first block of k of sums that start from zero, where nothing is in memory yet: they come
  /// from rows of zeros. No masked load: from memory that nobody has touched it takes hundreds of
  /// cycles even where it loads nothing. Null = never.
  mlir::Value isFirst, zeros;

  /// c[row.., column..] += a[row.., 0..depth] * b[0..depth, ..]
  void emit(mlir::OpBuilder &builder, const GemmBlock &block) const;
  mlir::Value move(mlir::OpBuilder &builder, mlir::Value address, mlir::Value elements) const;
  mlir::Value move(mlir::OpBuilder &builder, mlir::Value address, int64_t elements) const;
  mlir::Value move(mlir::OpBuilder &builder, mlir::Type element, mlir::Value address,
                   mlir::Value elements) const;
  mlir::Value move(mlir::OpBuilder &builder, mlir::Type element, mlir::Value address,
                   int64_t elements) const;
  /// `count` sums, a whole number of panel rows.
  void fillWithZeros(mlir::OpBuilder &builder, mlir::Value to, int64_t count) const;
  /// `rows` rows of `width` elements from one matrix into another.
  void copyRows(mlir::OpBuilder &builder, mlir::Type element, mlir::Value from, int64_t fromStride,
                mlir::Value to, int64_t toStride, int64_t rows, int64_t width) const;
  /// The panel's vectors of one group of k.
  mlir::SmallVector<mlir::Value> readPanel(mlir::OpBuilder &builder, mlir::Value address,
                                           int64_t vectors) const;
  /// Address of the first element wanted of row `row + add` of a.
  mlir::Value loadRow(mlir::OpBuilder &builder, mlir::Value row, int64_t add = 0) const;
  /// Number of groups of k; the last one may be a part.
  mlir::Value groups(mlir::OpBuilder &builder) const;
  /// sum + x * y, of groups: the sum of their products.
  mlir::Value multiplyAdd(mlir::OpBuilder &builder, mlir::Value x, mlir::Value y,
                          mlir::Value sum) const;
  /// Entry `row + add` of a table of 64-bit numbers or addresses.
  mlir::Value loadEntry(mlir::OpBuilder &builder, mlir::Value table, mlir::Type type,
                        mlir::Value row, int64_t add) const;

private:
  /// Addresses of the block's first sums, row by row.
  mlir::SmallVector<mlir::Value> rowsOfSums(mlir::OpBuilder &builder, const GemmBlock &block) const;
  /// The block's vectors of sums, row by row.
  mlir::SmallVector<mlir::Value> loadSums(mlir::OpBuilder &builder,
                                          llvm::ArrayRef<mlir::Value> rows, int64_t vectors) const;
  mlir::Value broadcastGroup(mlir::OpBuilder &builder, mlir::Value element) const;
  mlir::SmallVector<mlir::Value> finishColumnSums(mlir::OpBuilder &builder, const GemmBlock &block,
                                                  mlir::ValueRange sums) const;

  KernelState &kernel;
  mlir::Location loc;
  const GemmShape &shape;
};

} // namespace nereid::cpu
