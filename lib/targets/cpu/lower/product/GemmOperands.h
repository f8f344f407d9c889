// SPDX-License-Identifier: Apache-2.0
// What the loop of a matrix product needs to know in front of it: how many rows, columns and k are
// valid, where both operands stand and how they move, and whether consecutive iterations read
// consecutive k, so that several may be done at once.
#pragma once

#include "lib/targets/cpu/lower/product/GemmKernel.h"
#include "lib/targets/cpu/lower/product/recognise/GemmLoop.h"

#include <map>
#include <tuple>

namespace nereid::cpu {

/// Rows of scratch behind the tile, into which a register block that reaches beyond the last valid
/// row overhangs.
constexpr int64_t gemmOverhangRows = 8;
/// The table of row addresses is read ahead by a block for prefetching, and written a vector at a
/// time.
constexpr int64_t overhangAddresses = 2 * gemmOverhangRows;

/// How an operand is read.
struct OperandPlace {
  bool maybeInPlace = false; ///< else it is always computed into scratch
  mlir::Value inPlace;       ///< a condition; null = always
  mlir::Value step, stride;  ///< elements per iteration and per k
  bool maybeCopied() const { return !maybeInPlace || inPlace; }
};

GemmTypes gemmTypesFor(const GemmLoop &gemm, mlir::MLIRContext *context);

class GemmOperands {
public:
  GemmOperands(KernelState &kernel, mlir::scf::ForOp loop, const GemmLoop &gemm, Scope &scope,
               GemmKernel &gemmKernel);

  /// Emits everything; `copyOfA` is the address of a's rows, the shape's depth apart, when they are
  /// computed into scratch.
  void emit(mlir::Value copyOfA, const GemmShape &shape);
  OperandPlace a, b;
  mlir::Value aFirst, bFirst; ///< addresses of the first elements
  mlir::Value columnTable;    ///< of b's columns' addresses at k = 0, when each has its own
  /// Of row-major b: its valid columns lie side by side; null = always. Else the table has them.
  mlir::Value neighbours;
  /// Where a's rows are copied side by side for one block of k, and the elements between two k;
  /// null = they are read in place.
  mlir::Value packedRows;
  int64_t packedStride = 0;
  mlir::Value rowEnd, columnEnd; ///< of what is computed; with rowPlaces, the number of rows
  mlir::Value panelEnd;          ///< columnEnd, or 0 without rows
  /// Of a list of rows: how many are padding, and a table of where their sums are.
  mlir::Value paddingRows, paddingPlaces;
  mlir::Value demandedRows;   ///< rows from rowEnd to here keep what they start with
  bool hasAllColumns = false; ///< all columns that are looked at are computed
  bool isRagged = true;       ///< the last panel may have fewer columns than the others
  mlir::Value joins;          ///< iterations may be joined
  /// Which columns of b the mask chooses one by one, for the vectors of a panel that starts at
  /// `column`.
  llvm::SmallVector<mlir::Value, 4> columnMasks(mlir::OpBuilder &at, mlir::Value column,
                                                const GemmShape &shape) const;
  /// The number of valid k in `count` iterations from `t` on.
  mlir::Value depthOf(mlir::OpBuilder &at, mlir::Value t, mlir::Value count) const;
  /// An i1: there are rows behind those of the tile; null = nobody says.
  mlir::Value hasRowsBehind(mlir::OpBuilder &at);
  /// What the number of valid k depends on.
  void addInnerBounds(llvm::SmallVectorImpl<mlir::Value> &values) const;
  /// Else the number of valid k is the number of all.
  bool hasInnerBounds() const { return !innerBounds.empty(); }

private:
  /// Valid k of an iteration: first + t * step, at most all of them.
  struct InnerBound {
    mlir::Value first, step;
  };
  void standAt(Evaluator &e, Scope &at) const;
  mlir::Value wide(mlir::Value value);
  mlir::Value distance(const PrefixTerm &term);
  mlir::Value elements(const PrefixTerm &term);
  mlir::Value outerEnd(const GemmOperand &operand, int64_t size);
  mlir::Value demandedEnd(bool rows, int64_t size);
  mlir::Value corner(const GemmOperand &operand);
  void follow(const GemmOperand &operand, OperandPlace &place);
  mlir::Value startsInside(const GemmOperand &operand);
  mlir::Value checkNeighbours();
  /// `lanes` rows at a time where that is possible.
  void fillRowTable(mlir::OpBuilder &at, int64_t lanes);
  bool hasVectorRows(int64_t lanes) const;
  /// `missing`: under this condition only; null = always.
  void fillColumnTable(mlir::Value missing);
  /// Parts the table into the rows that are read, and the places of those that the mask leaves out.
  void listChosenRows();
  /// Of one row, or several ones from `row` on: appends to the lists; how many rows are chosen.
  mlir::Value listRow(mlir::OpBuilder &at, mlir::Value row, mlir::Value count);
  mlir::Value listRows(mlir::OpBuilder &at, mlir::Value row, mlir::Value count);
  mlir::Value loadEntries(mlir::OpBuilder &at, mlir::Value table, mlir::Value row,
                          int64_t lanes) const;
  void fillTableOfCopies(mlir::OpBuilder &at, mlir::Value copyOfA, int64_t depth);
  void storeEntry(mlir::OpBuilder &at, mlir::Value table, mlir::Value row, mlir::Value entry);
  void storeAddress(mlir::OpBuilder &at, mlir::Value row, mlir::Value address);

  KernelState &kernel;
  const GemmLoop &gemm;
  GemmKernel &gemmKernel;
  LoopSteps steps;
  mlir::Location loc;
  mlir::OpBuilder &builder;
  Scope &scope;
  Scope first;
  Evaluator evaluator;
  llvm::SmallVector<InnerBound> innerBounds;
  // Of what was asked for: equal bounds are seen to be equal.
  std::map<std::tuple<void *, void *, bool>, mlir::Value> distances;
  std::map<void *, mlir::Value> counts;
};

} // namespace nereid::cpu
