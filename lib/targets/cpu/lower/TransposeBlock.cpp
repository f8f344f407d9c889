// SPDX-License-Identifier: Apache-2.0
// See TransposeBlock.h.
#include "lib/targets/cpu/lower/TransposeBlock.h"

#include "mlir/Dialect/Vector/IR/VectorOps.h"

using namespace mlir;

namespace nereid::cpu {

void transposeBlock(OpBuilder &builder, Location loc, SmallVectorImpl<Value> &rows) {
  int64_t width = static_cast<int64_t>(rows.size());
  for (int64_t bit = 1; bit < width; bit *= 2) {
    SmallVector<int64_t> low, high; // of the concatenation of two rows
    for (int64_t k = 0; k < width; ++k) {
      low.push_back((k & bit) == 0 ? k : width + k - bit);
      high.push_back((k & bit) == 0 ? k + bit : width + k);
    }
    for (int64_t i = 0; i < width; ++i) {
      if ((i & bit) != 0) {
        continue;
      }
      Value a = rows[i], b = rows[i + bit];
      rows[i] = builder.create<vector::ShuffleOp>(loc, a, b, low);
      rows[i + bit] = builder.create<vector::ShuffleOp>(loc, a, b, high);
    }
  }
}

} // namespace nereid::cpu
