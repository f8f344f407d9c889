// SPDX-License-Identifier: Apache-2.0
// Emits the loop of a matrix product: k in blocks that join several iterations of the source loop,
// columns in panels that stay in the first-level cache, rows in register blocks. a is read where it
// is; the first register block of a panel packs b for all others. What cannot be read in place is
// computed into scratch, iteration by iteration, in the same layouts.
#include "lib/targets/cpu/lower/product/GemmEmitter.h"
#include "lib/targets/cpu/lower/elements/FoldingArithmetic.h"
#include "lib/targets/cpu/lower/product/GemmEpilogue.h"
#include "lib/targets/cpu/lower/product/GemmPaddingRows.h"
#include "lib/targets/cpu/lower/product/GemmPrefetch.h"
#include "lib/targets/cpu/lower/product/pack/GemmPack.h"
#include "lib/targets/cpu/lower/product/pack/GemmPacking.h"
#include "lib/targets/cpu/lower/product/pack/GemmPanelCache.h"
#include "lib/targets/cpu/lower/product/pack/GemmPartGroups.h"

#include "mlir/Dialect/Vector/IR/VectorOps.h"

using namespace mlir;

namespace nereid::cpu {

namespace {
class GemmEmitter {
public:
  using Copy = GemmCopy;
  GemmEmitter(KernelState &kernel, scf::ForOp loop, const GemmLoop &gemm, const GemmShape &shape,
              Scope &scope)
      : kernel(kernel), loop(loop), gemm(gemm), shape(shape), loc(loop.getLoc()), fold(loc),
        scope(scope), b(scope.builder),
        gemmKernel(kernel, loc, shape, gemmTypesFor(gemm, loop.getContext())),
        types(gemmKernel.types), operands(kernel, loop, gemm, scope, gemmKernel),
        packing(kernel, loc, shape, gemmKernel, operands),
        prefetch(kernel, loc, shape, gemmKernel, operands),
        panelCache(kernel, gemm, shape, gemmKernel, operands) {}

  Copy copyOfA, copyOfB;

  /// The sums start from zero where `startsAtZero`, else from what is in the accumulator. True when
  /// they are stored to memory as well.
  bool emit(int accumulator, bool startsAtZero) {
    gemmKernel.cStride = gemm.n;
    gemmKernel.c = kernel.bufferAddress(accumulator);
    operands.emit(copyOfA.joined >= 0 ? kernel.bufferAddress(copyOfA.joined) : Value(), shape);
    prefetch.prepare(b);
    perBlock = fold.select(b, operands.joins, kernel.i64(shape.depth / gemm.k), kernel.i64(1));
    mostAtOnce = fold.select(b, operands.joins, kernel.i64(shape.deepest / gemm.k), kernel.i64(1));
    tripCount = emitTripCount();
    if (!isPanelInMemory()) {
      panelCache.emit(b, tripCount);
    }
    if (operands.b.maybeInPlace || types.packFactor > 1) {
      packing.allocate(b, panelCache.isUsed());
      panel = packing.panel;
    }
    // A block may overhang the last valid row. What it adds to rows that are looked at all the same
    // is taken back.
    // A list of rows has places behind the tile for that.
    const bool isList = gemmKernel.rowPlaces != nullptr;
    Value overhangs = isList ? kernel.constantInt(b.getI1Type(), 0)
                             : fold.isGreater(b, operands.demandedRows, operands.rowEnd);
    int saved = fold.known(overhangs) == 0
                    ? -1
                    : kernel.allocate({gemmOverhangRows, gemm.n}, types.sum, loc);
    auto keepRows = [&](bool restore) {
      if (saved < 0) {
        return;
      }
      OpBuilder then = b.create<scf::IfOp>(loc, overhangs, false).getThenBodyBuilder();
      Value behind = gemmKernel.move(then, types.sum, gemmKernel.c,
                                     fold.mul(then, operands.rowEnd, kernel.i64(gemm.n)));
      Value copy = kernel.bufferAddress(saved);
      gemmKernel.copyRows(then, types.sum, restore ? copy : behind, gemm.n, restore ? behind : copy,
                          gemm.n, gemmOverhangRows, gemm.n);
    };
    const bool isInPlace = !operands.a.maybeCopied() && !operands.b.maybeCopied();
    // Every element that is looked at passes through a register block.
    const bool seesAll = saved < 0 && !isList && isInPlace && operands.hasAllColumns;
    const bool skipsZeros = startsAtZero && seesAll;
    const bool makesStore = gemm.store && seesAll && kernel.machine.hasMaskedMoves;
    // The last iterations, when fewer than a block, join the block before them. A product without
    // any k still needs one block, which stores the elements that are looked at.
    Value least = skipsZeros || makesStore ? kernel.i64(1) : fold.min(b, tripCount, kernel.i64(1));
    Value rest = fold.sub(b, mostAtOnce, perBlock);
    readEnd = fold.max(b, fold.sub(b, tripCount, rest), least);
    Value blocksEnd = readEnd;
    if (startsAtZero && !skipsZeros) {
      gemmKernel.fillWithZeros(b, gemmKernel.c, gemm.m * gemm.n);
    }
    const Value zeros = skipsZeros ? zeroRows() : Value();
    if (makesStore) {
      // Where operands must not be overwritten before all is read, a block without k follows.
      Value more = fold.select(b, mayStoreWhileReading(kernel, b, gemm), kernel.i64(0), perBlock);
      blocksEnd = fold.add(b, blocksEnd, more);
    }
    keepRows(false);
    auto outer = b.create<scf::ForOp>(loc, kernel.i64(0), blocksEnd, perBlock);
    OpBuilder inside(outer.getBody()->getTerminator());
    Scope outside(OpBuilder(outer), &scope);
    if (makesStore) {
      Value end = fold.add(inside, outer.getInductionVar(), perBlock);
      isLast = inside.create<arith::CmpIOp>(loc, arith::CmpIPredicate::sge, end, blocksEnd);
      uniform = &outside;
      storesAtOnce = skipsZeros && !operands.packedRows && isStoredAtOnce(kernel, gemm);
    }
    if (zeros) {
      gemmKernel.isFirst = fold.isEqual(inside, outer.getInductionVar(), kernel.i64(0));
    }
    emitDepthBlock(inside, outer.getInductionVar());
    keepRows(true);
    return makesStore;
  }

private:
  /// What the sums of a register block start from.
  Value zeroRows() {
    const int64_t count = gemmOverhangRows * gemm.n;
    Value zeros = kernel.bufferAddress(kernel.allocate({count}, types.sum, loc));
    gemmKernel.fillWithZeros(b, zeros, count);
    return gemmKernel.zeros = zeros;
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
  /// How many iterations the block from t on has: none when it only stores.
  Value iterationsFrom(OpBuilder &at, Value t) {
    Value left = fold.sub(at, tripCount, t);
    Value count = fold.select(at, fold.isGreater(at, left, mostAtOnce), perBlock, left);
    return isLast ? fold.select(at, fold.isGreater(at, readEnd, t), count, kernel.i64(0)) : count;
  }

  void emitDepthBlock(OpBuilder &at, Value t) {
    Value count = iterationsFrom(at, t);
    emitCopies(at, operands.a, copyOfA, t, count,
               [&](OpBuilder &inside, Value from, Value to, Value k) {
                 gemmKernel.copyRows(inside, types.operand, from, gemm.k,
                                     gemmKernel.move(inside, to, k), shape.deepest, gemm.m, gemm.k);
               });
    emitCopies(
        at, operands.b, copyOfB, t, count, [&](OpBuilder &inside, Value from, Value to, Value k) {
          if (types.packFactor > 1) { // as b is in memory
            to = gemmKernel.move(inside, to, fold.mul(inside, k, kernel.i64(gemm.n)));
            gemmKernel.copyRows(inside, types.operand, from, gemm.n, to, gemm.n, gemm.k, gemm.n);
            return;
          }
          // Panel by panel, each with its rows one after the other.
          to = gemmKernel.move(inside, to, fold.mul(inside, k, kernel.i64(panelWidth())));
          auto panels = inside.create<scf::ForOp>(loc, kernel.i64(0), kernel.i64(gemm.n),
                                                  kernel.i64(panelWidth()));
          OpBuilder body(panels.getBody()->getTerminator());
          Value column = panels.getInductionVar();
          gemmKernel.copyRows(body, types.operand, gemmKernel.move(body, from, column), gemm.n,
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
    if (types.packFactor > 1) {
      completeGroups(kernel, at, loc, gemm, shape, gemmKernel, operands);
    }
    if (panelCache.isUsed()) {
      panelCache.beginBlock(at, t);
      isToBePacked =
          at.create<arith::XOrIOp>(loc, panelCache.isPacked, kernel.constantInt(at.getI1Type(), 1));
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
      Value isBehind = fold.isGreater(at, kernel.i64(1), fold.sub(at, readEnd, next));
      bNext = gemmKernel.move(at, operands.bFirst, fold.mul(at, next, operands.b.step));
      bNext = fold.select(at, isBehind, gemmKernel.move(at, bBlock, panelWidth()), bNext);
    }
    auto panels =
        at.create<scf::ForOp>(loc, kernel.i64(0), operands.panelEnd, kernel.i64(panelWidth()));
    OpBuilder inside(panels.getBody()->getTerminator());
    emitPanel(inside, panels.getInductionVar(), bBlock, bNext);
  }

  Value panelOfCopy(OpBuilder &at, Value copy, Value column) {
    // column / width panels of deepest * width elements
    return gemmKernel.move(at, copy, fold.mul(at, column, kernel.i64(shape.deepest)));
  }

  /// Rows of b are as wide as the only panel and lie one behind the other: nothing is to be packed.
  bool isPanelInMemory() const {
    return types.packFactor == 1 && !operands.b.maybeCopied() && !operands.neighbours &&
           gemm.b.rowMasks.empty() && gemm.n == panelWidth() &&
           fold.known(operands.b.stride) == panelWidth() && !operands.isRagged;
  }

  /// The register block of the first rows packs the panel, unless all of it is packed before.
  void chooseSource(OpBuilder &at, Value column, Value left, Value bBlock, GemmBlock &block) {
    if (!operands.b.maybeInPlace && types.packFactor == 1) {
      return;
    }
    if (isPanelInMemory()) {
      block.panel = bBlock;
      return;
    }
    Value direct = operands.neighbours, inPlace = operands.b.inPlace;
    if (operands.isRagged && !kernel.machine.hasMaskedMoves) {
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
      source.from = gemmKernel.move(at, bBlock, column);
      source.stride = operands.b.stride;
    }
    block.packs = isToBePacked ? isToBePacked : kernel.constantInt(at.getI1Type(), 1);
    if (types.packFactor == 1) {
      direct = fold.both(at, inPlace, direct);
      block.packs = direct ? fold.both(at, isToBePacked, direct) : block.packs;
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
    packing.addRows(at, source);
    if (operands.isRagged && kernel.machine.hasMaskedMoves) {
      packing.addMasks(at, left, source);
    }
    if (operands.b.maybeInPlace && !gemm.b.rowMasks.empty()) {
      auto chosen = operands.columnMasks(at, column, shape);
      for (size_t v = 0; v < chosen.size(); ++v) {
        source.masks.resize(chosen.size());
        source.masks[v] = fold.both(at, source.masks[v], chosen[v]);
      }
    }
    const bool isCopiedAnyway = panelCache.isUsed() || operands.b.maybeCopied();
    if (types.packFactor == 1 && !isCopiedAnyway && gemm.b.rowMasks.empty()) {
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
    block.pack = [this, source](OpBuilder &inside, Value number, Value to, int64_t vectors) {
      return packing.packGroup(inside, source, vectors, number, to);
    };
  }

  void emitPanel(OpBuilder &at, Value column, Value bBlock, Value bNext) {
    Value left = fold.sub(at, operands.columnEnd, column);
    if (panelCache.isUsed()) {
      panel = packing.panel = panelCache.panelAt(at, column);
      gemmKernel.columnSums = gemmKernel.columnSums ? panelCache.columnSumsOf(at, panel) : Value();
    }
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
      if (types.packFactor == 4) { // nothing to pack, but columns to sum up
        block.packs = kernel.constantInt(at.getI1Type(), 1);
        block.pack = [this](OpBuilder &inside, Value, Value to, int64_t vectors) {
          return gemmKernel.readPanel(inside, to, vectors);
        };
      }
    } else {
      chooseSource(at, column, left, bBlock, block);
    }
    if (operands.b.maybeCopied() && types.packFactor == 1) {
      Value copy = panelOfCopy(at, kernel.bufferAddress(copyOfB.joined), column);
      block.panel = operands.b.inPlace ? fold.select(at, operands.b.inPlace, panel, copy) : copy;
    }
    emitRows(at, block, left, bNext);
    emitPaddingRows(kernel, at, loc, shape, gemmKernel, operands, block);
  }

  void emitRows(OpBuilder &at, GemmBlock block, Value left, Value bNext) {
    const int64_t rows = shape.rowsFor(shape.vectors);
    if (fold.known(operands.rowEnd) == 0) {
      return;
    }
    // Where vectors are missing, one goes after the other, more rows at a time. The first rows are
    // a wide block in either case, which packs all of the panel.
    const int64_t narrowRows = shape.rowsFor(1);
    const bool mayBeNarrow = shape.vectors > 1 && operands.isRagged;
    Value isWide, step = kernel.i64(rows), missing = kernel.i64(0);
    if (mayBeNarrow) {
      isWide = fold.isGreater(at, left, kernel.i64(panelWidth() - shape.lanes));
      step = fold.select(at, isWide, step, kernel.i64(narrowRows));
      if (block.packs) {
        missing = fold.sub(at, step, kernel.i64(rows));
      }
      if (block.packs && gemmKernel.rowPlaces) {
        // An empty list has no block, not even one that packs.
        Value isSome = fold.isGreater(at, operands.rowEnd, kernel.i64(0));
        missing = fold.select(at, isSome, missing, kernel.i64(0));
      }
    }
    auto each =
        at.create<scf::ForOp>(loc, kernel.i64(0), fold.add(at, operands.rowEnd, missing), step);
    OpBuilder inside(each.getBody()->getTerminator());
    Value row = each.getInductionVar();
    if (fold.known(missing) != 0) { // of the first block's step
      row = fold.max(inside, fold.sub(inside, row, missing), kernel.i64(0));
    }
    block.row = row;
    if (block.packs) {
      Value isFirst = fold.isEqual(inside, row, kernel.i64(0));
      block.packs = fold.both(inside, isFirst, block.packs);
      isWide = mayBeNarrow ? inside.create<arith::OrIOp>(loc, isWide, isFirst) : isWide;
    }
    auto dividesRows = [&](int64_t count) {
      std::optional<int64_t> end = fold.known(operands.rowEnd);
      return end && *end % count == 0;
    };
    block.rows = rows;
    block.mayOverhang = !dividesRows(rows);
    block.vectors = shape.vectors;
    Value done = kernel.i64(rows);
    if (!mayBeNarrow) {
      emitBlock(inside, block, bNext);
    } else {
      auto branch = inside.create<scf::IfOp>(loc, isWide, true);
      OpBuilder then = branch.getThenBodyBuilder(), otherwise = branch.getElseBodyBuilder();
      emitBlock(then, block, bNext);
      GemmBlock narrow = block;
      narrow.packs = nullptr;
      narrow.rows = narrowRows;
      // Behind a first block of other height none begins at a multiple of its own.
      narrow.mayOverhang = fold.known(missing) != 0 || !dividesRows(narrowRows);
      narrow.vectors = 1;
      auto vectors =
          otherwise.create<scf::ForOp>(loc, kernel.i64(0), left, kernel.i64(shape.lanes));
      OpBuilder each(vectors.getBody()->getTerminator());
      narrow.inPanel = vectors.getInductionVar();
      narrow.column = fold.add(each, block.column, narrow.inPanel);
      narrow.panel = gemmKernel.move(each, types.lane, block.panel, narrow.inPanel);
      emitBlock(each, narrow, bNext);
      done = fold.select(inside, isWide, done, kernel.i64(narrowRows));
    }
    if (isLast && !storesAtOnce) {
      OpBuilder then = inside.create<scf::IfOp>(loc, isLast, false).getThenBodyBuilder();
      Value end = fold.min(then, fold.add(then, row, done), operands.rowEnd);
      EpilogueOfRows(kernel, gemm, shape, *uniform, block.column)
          .emitFromScratch(then, row, end, left);
    }
  }

  void emitBlock(OpBuilder &at, GemmBlock block, Value bNext) {
    if (storesAtOnce) {
      block.stores = isLast;
      block.store = [&](OpBuilder &inside, ArrayRef<Value> sums) {
        Value left = fold.sub(inside, operands.columnEnd, block.column);
        EpilogueOfRows(kernel, gemm, shape, *uniform, block.column)
            .emitFromRegisters(inside, block, sums, operands.rowEnd, left);
      };
    }
    // Convolutions: what is asked for is in the second-level cache, and asking takes longer.
    const bool isNear = gemmKernel.rowPlaces || isPanelInMemory();
    if (block.vectors == shape.vectors && !isNear) {
      if (bNext) {
        Value next = gemmKernel.move(at, bNext, block.column), stride = operands.b.stride;
        if (panelCache.isUsed()) {
          next = fold.select(at, panelCache.isNextPacked, panelCache.nextOf(at, panel), next);
          stride = fold.select(at, panelCache.isNextPacked, kernel.i64(panelWidth()), stride);
        }
        prefetch.emitNextPanel(at, next, stride, panel, block);
      }
      prefetch.emitNextRows(at, block);
    }
    gemmKernel.emit(at, block);
  }

  KernelState &kernel;
  scf::ForOp loop;
  const GemmLoop &gemm;
  const GemmShape &shape;
  Location loc;
  FoldingArithmetic fold;
  Scope &scope;
  OpBuilder &b;
  GemmKernel gemmKernel;
  const GemmTypes &types;
  GemmOperands operands;
  GemmPacking packing;
  GemmPrefetch prefetch;
  GemmPanelCache panelCache;
  Value isToBePacked;        ///< the block of k's panels; null = always
  Value tripCount, perBlock; ///< iterations, of all, of a block
  Value mostAtOnce;          ///< iterations of the last block
  Value readEnd;             ///< where the last block begins, at the latest
  Value panel;
  Value bOffset;             ///< of columns that are read one by one, in elements
  Value isLast;              ///< of the blocks of k, when it stores the sums to memory; else null
  bool storesAtOnce = false; ///< then from the registers that hold the sums
  Scope *uniform = nullptr;  ///< in front of the blocks
};
} // namespace

bool emitGemm(KernelState &kernel, scf::ForOp loop, const GemmLoop &gemm, const GemmShape &shape,
              Scope &scope, const GemmCopies &copies, const GemmSums &sums) {
  GemmEmitter emitter(kernel, loop, gemm, shape, scope);
  emitter.copyOfA = copies.a;
  emitter.copyOfB = copies.b;
  return emitter.emit(sums.buffer, sums.startAtZero);
}

} // namespace nereid::cpu
