// SPDX-License-Identifier: Apache-2.0
// Operations that move elements between the lanes of a vector: both sides are whole tiles in
// scratch, walked by a loop of their own. Scans are in ScanLowering.cpp, histograms in
// HistogramLowering.cpp.
#include "lib/targets/cpu/lower/block/BlockLowering.h"

#include "mlir/Dialect/Vector/IR/VectorOps.h"

using namespace mlir;

namespace nereid::cpu {

static int64_t countOf(Value tile) { return ShapedType::getNumElements(shapeOf(tile)); }

/// Lanes of a full vector, or what is there of them.
static int64_t lanesFor(const KernelState &kernel, Type memory, int64_t count) {
  int64_t full = kernel.machine.vectorBytes / KernelState::byteSize(memory);
  return std::min<int64_t>(full, static_cast<int64_t>(llvm::bit_floor<uint64_t>(count)));
}

void BlockLowering::forBlocks(Location loc, int64_t count, int64_t width, BlockBody body) {
  int64_t whole = count / width * width;
  auto emit = [&](int64_t start, int64_t end, int64_t step) {
    if (start >= end) {
      return;
    }
    if (start + step == end) {
      body(builder(), kernel.i64(start), static_cast<unsigned>(step));
      return;
    }
    auto loop =
        builder().create<scf::ForOp>(loc, kernel.i64(start), kernel.i64(end), kernel.i64(step));
    OpBuilder inside(loop.getBody()->getTerminator());
    body(inside, loop.getInductionVar(), static_cast<unsigned>(step));
  };
  emit(0, whole, width);
  emit(whole, count, 1);
}

Value BlockLowering::element(OpBuilder &b, Location loc, int buffer, Value index) {
  Value base = kernel.bufferAddress(buffer);
  return b.create<LLVM::GEPOp>(loc, base.getType(), kernel.buffer(buffer).element, base,
                               ValueRange{index});
}

Value BlockLowering::loadLanes(OpBuilder &b, Location loc, int buffer, Value index,
                               unsigned width) {
  Type memory = kernel.buffer(buffer).element;
  return b.create<LLVM::LoadOp>(loc, lanesOf(memory, width), element(b, loc, buffer, index),
                                static_cast<unsigned>(KernelState::byteSize(memory)));
}

void BlockLowering::storeLanes(OpBuilder &b, Location loc, int buffer, Value index, Value lanes) {
  Type memory = kernel.buffer(buffer).element;
  b.create<LLVM::StoreOp>(loc, lanes, element(b, loc, buffer, index),
                          static_cast<unsigned>(KernelState::byteSize(memory)));
}

void BlockLowering::lowerExchange(Operation &op) {
  if (auto scan = dyn_cast<tile::ScanOp>(op)) {
    lowerScan(scan);
  } else if (auto join = dyn_cast<tile::JoinOp>(op)) {
    lowerJoin(join);
  } else if (auto split = dyn_cast<tile::SplitOp>(op)) {
    lowerSplit(split);
  } else {
    lowerHistogram(cast<tile::HistogramOp>(op));
  }
}

int BlockLowering::bufferFor(Value result) {
  int buffer = kernel.allocate(shapeOf(result), elementTypeOf(result), result.getLoc());
  kernel.buffers[result] = buffer;
  own(result, buffer);
  return buffer;
}

void BlockLowering::lowerJoin(tile::JoinOp op) {
  Location loc = op.getLoc();
  Type memory = KernelState::memoryType(elementTypeOf(op.getLeft()));
  int left = bufferOf(op.getLeft(), memory), right = bufferOf(op.getRight(), memory);
  int result = bufferFor(op.getResult());
  int64_t count = countOf(op.getLeft());
  forBlocks(loc, count, lanesFor(kernel, memory, count),
            [&](OpBuilder &b, Value index, unsigned width) {
              Value a = loadLanes(b, loc, left, index, width);
              Value c = loadLanes(b, loc, right, index, width);
              Value low = b.create<arith::MulIOp>(loc, index, kernel.i64(2));
              Value high = b.create<arith::AddIOp>(loc, low, kernel.i64(width));
              if (width == 1) {
                storeLanes(b, loc, result, low, a);
                storeLanes(b, loc, result, high, c);
                return;
              }
              for (unsigned half : {0u, 1u}) {
                SmallVector<int64_t> order;
                for (unsigned i = 0; i < width; ++i) {
                  order.push_back((half * width + i) / 2 + (i % 2) * width);
                }
                storeLanes(b, loc, result, half == 0 ? low : high,
                           b.create<vector::ShuffleOp>(loc, a, c, order));
              }
            });
}

void BlockLowering::lowerSplit(tile::SplitOp op) {
  Location loc = op.getLoc();
  Type memory = KernelState::memoryType(elementTypeOf(op.getSource()));
  int source = bufferOf(op.getSource(), memory);
  int left = bufferFor(op.getLeft()), right = bufferFor(op.getRight());
  int64_t count = countOf(op.getLeft());
  forBlocks(loc, count, lanesFor(kernel, memory, count),
            [&](OpBuilder &b, Value index, unsigned width) {
              Value low = b.create<arith::MulIOp>(loc, index, kernel.i64(2));
              Value high = b.create<arith::AddIOp>(loc, low, kernel.i64(width));
              Value a = loadLanes(b, loc, source, low, width);
              Value c = loadLanes(b, loc, source, high, width);
              if (width == 1) {
                storeLanes(b, loc, left, index, a);
                storeLanes(b, loc, right, index, c);
                return;
              }
              for (unsigned odd : {0u, 1u}) {
                SmallVector<int64_t> order;
                for (unsigned i = 0; i < width; ++i) {
                  order.push_back(2 * i + odd);
                }
                storeLanes(b, loc, odd == 0 ? left : right, index,
                           b.create<vector::ShuffleOp>(loc, a, c, order));
              }
            });
}

} // namespace nereid::cpu
