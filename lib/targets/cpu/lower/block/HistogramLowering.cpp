// SPDX-License-Identifier: Apache-2.0
// Histograms. What is not to be counted is counted in a bin behind the last one, so that the loop
// over the elements neither compares nor branches: tile-prepare-histograms has given such elements
// that number.
#include "lib/targets/cpu/Attributes.h"
#include "lib/targets/cpu/lower/Recognisers.h"
#include "lib/targets/cpu/lower/block/ElementLoops.h"
#include "lib/targets/cpu/lower/block/Operations.h"

#include <numeric>

using namespace mlir;

namespace nereid::cpu {

void lowerHistogram(BlockLowering &block, tile::HistogramOp op) {
  KernelState &kernel = block.kernel;
  Location loc = op.getLoc();
  Type i32 = block.builder().getI32Type(), i64 = block.builder().getI64Type();
  int source = block.bufferOf(op.getSource(), i32);
  int64_t count = ShapedType::getNumElements(shapeOf(op.getSource()));
  int64_t bins = shapeOf(op.getResult())[0], stride = bins + 1;
  const int64_t tables = histogramTables(op);
  tally(Recogniser::Histogram, tables > 1);
  int result = kernel.allocate({histogramEntries(op)}, i32, loc);
  kernel.buffers[op.getResult()] = result;
  block.own(op.getResult(), result);
  const int64_t lanes = kernel.machine.vectorBytes / 4;
  forBlocks(kernel, block.builder(), loc, tables * stride, lanes,
            [&](OpBuilder &b, Value index, unsigned width) {
              storeLanes(kernel, b, loc, result, index, kernel.zero(lanesOf(i32, width)));
            });
  const int64_t together = std::gcd<int64_t>(8, count);
  forBlocks(kernel, block.builder(), loc, count, together,
            [&](OpBuilder &b, Value first, unsigned) {
              if (count > together) {
                b.getBlock()->getParentOp()->setAttr(attribute::hostsPrefetches, b.getUnitAttr());
              }
              for (int64_t i = 0; i < together; ++i) {
                Value index = b.create<arith::AddIOp>(loc, first, kernel.i64(i));
                Value number =
                    b.create<arith::ExtUIOp>(loc, i64, loadLanes(kernel, b, loc, source, index, 1));
                number = b.create<arith::AddIOp>(loc, number, kernel.i64(i % tables * stride));
                Value counted = loadLanes(kernel, b, loc, result, number, 1);
                storeLanes(kernel, b, loc, result, number,
                           b.create<arith::AddIOp>(loc, counted, kernel.constantInt(i32, 1)));
              }
            });
  if (tables == 1) {
    return;
  }
  forBlocks(kernel, block.builder(), loc, bins, std::min(lanes, bins),
            [&](OpBuilder &b, Value index, unsigned width) {
              Value sum = loadLanes(kernel, b, loc, result, index, width);
              for (int64_t table = 1; table < tables; ++table) {
                Value at = b.create<arith::AddIOp>(loc, index, kernel.i64(table * stride));
                sum =
                    b.create<arith::AddIOp>(loc, sum, loadLanes(kernel, b, loc, result, at, width));
              }
              storeLanes(kernel, b, loc, result, index, sum);
            });
}

} // namespace nereid::cpu
