// SPDX-License-Identifier: Apache-2.0
// By how much a value of a loop body grows from one iteration to the next: the induction variable
// by the loop's step, a pointer that is advanced by what is added to it, sums and products
// accordingly. What grows by one amount for all elements needs no new evaluation in each iteration.
#pragma once

#include "lib/targets/cpu/lower/elements/Evaluator.h"

namespace nereid::cpu {

class LoopSteps {
public:
  LoopSteps(KernelState &kernel, mlir::scf::ForOp loop) : kernel(kernel), loop(loop) {}

  /// The value grows by one amount per iteration, the same for all elements of a tile.
  bool isSteady(mlir::Value value) const;
  /// The value is the same in every iteration.
  bool isInvariant(mlir::Value value) const;
  /// That amount as an i64, in elements for pointers; the value must be steady. The evaluator
  /// stands in front of the loop, where the scalars of the body hold their first iteration's
  /// values.
  mlir::Value emit(mlir::Value value, Evaluator &evaluator, mlir::OpBuilder &builder) const;

private:
  /// What is added to a carried value per iteration; null when it is no plain sum.
  mlir::Value carriedStep(mlir::BlockArgument arg) const;
  bool isInside(mlir::Value value) const;

  KernelState &kernel;
  mutable mlir::scf::ForOp loop; ///< a handle: asking it needs no constness
};

} // namespace nereid::cpu
