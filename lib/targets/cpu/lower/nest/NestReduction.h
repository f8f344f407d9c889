// SPDX-License-Identifier: Apache-2.0
// The reductions of a nest: their running values while its loops are built.
#pragma once

#include "lib/targets/cpu/lower/nest/Combiner.h"

namespace nereid::cpu {

/// What is emitted goes to the evaluator's innermost scope.
class Reductions {
public:
  explicit Reductions(llvm::ArrayRef<FusionRoot> roots);
  bool empty() const { return combiners.empty(); }
  /// Identities, for each copy of an unrolled body.
  void start(Evaluator &evaluator, unsigned copies);
  /// Combines with the values of each copy's sources; the first ones are taken as they are when
  /// seeding.
  void accumulate(Evaluator &evaluator, llvm::ArrayRef<llvm::SmallVector<mlir::Value>> values,
                  unsigned copies);
  /// Combines the accumulators of the unrolled copies pairwise into one set.
  void foldCopies(Evaluator &evaluator);
  /// Combines the lanes of each accumulator.
  void foldLanes(Evaluator &evaluator);
  /// Scalars become the kernel's, others go to their buffers.
  void finish(Evaluator &evaluator, unsigned copies,
              const llvm::DenseMap<mlir::Value, int> &results);

  llvm::ArrayRef<int64_t> shape; ///< of the nest
  llvm::SmallVector<Combiner> combiners;
  int axis = -1; ///< what is reduced; -1 = nothing
  bool identitiesKnown = true;
  bool seeding = false; ///< the next body starts the accumulators
  /// Running values, [copy][source of all combiners].
  llvm::SmallVector<mlir::Value> accumulators;

private:
  unsigned sources = 0;
};

} // namespace nereid::cpu
