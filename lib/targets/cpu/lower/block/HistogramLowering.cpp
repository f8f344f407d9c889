// SPDX-License-Identifier: Apache-2.0
// Histograms. What is not to be counted is counted in a bin behind the last one, so that the loop
// over the elements neither compares nor branches: tile-prepare-histograms has given such elements
// that number.
#include "lib/targets/cpu/loops/PrefetchNext.h"
#include "lib/targets/cpu/lower/Recognisers.h"
#include "lib/targets/cpu/lower/block/BlockLowering.h"

#include <numeric>

using namespace mlir;

namespace nereid::cpu {

void BlockLowering::lowerHistogram(tile::HistogramOp op) {
  Location loc = op.getLoc();
  Type i32 = builder().getI32Type(), i64 = builder().getI64Type();
  int source = bufferOf(op.getSource(), i32);
  int64_t count = ShapedType::getNumElements(shapeOf(op.getSource()));
  int64_t bins = shapeOf(op.getResult())[0], stride = bins + 1;
  // Neighbours are counted in different tables where clearing and adding these up costs little: a
  // number that comes again would wait for its own count to be written.
  const int64_t tables = tally(Recogniser::Histogram, bins * 4 <= count) ? 4 : 1;
  int result = kernel.allocate({tables * stride}, i32, loc);
  kernel.buffers[op.getResult()] = result;
  own(op.getResult(), result);
  const int64_t lanes = kernel.machine.vectorBytes / 4;
  forBlocks(loc, tables * stride, lanes, [&](OpBuilder &b, Value index, unsigned width) {
    storeLanes(b, loc, result, index, kernel.zero(lanesOf(i32, width)));
  });
  const int64_t block = std::gcd<int64_t>(8, count);
  forBlocks(loc, count, block, [&](OpBuilder &b, Value first, unsigned) {
    if (count > block) {
      b.getBlock()->getParentOp()->setAttr(hostsPrefetches, b.getUnitAttr());
    }
    for (int64_t i = 0; i < block; ++i) {
      Value index = b.create<arith::AddIOp>(loc, first, kernel.i64(i));
      Value number = b.create<arith::ExtUIOp>(loc, i64, loadLanes(b, loc, source, index, 1));
      number = b.create<arith::AddIOp>(loc, number, kernel.i64(i % tables * stride));
      Value counted = loadLanes(b, loc, result, number, 1);
      storeLanes(b, loc, result, number,
                 b.create<arith::AddIOp>(loc, counted, kernel.constantInt(i32, 1)));
    }
  });
  if (tables == 1) {
    return;
  }
  forBlocks(loc, bins, std::min(lanes, bins), [&](OpBuilder &b, Value index, unsigned width) {
    Value sum = loadLanes(b, loc, result, index, width);
    for (int64_t table = 1; table < tables; ++table) {
      Value at = b.create<arith::AddIOp>(loc, index, kernel.i64(table * stride));
      sum = b.create<arith::AddIOp>(loc, sum, loadLanes(b, loc, result, at, width));
    }
    storeLanes(b, loc, result, index, sum);
  });
}

} // namespace nereid::cpu
