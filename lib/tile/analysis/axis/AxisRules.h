// SPDX-License-Identifier: Apache-2.0
// What an operation makes of the facts about its operands: one rule for each kind of operation.
#pragma once

#include "lib/tile/analysis/axis/AxisRuns.h"

#include "mlir/IR/Operation.h"

namespace nereid::tile {

/// An operation with what is known of its operands; `result` has the type's facts, and its range.
struct AxisRule {
  mlir::Operation *op;
  llvm::ArrayRef<AxisInfo> operands;
  Overflow overflow;

  const AxisInfo &operand(unsigned i) const { return operands[i]; }
  /// For operations that work element by element, whatever they compute.
  void elementwise(AxisInfo &result) const;
  /// Runs of equal elements in all of these operands.
  int64_t commonConstancy(unsigned dim, llvm::ArrayRef<AxisInfo> of) const;
};

/// True where it knew a rule for the operation.
bool inferSum(const AxisRule &rule, AxisInfo &result);      // AxisSums.cpp
bool inferQuotient(const AxisRule &rule, AxisInfo &result); // AxisQuotients.cpp
bool inferChoice(const AxisRule &rule, AxisInfo &result);   // AxisChoices.cpp
bool inferShape(const AxisRule &rule, AxisInfo &result);    // AxisShapes.cpp

/// Facts about all results of an operation without regions, or of one whose regions compute numbers
/// of their own.
llvm::SmallVector<AxisInfo, 1> inferAxisInfo(mlir::Operation *op, llvm::ArrayRef<AxisInfo> operands,
                                             Overflow overflow);

/// What is promised about an argument of a function.
AxisInfo argumentInfo(mlir::BlockArgument argument);

/// The hints that an operation carries, added to what is known of its result.
void applyHints(mlir::Operation *op, AxisInfo &result);

/// Numbers from `low` on, below `high`, in steps.
AxisInfo inductionInfo(mlir::Type type, const AxisInfo &low, const AxisInfo &high,
                       const AxisInfo &step);

} // namespace nereid::tile
