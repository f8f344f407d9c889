// SPDX-License-Identifier: Apache-2.0
// Comparisons of indices that wrap around within a tile: `tl.arange(0, 64) + start < n` with a
// start near 2^31. A target may take the elements for an interval, as if they did not wrap. An
// index is computed from ranges, scalars and constants by sums, products, conversions and shapes;
// what is loaded, shifted to the right or mixed by an exclusive or (hashes, random numbers) is
// none.
#pragma once

#include "lib/check/Marks.h"

namespace nereid::check {

class IndexComparisons {
public:
  /// Marks the elements of a signed comparison whose outcome is another one in exact numbers.
  void markWrapped(interpreter::Instance &instance, mlir::Operation *op, Marks &marks);

private:
  bool isIndex(mlir::Value value);

  llvm::DenseMap<mlir::Value, bool> known;
};

} // namespace nereid::check
