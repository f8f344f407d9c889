// SPDX-License-Identifier: Apache-2.0
// Reductions and scans: within a thread, then across the lanes of a warp by shuffles, then across
// warps through shared memory. What both need: values that belong together and the region that
// combines them.
#pragma once

#include "lib/targets/nvidia/threads/ThreadCode.h"

#include "llvm/ADT/SmallVector.h"

namespace nereid::nvidia {

void lowerReduce(ThreadCode &code, tile::ReduceOp op);
/// Of sources in a layout that isWalkable along the axis.
void lowerScan(ThreadCode &code, tile::ScanOp op);

/// One value of each source.
using Group = llvm::SmallVector<mlir::Value, 2>;

/// What the thread holds of the sources in a register.
Group groupOf(ThreadCode &code, mlir::ValueRange sources, int64_t reg);
/// The region's result for an earlier group and a later one.
Group combine(ThreadCode &code, mlir::Region &region, const Group &earlier, const Group &later);
Group choose(ThreadCode &code, mlir::Value condition, const Group &yes, const Group &no);
/// Whether the region gives the same bits for groups in either order: each result is one
/// commutative operation on the values of one source.
bool isCommutative(mlir::Region &region);

/// Bits of a holder's number by which elements along the axis differ.
int64_t bitsAlong(const layout::LinearLayout &layout, layout::Holder holder, int64_t along);
/// The bits of `number` under the mask, side by side from the lowest on.
mlir::Value gatherBits(ThreadCode &code, mlir::Value number, int64_t mask);
/// The reverse: the lowest bits of `number` at the places of the mask.
mlir::Value scatterBits(ThreadCode &code, mlir::Value number, int64_t mask);
mlir::Value isEqual(ThreadCode &code, mlir::Value number, int64_t constant);

/// Room in shared memory for `parts` groups of each warp, one for each value of `lanes` bits of the
/// lane's number, that no thread reads any more. A barrier stands between stores and loads.
class SharedGroups {
public:
  SharedGroups(ThreadCode &code, const Group &example, int64_t lanes, int64_t parts);
  /// Bytes that one part takes.
  static int64_t bytesOfPart(const ThreadCode &code, const Group &example, int64_t lanes);
  void store(int64_t part, const Group &group);
  Group load(mlir::Value part, mlir::Value warp) const;

private:
  mlir::Value place(mlir::Value part, mlir::Value warp) const;

  ThreadCode &code;
  llvm::SmallVector<mlir::Type, 2> types;
  llvm::SmallVector<int64_t, 2> begins; ///< bytes, of each source
  int64_t lanes;
  ThreadCode::Range range;
};

} // namespace nereid::nvidia
