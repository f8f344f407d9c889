// SPDX-License-Identifier: Apache-2.0
// Prefetches take places in the queue of cache misses, 2 % of a product's time where all is in the
// second-level cache anyway: a's rows are asked for in the first panel only, unless they collide.
#include "lib/targets/cpu/lower/product/GemmPrefetch.h"
#include "lib/targets/cpu/MachineSizes.h"
#include "lib/targets/cpu/Prefetch.h"
#include "lib/targets/cpu/lower/elements/FoldingArithmetic.h"

using namespace mlir;

namespace nereid::cpu {

bool GemmPrefetch::readsRowsInPlace() const {
  return operands.a.maybeInPlace && !operands.packedRows;
}

void GemmPrefetch::prepare(OpBuilder &at) {
  if (!readsRowsInPlace()) {
    return;
  }
  FoldingArithmetic fold(loc);
  Type i64 = at.getI64Type();
  auto entry = [&](int64_t row) -> Value {
    Value place = gemmKernel.move(at, i64, gemmKernel.rowTable, row);
    return at.create<LLVM::LoadOp>(loc, i64, place, 8);
  };
  Value apart = fold.sub(at, entry(1), entry(0));
  apart =
      at.create<arith::AndIOp>(loc, apart, kernel.i64(sizes::collidingBytes(kernel.machine) - 1));
  collide = fold.isEqual(at, apart, kernel.i64(0));
}

void GemmPrefetch::emitNextPanel(OpBuilder &at, Value next, Value stride, Value nothing,
                                 GemmBlock &block) const {
  FoldingArithmetic fold(loc);
  const int64_t width = shape.vectors * shape.lanes;
  const Type operand = gemmKernel.types.operand;
  const int64_t part = shape.depth / shape.vectors;
  const int64_t line = 64 / KernelState::byteSize(operand);
  block.prefetchLines = std::max(width / line, int64_t(1));
  Value isFirst = fold.isGreater(at, kernel.i64(shape.vectors * block.rows), block.row);
  isFirst = fold.both(at, isFirst, fold.isGreater(at, block.row, kernel.i64(0)));
  Value start = fold.mul(at, fold.quotient(at, block.row, kernel.i64(block.rows)),
                         fold.mul(at, stride, kernel.i64(part)));
  start = gemmKernel.move(at, next, start);
  block.prefetch = fold.select(at, isFirst, start, nothing);
  block.prefetchStep = fold.select(at, isFirst, kernel.i64(line), kernel.i64(0));
  Value toNextRow = fold.sub(at, stride, kernel.i64((block.prefetchLines - 1) * line));
  block.prefetchRowStep = fold.select(at, isFirst, toNextRow, kernel.i64(0));
}

void GemmPrefetch::emitNextRows(OpBuilder &outside, const GemmBlock &block) const {
  if (!readsRowsInPlace() || gemmKernel.aStride) {
    return;
  }
  FoldingArithmetic fold(loc);
  Value isFirst = fold.isEqual(outside, block.column, kernel.i64(0));
  isFirst = outside.create<arith::OrIOp>(loc, isFirst, collide);
  OpBuilder at = outside.create<scf::IfOp>(loc, isFirst, false).getThenBodyBuilder();
  const int64_t rows = block.rows;
  Value next = fold.add(at, block.row, kernel.i64(rows));
  Value isInside = fold.isGreater(at, operands.rowEnd, next);
  next = fold.select(at, isInside, next, kernel.i64(0));
  Value skipped = fold.select(at, isInside, kernel.i64(0), gemmKernel.depth);
  auto each = at.create<scf::ForOp>(loc, next, fold.add(at, next, kernel.i64(rows)), kernel.i64(1));
  OpBuilder inRow(each.getBody()->getTerminator());
  Value address = gemmKernel.loadRow(inRow, each.getInductionVar());
  address = gemmKernel.move(inRow, address, skipped);
  // Several lines per turn: the last one may ask for lines behind the row, which is harmless.
  const int64_t line = 64 / KernelState::byteSize(gemmKernel.types.operand), lines = 4;
  auto along =
      inRow.create<scf::ForOp>(loc, kernel.i64(0), gemmKernel.depth, kernel.i64(lines * line));
  OpBuilder body(along.getBody()->getTerminator());
  Value first = gemmKernel.move(body, address, along.getInductionVar());
  for (int64_t i = 0; i < lines; ++i) {
    prefetch::line(body, loc, gemmKernel.move(body, first, i * line), prefetch::Level::Second);
  }
}

} // namespace nereid::cpu
