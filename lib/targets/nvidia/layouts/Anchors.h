// SPDX-License-Identifier: Apache-2.0
// The operations that say how their tiles are held, because instructions or memory ask for it:
// accesses, products, scans. All others follow.
#pragma once

#include "lib/layout/LinearLayout.h"
#include "lib/tile/analysis/axis/AxisInfo.h"

#include "mlir/IR/Operation.h"

namespace nereid::nvidia {

/// Threads of a program.
struct Threads {
  int64_t warps = 4;  ///< of all blocks, those of the first block first
  int64_t blocks = 1; ///< a cluster of them is one program
  static constexpr int64_t lanes = 32;
  int64_t ofBlock() const { return lanes * warps / blocks; }
};

/// Those that a kernel is launched with.
Threads threadsOf(mlir::Operation *kernel);

/// Side by side in memory, 16 bytes for each thread where the tile has that many.
layout::LinearLayout accessLayout(mlir::Value pointer, const tile::AxisInfos &axes,
                                  const Threads &threads);
/// Elements of a thread from its first one on that lie side by side along the last dimension.
int64_t neighboursOf(const layout::LinearLayout &layout);
/// Of no two addresses the distance is known: no layout reads them in fewer steps than another.
bool isScattered(const tile::AxisInfo &info);
/// Of a place that a scan has counted: such places follow each other from lane to lane.
bool comesFromScan(mlir::Value pointer, unsigned depth = 0);
/// For a scattered access: the layout of the access of as many elements in its block which takes
/// the most at once, else its own.
layout::LinearLayout layoutBeside(mlir::Operation *access, const tile::AxisInfos &axes,
                                  const Threads &threads);
/// Whether threads that hold a tile in this layout write whole sectors of memory (32 bytes), each
/// by one instruction: nothing is gained by moving it to other threads first.
bool fillsSectors(const layout::LinearLayout &layout, mlir::Value pointer,
                  const tile::AxisInfo &info);
/// One that suits anything: the last dimension is the fastest.
layout::LinearLayout usualLayout(mlir::Value tile, const Threads &threads);
/// Of the product's accumulator and result.
layout::LinearLayout productLayout(mlir::Operation *dot, const Threads &threads);
/// In which an operand is needed, 0 the left one, where the product is made by matrix instructions.
layout::LinearLayout factorLayout(mlir::Operation *dot, unsigned operand, const Threads &threads);

/// Whether matrix instructions make this product.
bool usesMatrixUnit(mlir::Operation *dot);

} // namespace nereid::nvidia
