// SPDX-License-Identifier: Apache-2.0
// Values that a loop carries and only ever adds to: an index or an address that grows by the same
// amount for all of its elements. They are known in every round from the first one.
#pragma once

#include "mlir/IR/Value.h"
#include "llvm/ADT/DenseMap.h"

#include <memory>

namespace mlir {
class Pass;
} // namespace mlir

namespace nereid::tile {

/// The value is `initial`, plus the `step` of all rounds so far.
struct Induction {
  mlir::Value initial;
  mlir::Value step; ///< of a tile: one number for all of its elements, maybe another in each round
};

/// What a round adds to a value that a scf.for carries, for a tile element by element; null when it
/// does anything else with it.
mlir::Value addedPerRound(mlir::BlockArgument carried);

class Inductions {
public:
  /// Of all loops in the function, which has to stay as it is only meanwhile.
  void find(mlir::Operation *function);

  /// Null when the value is no induction.
  const Induction *of(mlir::Value carried) const {
    auto it = table.find(carried);
    return it == table.end() ? nullptr : &it->second;
  }

  const llvm::DenseMap<mlir::Value, Induction> &all() const { return table; }

private:
  llvm::DenseMap<mlir::Value, Induction> table;
};

/// `tile-print-inductions`: a remark where a loop carries an induction.
std::unique_ptr<mlir::Pass> createPrintInductionsPass();

} // namespace nereid::tile
