// SPDX-License-Identifier: Apache-2.0
// Operations that move elements between the lanes of a vector: both sides are whole tiles in
// scratch, walked by a loop of their own. Scans are in ScanLowering.cpp, histograms in
// HistogramLowering.cpp.
#include "lib/targets/cpu/lower/block/ElementLoops.h"
#include "lib/targets/cpu/lower/block/Operations.h"

#include "mlir/Dialect/Vector/IR/VectorOps.h"

using namespace mlir;

namespace nereid::cpu {

static int64_t countOf(Value tile) { return ShapedType::getNumElements(shapeOf(tile)); }

/// Lanes of a full vector, or what is there of them.
static int64_t lanesFor(const KernelState &kernel, Type memory, int64_t count) {
  int64_t full = kernel.machine.vectorBytes / KernelState::byteSize(memory);
  return std::min<int64_t>(full, static_cast<int64_t>(llvm::bit_floor<uint64_t>(count)));
}

static void lowerJoin(BlockLowering &block, tile::JoinOp op) {
  KernelState &kernel = block.kernel;
  Location loc = op.getLoc();
  Type memory = KernelState::memoryType(elementTypeOf(op.getLeft()));
  int left = block.bufferOf(op.getLeft(), memory), right = block.bufferOf(op.getRight(), memory);
  int result = block.bufferFor(op.getResult());
  int64_t count = countOf(op.getLeft());
  forBlocks(kernel, block.builder(), loc, count, lanesFor(kernel, memory, count),
            [&](OpBuilder &b, Value index, unsigned width) {
              Value a = loadLanes(kernel, b, loc, left, index, width);
              Value c = loadLanes(kernel, b, loc, right, index, width);
              Value low = b.create<arith::MulIOp>(loc, index, kernel.i64(2));
              Value high = b.create<arith::AddIOp>(loc, low, kernel.i64(width));
              if (width == 1) {
                storeLanes(kernel, b, loc, result, low, a);
                storeLanes(kernel, b, loc, result, high, c);
                return;
              }
              for (unsigned half : {0u, 1u}) {
                SmallVector<int64_t> order;
                for (unsigned i = 0; i < width; ++i) {
                  order.push_back((half * width + i) / 2 + (i % 2) * width);
                }
                storeLanes(kernel, b, loc, result, half == 0 ? low : high,
                           b.create<vector::ShuffleOp>(loc, a, c, order));
              }
            });
}

static void lowerSplit(BlockLowering &block, tile::SplitOp op) {
  KernelState &kernel = block.kernel;
  Location loc = op.getLoc();
  Type memory = KernelState::memoryType(elementTypeOf(op.getSource()));
  int source = block.bufferOf(op.getSource(), memory);
  int left = block.bufferFor(op.getLeft()), right = block.bufferFor(op.getRight());
  int64_t count = countOf(op.getLeft());
  forBlocks(kernel, block.builder(), loc, count, lanesFor(kernel, memory, count),
            [&](OpBuilder &b, Value index, unsigned width) {
              Value low = b.create<arith::MulIOp>(loc, index, kernel.i64(2));
              Value high = b.create<arith::AddIOp>(loc, low, kernel.i64(width));
              Value a = loadLanes(kernel, b, loc, source, low, width);
              Value c = loadLanes(kernel, b, loc, source, high, width);
              if (width == 1) {
                storeLanes(kernel, b, loc, left, index, a);
                storeLanes(kernel, b, loc, right, index, c);
                return;
              }
              for (unsigned odd : {0u, 1u}) {
                SmallVector<int64_t> order;
                for (unsigned i = 0; i < width; ++i) {
                  order.push_back(2 * i + odd);
                }
                storeLanes(kernel, b, loc, odd == 0 ? left : right, index,
                           b.create<vector::ShuffleOp>(loc, a, c, order));
              }
            });
}

void lowerCrossLane(BlockLowering &block, Operation &op) {
  if (auto scan = dyn_cast<tile::ScanOp>(op)) {
    lowerScan(block, scan);
  } else if (auto join = dyn_cast<tile::JoinOp>(op)) {
    lowerJoin(block, join);
  } else if (auto split = dyn_cast<tile::SplitOp>(op)) {
    lowerSplit(block, split);
  } else {
    lowerHistogram(block, cast<tile::HistogramOp>(op));
  }
}

} // namespace nereid::cpu
