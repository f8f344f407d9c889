// SPDX-License-Identifier: Apache-2.0
// Which tiles cost less computed anew in another layout than moved to other threads.
#pragma once

#include "mlir/IR/Operation.h"
#include "llvm/ADT/DenseMap.h"

namespace nereid::nvidia {

/// Remembers what it found: no operation that it was asked of may be erased.
class FreeTiles {
public:
  /// Whether the value is made anew in the layout of each user: any thread can compute it from
  /// scalars alone, or from narrower tiles, which move at less cost than what repeats them. True of
  /// what is no tile.
  bool contains(mlir::Value value);

  /// Whether the value is an address or a number that is computed from one narrower tile and from
  /// what is free: that moves at less cost.
  bool isWidened(mlir::Value value, unsigned depth = 0);

private:
  llvm::DenseMap<mlir::Operation *, bool> known;
};

} // namespace nereid::nvidia
