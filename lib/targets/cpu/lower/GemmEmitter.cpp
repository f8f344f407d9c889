// SPDX-License-Identifier: Apache-2.0
// Emits the loop of a matrix product: k in blocks that join several iterations of the source loop,
// columns in panels that stay in the first-level cache, rows in register blocks. a is read where it
// is; the first register block of a panel packs b for all others. What cannot be read in place is
// computed into scratch, iteration by iteration, in the same layouts.
#include "lib/targets/cpu/lower/GemmEmitter.h"
#include "lib/targets/cpu/lower/FoldingArithmetic.h"
#include "lib/targets/cpu/lower/GemmPack.h"
#include "lib/targets/cpu/lower/GemmPacking.h"

#include "mlir/Dialect/Vector/IR/VectorOps.h"

using namespace mlir;

namespace nereid::cpu {

static GemmTypes gemmTypesFor(const GemmLoop &gemm, MLIRContext *context) {
  Type f32 = Float32Type::get(context), i32 = IntegerType::get(context, 32);
  if (gemm.group == 1) {
    return {f32, f32, f32, 1};
  }
  return {IntegerType::get(context, static_cast<unsigned>(32 / gemm.group)), i32,
          gemm.group == 2 ? f32 : i32, gemm.group};
}

namespace {
class GemmEmitter {
public:
  using Copy = GemmCopy;
  GemmEmitter(KernelState &kernel, scf::ForOp loop, const GemmLoop &gemm, const GemmShape &shape,
              Scope &scope)
      : kernel(kernel), loop(loop), gemm(gemm), shape(shape), loc(loop.getLoc()), fold(loc),
        b(scope.builder), gemmKernel(kernel, loc, shape, gemmTypesFor(gemm, loop.getContext())),
        types(gemmKernel.types), operands(kernel, loop, gemm, scope, gemmKernel),
        packing(kernel, loc, shape, gemmKernel, operands) {}

  Copy copyOfA, copyOfB;

  /// The sums start from zero where `startsAtZero`, else from what is in the accumulator.
  void emit(int accumulator, bool startsAtZero) {
    gemmKernel.cStride = gemm.n;
    gemmKernel.c = kernel.bufferAddress(accumulator);
    operands.emit(copyOfA.joined >= 0 ? kernel.bufferAddress(copyOfA.joined) : Value(), shape);
    if (operands.b.maybeInPlace || types.group > 1) {
      packing.allocate(b);
      panel = packing.panel;
    }
    perBlock = fold.select(b, operands.joins, kernel.i64(shape.depth / gemm.k), kernel.i64(1));
    Value tripCount = emitTripCount();
    // A block may overhang the last valid row. What it adds to rows that are looked at all the same
    // is taken back.
    Value overhangs = fold.isGreater(b, operands.demandedRows, operands.rowEnd);
    int saved = fold.known(overhangs) == 0
                    ? -1
                    : kernel.allocate({gemmPaddingRows, gemm.n}, types.sum, loc);
    auto keepRows = [&](bool restore) {
      if (saved < 0) {
        return;
      }
      OpBuilder then = b.create<scf::IfOp>(loc, overhangs, false).getThenBodyBuilder();
      Value behind = gemmKernel.move(then, types.sum, gemmKernel.c,
                                     fold.mul(then, operands.rowEnd, kernel.i64(gemm.n)));
      Value copy = kernel.bufferAddress(saved);
      copyRows(then, types.sum, restore ? copy : behind, gemm.n, restore ? behind : copy, gemm.n,
               gemmPaddingRows, gemm.n);
    };
    const bool isInPlace = !operands.a.maybeCopied() && !operands.b.maybeCopied();
    const bool skipsZeros = startsAtZero && saved < 0 && isInPlace && operands.hasAllColumns &&
                            kernel.options.hasMaskedMoves;
    Value blocksEnd = tripCount;
    if (skipsZeros) {
      blocksEnd = fold.max(b, tripCount, kernel.i64(1)); // the first block stores them
    } else if (startsAtZero) {
      fillWithZeros();
    }
    keepRows(false);
    auto outer = b.create<scf::ForOp>(loc, kernel.i64(0), blocksEnd, perBlock);
    OpBuilder inside(outer.getBody()->getTerminator());
    if (skipsZeros) {
      Value isLater = fold.isGreater(inside, outer.getInductionVar(), kernel.i64(0));
      Type type = lanesOf(b.getI1Type(), static_cast<unsigned>(shape.lanes));
      gemmKernel.hasStarted = inside.create<vector::BroadcastOp>(loc, type, isLater);
    }
    emitDepthBlock(inside, outer.getInductionVar(), tripCount);
    keepRows(true);
  }

private:
  void fillWithZeros() {
    auto each = b.create<scf::ForOp>(loc, kernel.i64(0), kernel.i64(gemm.m * gemm.n),
                                     kernel.i64(panelWidth()));
    OpBuilder inside(each.getBody()->getTerminator());
    Value zero = kernel.zero(lanesOf(types.sum, static_cast<unsigned>(shape.lanes)));
    Value row = gemmKernel.move(inside, types.sum, gemmKernel.c, each.getInductionVar());
    for (int64_t v = 0; v < shape.vectors; ++v) {
      inside.create<LLVM::StoreOp>(loc, zero,
                                   gemmKernel.move(inside, types.sum, row, v * shape.lanes), 4);
    }
  }

  int64_t panelWidth() const { return shape.vectors * shape.lanes; }

  Value wide(Value value) {
    if (isa<IndexType>(value.getType())) {
      return b.createOrFold<arith::IndexCastOp>(loc, b.getI64Type(), value);
    }
    return value.getType().isInteger(64)
               ? value
               : b.createOrFold<arith::ExtSIOp>(loc, b.getI64Type(), value);
  }

  Value emitTripCount() {
    Value low = wide(kernel.scalar(loop.getLowerBound()));
    Value step = wide(kernel.scalar(loop.getStep()));
    Value span = fold.sub(b, wide(kernel.scalar(loop.getUpperBound())), low);
    span = fold.add(b, span, fold.sub(b, step, kernel.i64(1)));
    return fold.max(b, b.createOrFold<arith::DivSIOp>(loc, span, step), kernel.i64(0));
  }

  // ---- operands in scratch ----
  /// `rows` rows of `width` elements from one matrix into another.
  void copyRows(OpBuilder &at, Type element, Value from, int64_t fromStride, Value to,
                int64_t toStride, int64_t rows, int64_t width) {
    int64_t lanes = shape.lanes;
    while (width % lanes != 0) {
      lanes /= 2;
    }
    auto eachRow = at.create<scf::ForOp>(loc, kernel.i64(0), kernel.i64(rows), kernel.i64(1));
    OpBuilder outside(eachRow.getBody()->getTerminator());
    Value row = eachRow.getInductionVar();
    auto moved = [&](OpBuilder &builder, Value address, Value elements) {
      return gemmKernel.move(builder, element, address, elements);
    };
    from = moved(outside, from, fold.mul(outside, row, kernel.i64(fromStride)));
    to = moved(outside, to, fold.mul(outside, row, kernel.i64(toStride)));
    auto along =
        outside.create<scf::ForOp>(loc, kernel.i64(0), kernel.i64(width), kernel.i64(lanes));
    OpBuilder inside(along.getBody()->getTerminator());
    Value index = along.getInductionVar();
    Type type = lanesOf(element, static_cast<unsigned>(lanes));
    const auto align = static_cast<unsigned>(KernelState::byteSize(element));
    Value value = inside.create<LLVM::LoadOp>(loc, type, moved(inside, from, index), align);
    inside.create<LLVM::StoreOp>(loc, value, moved(inside, to, index), align);
  }

  /// Computes the operand for all iterations of the block unless it is in place.
  void emitCopies(OpBuilder &at, const OperandPlace &place, const Copy &copy, Value t, Value count,
                  llvm::function_ref<void(OpBuilder &, Value from, Value to, Value k)> join) {
    if (!place.maybeCopied()) {
      return;
    }
    OpBuilder inside = at;
    if (place.inPlace) {
      Value absent =
          at.create<arith::XOrIOp>(loc, place.inPlace, kernel.constantInt(at.getI1Type(), 1));
      inside = at.create<scf::IfOp>(loc, absent, false).getThenBodyBuilder();
    }
    if (copy.tile == copy.joined) {
      copy.compute(inside, t);
      return;
    }
    auto each = inside.create<scf::ForOp>(loc, kernel.i64(0), count, kernel.i64(1));
    OpBuilder body(each.getBody()->getTerminator());
    Value number = each.getInductionVar();
    copy.compute(body, fold.add(body, t, number));
    join(body, kernel.bufferAddress(copy.tile), kernel.bufferAddress(copy.joined),
         fold.mul(body, number, kernel.i64(gemm.k)));
  }

  // ---- one block of k ----
  void emitDepthBlock(OpBuilder &at, Value t, Value tripCount) {
    Value count = fold.min(at, perBlock, fold.sub(at, tripCount, t));
    emitCopies(at, operands.a, copyOfA, t, count,
               [&](OpBuilder &inside, Value from, Value to, Value k) {
                 copyRows(inside, types.operand, from, gemm.k, gemmKernel.move(inside, to, k),
                          shape.depth, gemm.m, gemm.k);
               });
    emitCopies(at, operands.b, copyOfB, t, count,
               [&](OpBuilder &inside, Value from, Value to, Value k) {
                 if (types.group > 1) { // as b is in memory
                   to = gemmKernel.move(inside, to, fold.mul(inside, k, kernel.i64(gemm.n)));
                   copyRows(inside, types.operand, from, gemm.n, to, gemm.n, gemm.k, gemm.n);
                   return;
                 }
                 // Panel by panel, each with its rows one after the other.
                 to = gemmKernel.move(inside, to, fold.mul(inside, k, kernel.i64(panelWidth())));
                 auto panels = inside.create<scf::ForOp>(loc, kernel.i64(0), kernel.i64(gemm.n),
                                                         kernel.i64(panelWidth()));
                 OpBuilder body(panels.getBody()->getTerminator());
                 Value column = panels.getInductionVar();
                 copyRows(body, types.operand, gemmKernel.move(body, from, column), gemm.n,
                          panelOfCopy(body, to, column), panelWidth(), gemm.k, panelWidth());
               });
    gemmKernel.depth = operands.depthOf(at, t, count);
    gemmKernel.aOffset = kernel.i64(0);
    gemmKernel.aStride = nullptr;
    if (operands.packedRows) {
      Value from = gemmKernel.move(at, operands.aFirst, fold.mul(at, t, operands.a.step));
      packRowsSideBySide(at, loc, kernel, shape, from, operands.a.stride, operands.rowEnd,
                         operands.packedStride, gemmKernel.depth, operands.packedRows);
      gemmKernel.aStride = kernel.i64(operands.packedStride);
    } else if (operands.a.maybeInPlace) {
      Value offset = fold.mul(at, t, operands.a.step), stride = operands.a.stride;
      if (operands.a.inPlace) {
        offset = fold.select(at, operands.a.inPlace, offset, kernel.i64(0));
        stride = fold.select(at, operands.a.inPlace, stride, kernel.i64(1));
      }
      gemmKernel.aOffset = offset;
      gemmKernel.aStride = fold.known(stride) == 1 ? Value() : stride;
    }
    if (types.group > 1 && operands.a.maybeInPlace) {
      completeGroups(at);
    }
    Value bBlock, bNext;
    if (operands.columnTable) {
      bOffset = fold.mul(at, t, operands.b.step);
    }
    if (operands.b.maybeInPlace && !gemm.b.transposed) {
      bBlock = gemmKernel.move(at, operands.bFirst, fold.mul(at, t, operands.b.step));
      // What comes next: the same panel of the block after this one, behind the last one the next
      // panel.
      Value next = fold.add(at, t, perBlock);
      Value isLast = fold.isGreater(at, kernel.i64(1), fold.sub(at, tripCount, next));
      bNext = gemmKernel.move(at, operands.bFirst, fold.mul(at, next, operands.b.step));
      bNext = fold.select(at, isLast, gemmKernel.move(at, bBlock, panelWidth()), bNext);
    }
    auto panels =
        at.create<scf::ForOp>(loc, kernel.i64(0), operands.columnEnd, kernel.i64(panelWidth()));
    OpBuilder inside(panels.getBody()->getTerminator());
    emitPanel(inside, panels.getInductionVar(), bBlock, bNext);
  }

  /// Where the last group is a part, rows of a are copied with zeros behind them.
  void completeGroups(OpBuilder &at) {
    if (!operands.hasInnerBounds()) {
      return;
    }
    Value rest = at.create<arith::AndIOp>(loc, gemmKernel.depth, kernel.i64(types.group - 1));
    Value isPart = fold.isGreater(at, rest, kernel.i64(0));
    const int64_t rows = gemm.m + gemmPaddingRows;
    Value copies = kernel.bufferAddress(kernel.allocate({rows, shape.depth}, types.operand, loc));
    Value table =
        kernel.bufferAddress(kernel.allocate({gemm.m + paddingAddresses}, at.getI64Type(), loc));
    OpBuilder then = at.create<scf::IfOp>(loc, isPart, false).getThenBodyBuilder();
    Value end = fold.add(then, operands.rowEnd, kernel.i64(gemmPaddingRows));
    auto each = then.create<scf::ForOp>(loc, kernel.i64(0), end, kernel.i64(1));
    OpBuilder inRow(each.getBody()->getTerminator());
    Value row = each.getInductionVar();
    Value from = gemmKernel.loadRow(inRow, row);
    Value to = gemmKernel.move(inRow, copies, fold.mul(inRow, row, kernel.i64(shape.depth)));
    inRow.create<LLVM::StoreOp>(loc, to, gemmKernel.move(inRow, inRow.getI64Type(), table, row), 8);
    const auto align = static_cast<unsigned>(KernelState::byteSize(types.operand));
    Value last = fold.sub(inRow, gemmKernel.depth, rest);
    inRow.create<LLVM::StoreOp>(loc, kernel.zero(types.lane), gemmKernel.move(inRow, to, last),
                                align);
    auto along = inRow.create<scf::ForOp>(loc, kernel.i64(0), gemmKernel.depth, kernel.i64(1));
    OpBuilder inside(along.getBody()->getTerminator());
    Value k = along.getInductionVar();
    Value element =
        inside.create<LLVM::LoadOp>(loc, types.operand, gemmKernel.move(inside, from, k), align);
    inside.create<LLVM::StoreOp>(loc, element, gemmKernel.move(inside, to, k), align);
    gemmKernel.rowTable = fold.select(at, isPart, table, gemmKernel.rowTable);
    gemmKernel.aOffset = fold.select(at, isPart, kernel.i64(0), gemmKernel.aOffset);
  }

  Value panelOfCopy(OpBuilder &at, Value copy, Value column) {
    // column / width panels of depth * width elements
    return gemmKernel.move(at, copy, fold.mul(at, column, kernel.i64(shape.depth)));
  }

  /// The register block of the first rows packs the panel, unless all of it is packed before.
  void chooseSource(OpBuilder &at, Value column, Value left, Value bBlock, GemmBlock &block) {
    if (!operands.b.maybeInPlace && types.group == 1) {
      return;
    }
    const bool isRagged = !fold.known(operands.columnEnd);
    Value direct = operands.neighbours, inPlace = operands.b.inPlace;
    if (isRagged && !kernel.options.hasMaskedMoves) {
      direct = fold.both(at, direct, fold.isGreater(at, left, kernel.i64(panelWidth() - 1)));
    }
    if (direct) {
      Value absent = at.create<arith::XOrIOp>(loc, direct, kernel.constantInt(at.getI1Type(), 1));
      absent = fold.both(at, inPlace, absent);
      OpBuilder inside = at.create<scf::IfOp>(loc, absent, false).getThenBodyBuilder();
      packing.packColumns(inside, column, left, bOffset);
    }
    GemmPacking::Source source;
    if (operands.b.maybeInPlace) {
      source = {gemmKernel.move(at, bBlock, column), operands.b.stride, {}};
    }
    block.packs = kernel.constantInt(at.getI1Type(), 1);
    if (types.group == 1) {
      direct = fold.both(at, inPlace, direct);
      block.packs = direct ? direct : block.packs;
    } else {
      if (direct) {
        source.from = fold.select(at, direct, source.from, packing.columnCopy);
        source.stride = fold.select(at, direct, source.stride, kernel.i64(panelWidth()));
      }
      if (operands.b.maybeCopied()) {
        Value copy = gemmKernel.move(at, kernel.bufferAddress(copyOfB.joined), column);
        Value stride = kernel.i64(gemm.n);
        source.from = inPlace ? fold.select(at, inPlace, source.from, copy) : copy;
        source.stride = inPlace ? fold.select(at, inPlace, source.stride, stride) : stride;
      }
    }
    if (isRagged && kernel.options.hasMaskedMoves) {
      packing.addMasks(at, left, source);
    }
    if (operands.b.maybeInPlace && !gemm.b.rowMasks.empty()) {
      auto chosen = operands.columnMasks(at, column, shape);
      for (size_t v = 0; v < chosen.size(); ++v) {
        source.masks.resize(chosen.size());
        source.masks[v] = fold.both(at, source.masks[v], chosen[v]);
      }
    }
    if (types.group == 1 && !operands.b.maybeCopied() && gemm.b.rowMasks.empty()) {
      // Rows of the panel's width, one behind the other, are a panel already.
      Value width = kernel.i64(panelWidth());
      Value isPanel = fold.isEqual(at, operands.b.stride, width);
      isPanel = fold.both(at, isPanel, fold.isGreater(at, left, kernel.i64(panelWidth() - 1)));
      isPanel = fold.both(at, operands.neighbours, isPanel);
      block.panel = fold.select(at, isPanel, source.from, panel);
      Value isNone =
          at.createOrFold<arith::XOrIOp>(loc, isPanel, kernel.constantInt(at.getI1Type(), 1));
      block.packs = fold.both(at, block.packs, isNone);
    }
    block.pack = [this, source, &block](OpBuilder &inside, Value number, Value to) {
      return packing.packGroup(inside, source, block.vectors, number, to);
    };
  }

  void emitPanel(OpBuilder &at, Value column, Value bBlock, Value bNext) {
    Value left = fold.sub(at, operands.columnEnd, column);
    GemmBlock block;
    block.column = column;
    block.panel = panel;
    block.panelStride = panelWidth();
    const bool packsTransposed = operands.b.maybeInPlace && gemm.b.transposed;
    if (packsTransposed) {
      Value columns = at.create<LLVM::GEPOp>(loc, operands.columnTable.getType(), at.getI64Type(),
                                             operands.columnTable, ValueRange{column});
      Value inPlace = operands.b.inPlace;
      OpBuilder inside =
          inPlace ? at.create<scf::IfOp>(loc, inPlace, false).getThenBodyBuilder() : at;
      packTransposedPanel(inside, loc, kernel, shape, types, columns, bOffset, left,
                          gemmKernel.depth, panel);
      if (types.group == 4) { // nothing to pack, but columns to sum up
        block.packs = kernel.constantInt(at.getI1Type(), 1);
        block.pack = [this, &block](OpBuilder &inside, Value, Value to) {
          return gemmKernel.readPanel(inside, to, block.vectors);
        };
      }
    } else {
      chooseSource(at, column, left, bBlock, block);
    }
    if (operands.b.maybeCopied() && types.group == 1) {
      Value copy = panelOfCopy(at, kernel.bufferAddress(copyOfB.joined), column);
      block.panel = operands.b.inPlace ? fold.select(at, operands.b.inPlace, panel, copy) : copy;
    }
    auto rowsOf = [&](OpBuilder &inside, int64_t vectors) {
      block.vectors = vectors;
      emitRows(inside, block, bNext);
    };
    if (shape.vectors == 1 || fold.known(operands.columnEnd)) {
      rowsOf(at, shape.vectors);
      return;
    }
    // A panel of one vector goes by itself; else missing vectors are computed for nothing, which
    // takes less code than leaving them out.
    Value isWide = fold.isGreater(at, left, kernel.i64(shape.lanes));
    auto branch = at.create<scf::IfOp>(loc, isWide, true);
    OpBuilder then = branch.getThenBodyBuilder(), otherwise = branch.getElseBodyBuilder();
    rowsOf(then, shape.vectors);
    rowsOf(otherwise, 1);
  }

  void emitRows(OpBuilder &at, GemmBlock block, Value bNext) {
    const int64_t rows = shape.rowsFor(shape.vectors);
    if (fold.known(operands.rowEnd) == 0) {
      return;
    }
    auto each = at.create<scf::ForOp>(loc, kernel.i64(0), operands.rowEnd, kernel.i64(rows));
    OpBuilder inside(each.getBody()->getTerminator());
    Value row = each.getInductionVar();
    block.rows = rows;
    block.row = row;
    if (block.packs) {
      block.packs = fold.both(inside, fold.isEqual(inside, row, kernel.i64(0)), block.packs);
    }
    if (block.vectors == shape.vectors) {
      if (bNext) {
        prefetchPanel(inside, row, bNext, block);
      }
      prefetchRows(inside, row, rows);
    }
    gemmKernel.emit(inside, block);
  }

  /// The panel's first blocks each bring in a part of its next rows.
  void prefetchPanel(OpBuilder &at, Value row, Value bNext, GemmBlock &block) {
    const int64_t part = shape.depth / shape.vectors;
    const int64_t line = 64 / KernelState::byteSize(types.operand);
    block.prefetchLines = std::max(panelWidth() / line, int64_t(1));
    Value isFirst = fold.isGreater(at, kernel.i64(shape.vectors * block.rows), row);
    isFirst = fold.both(at, isFirst, fold.isGreater(at, row, kernel.i64(0)));
    Value start = fold.mul(at, fold.quotient(at, row, kernel.i64(block.rows)),
                           fold.mul(at, operands.b.stride, kernel.i64(part)));
    start = gemmKernel.move(at, bNext, fold.add(at, start, block.column));
    block.prefetch = fold.select(at, isFirst, start, panel);
    block.prefetchStep = fold.select(at, isFirst, kernel.i64(line), kernel.i64(0));
    Value toNextRow = fold.sub(at, operands.b.stride, kernel.i64((block.prefetchLines - 1) * line));
    block.prefetchRowStep = fold.select(at, isFirst, toNextRow, kernel.i64(0));
  }

  /// The rows of a that the next register block reads; behind the last one, those of the next k.
  void prefetchRows(OpBuilder &at, Value row, int64_t rows) {
    if (!operands.a.maybeInPlace || gemmKernel.aStride) {
      return;
    }
    Value next = fold.add(at, row, kernel.i64(rows));
    Value isInside = fold.isGreater(at, operands.rowEnd, next);
    next = fold.select(at, isInside, next, kernel.i64(0));
    Value skipped = fold.select(at, isInside, kernel.i64(0), gemmKernel.depth);
    auto each =
        at.create<scf::ForOp>(loc, next, fold.add(at, next, kernel.i64(rows)), kernel.i64(1));
    OpBuilder inRow(each.getBody()->getTerminator());
    Value address = gemmKernel.loadRow(inRow, each.getInductionVar());
    address = gemmKernel.move(inRow, address, skipped);
    // Several lines per turn: the last one may ask for lines behind the row, which is harmless.
    const int64_t line = 64 / KernelState::byteSize(types.operand), lines = 4;
    auto along =
        inRow.create<scf::ForOp>(loc, kernel.i64(0), gemmKernel.depth, kernel.i64(lines * line));
    OpBuilder body(along.getBody()->getTerminator());
    Value first = gemmKernel.move(body, address, along.getInductionVar());
    for (int64_t i = 0; i < lines; ++i) {
      body.create<LLVM::Prefetch>(loc, gemmKernel.move(body, first, i * line), 0, /*hint=*/2, 1);
    }
  }

  KernelState &kernel;
  scf::ForOp loop;
  const GemmLoop &gemm;
  const GemmShape &shape;
  Location loc;
  FoldingArithmetic fold;
  OpBuilder &b;
  GemmKernel gemmKernel;
  const GemmTypes &types;
  GemmOperands operands;
  GemmPacking packing;
  Value perBlock, panel;
  Value bOffset; ///< of columns that are read one by one, in elements
};
} // namespace

void emitGemm(KernelState &kernel, scf::ForOp loop, const GemmLoop &gemm, const GemmShape &shape,
              Scope &scope, const GemmCopies &copies, const GemmSums &sums) {
  GemmEmitter emitter(kernel, loop, gemm, shape, scope);
  emitter.copyOfA = copies.a;
  emitter.copyOfB = copies.b;
  emitter.emit(sums.buffer, sums.startAtZero);
}

} // namespace nereid::cpu
