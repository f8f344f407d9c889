// SPDX-License-Identifier: Apache-2.0
// Brings row-major b into the panel that the register blocks of a matrix product read: lanes of
// one number or of a VNNI group of narrow ones of consecutive k, columns side by side.
#pragma once

#include "lib/targets/cpu/lower/product/GemmOperands.h"

namespace nereid::cpu {

class GemmPacking {
public:
  GemmPacking(KernelState &kernel, mlir::Location loc, const GemmShape &shape,
              GemmKernel &gemmKernel, const GemmOperands &operands)
      : kernel(kernel), loc(loc), shape(shape), gemmKernel(gemmKernel), operands(operands) {}

  /// Where rows of b are packed from.
  struct Source {
    mlir::Value from, stride;                ///< address of the panel's corner, elements
    mlir::SmallVector<mlir::Value, 4> masks; ///< of the vectors; empty = all true
    /// Of as many columns as narrow numbers fill a vector.
    mlir::SmallVector<mlir::Value, 2> wideMasks;
    mlir::Value groupStride;                   ///< elements from group to group
    mlir::SmallVector<mlir::Value, 3> offsets; ///< of the group's rows but the first, elements
    /// The number of whole groups, when a part of one may follow; null = none does.
    mlir::Value wholeGroups;
    mlir::SmallVector<mlir::Value, 3> offsetsInPart;
  };

  mlir::Value panel;
  /// Of narrow types: the panel's columns as rows in scratch, when they are no neighbours in
  /// memory.
  mlir::Value columnCopy;
  /// `hasPanel`: there is another place for it.
  void allocate(mlir::OpBuilder &builder, bool hasPanel);

  /// Where the rows of a group are.
  void addRows(mlir::OpBuilder &at, Source &source) const;
  /// The source's masks: which columns are among the first `left`.
  void addMasks(mlir::OpBuilder &at, mlir::Value left, Source &source) const;
  /// Stores the vectors of a group of k to the panel and returns them.
  mlir::SmallVector<mlir::Value> packGroup(mlir::OpBuilder &at, const Source &source,
                                           int64_t vectors, mlir::Value number,
                                           mlir::Value to) const;
  /// Element by element, each column from its own address: the whole panel, or of narrow types
  /// columnCopy.
  void packColumns(mlir::OpBuilder &at, mlir::Value column, mlir::Value left,
                   mlir::Value offset) const;

private:
  mlir::SmallVector<mlir::Value> rowsOfGroup(mlir::OpBuilder &at, const Source &source,
                                             mlir::Value number) const;
  bool isWide(int64_t vectors) const;
  mlir::SmallVector<mlir::Value> asLanes(mlir::OpBuilder &at,
                                         mlir::ArrayRef<mlir::Value> values) const;
  mlir::SmallVector<mlir::Value> interleave(mlir::OpBuilder &at,
                                            mlir::ArrayRef<mlir::Value> rows) const;
  mlir::SmallVector<mlir::Value> packWide(mlir::OpBuilder &at, const Source &source,
                                          mlir::ArrayRef<mlir::Value> rows) const;
  mlir::SmallVector<mlir::Value> packVectors(mlir::OpBuilder &at, const Source &source,
                                             mlir::ArrayRef<mlir::Value> rows,
                                             int64_t vectors) const;
  mlir::Value load(mlir::OpBuilder &at, int64_t width, mlir::Value address, mlir::Value mask) const;
  mlir::Value joinLanes(mlir::OpBuilder &at, mlir::Value groups, mlir::Value row,
                        int64_t position) const;

  KernelState &kernel;
  mlir::Location loc;
  const GemmShape &shape;
  GemmKernel &gemmKernel;
  const GemmOperands &operands;
  mlir::Value zeros; ///< a row of the panel's columns, of bfloat16
};

} // namespace nereid::cpu
