// SPDX-License-Identifier: Apache-2.0
// Emits the loop of a matrix product: k in blocks that join several iterations of the source loop,
// columns in panels that stay in the first-level cache, rows in register blocks. a is read where it
// is; the first register block of a panel reads b where it is and packs it for all others. What
// cannot be read in place is computed into scratch, iteration by iteration, in the same layouts.
#include "lib/targets/cpu/lower/BlockLowering.h"
#include "lib/targets/cpu/lower/FoldingArithmetic.h"
#include "lib/targets/cpu/lower/GemmOperands.h"
#include "lib/targets/cpu/lower/GemmPack.h"

#include "mlir/Dialect/Vector/IR/VectorOps.h"

using namespace mlir;

namespace nereid::cpu {

namespace {
class GemmEmitter {
public:
  /// Computes an operand's tile of iteration t into its buffer.
  using Compute = std::function<void(OpBuilder &, Value t)>;
  struct Copy {
    Compute compute;
    int tile = -1;   ///< one iteration, row-major
    int joined = -1; ///< all iterations of a block; may be the tile itself
  };

  GemmEmitter(KernelState &kernel, scf::ForOp loop, const GemmLoop &gemm, const GemmShape &shape,
              Scope &scope)
      : kernel(kernel), loop(loop), gemm(gemm), shape(shape), loc(loop.getLoc()), fold(loc),
        b(scope.builder), gemmKernel(kernel, loc, shape, Float32Type::get(loop.getContext())),
        operands(kernel, loop, gemm, scope, gemmKernel) {}

  Copy copyOfA, copyOfB;

  void emit(int accumulator) {
    gemmKernel.cStride = gemm.n;
    gemmKernel.c = kernel.bufferAddress(accumulator);
    operands.emit(copyOfA.joined >= 0 ? kernel.bufferAddress(copyOfA.joined) : Value(), shape.depth,
                  shape.lanes);
    if (operands.b.maybeInPlace) {
      int packed = kernel.allocate({shape.depth, panelWidth()}, b.getF32Type(), loc);
      panel = kernel.bufferAddress(packed);
    }
    perBlock = fold.select(b, operands.joins, kernel.i64(shape.depth / gemm.k), kernel.i64(1));
    Value tripCount = emitTripCount();
    // A block may overhang the last valid row. What it adds to rows that are looked at all the same
    // is taken back.
    Value overhangs = fold.isGreater(b, operands.demandedRows, operands.rowEnd);
    int saved = fold.known(overhangs) == 0
                    ? -1
                    : kernel.allocate({gemmPaddingRows, gemm.n}, b.getF32Type(), loc);
    auto keepRows = [&](bool restore) {
      if (saved < 0) {
        return;
      }
      OpBuilder then = b.create<scf::IfOp>(loc, overhangs, false).getThenBodyBuilder();
      Value behind =
          gemmKernel.move(then, gemmKernel.c, fold.mul(then, operands.rowEnd, kernel.i64(gemm.n)));
      Value copy = kernel.bufferAddress(saved);
      copyRows(then, restore ? copy : behind, gemm.n, restore ? behind : copy, gemm.n,
               gemmPaddingRows, gemm.n);
    };
    keepRows(false);
    auto outer = b.create<scf::ForOp>(loc, kernel.i64(0), tripCount, perBlock);
    OpBuilder inside(outer.getBody()->getTerminator());
    emitDepthBlock(inside, outer.getInductionVar(), tripCount);
    keepRows(true);
  }

private:
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
  void copyRows(OpBuilder &at, Value from, int64_t fromStride, Value to, int64_t toStride,
                int64_t rows, int64_t width) {
    int64_t lanes = shape.lanes;
    while (width % lanes != 0) {
      lanes /= 2;
    }
    auto eachRow = at.create<scf::ForOp>(loc, kernel.i64(0), kernel.i64(rows), kernel.i64(1));
    OpBuilder outside(eachRow.getBody()->getTerminator());
    Value row = eachRow.getInductionVar();
    from = gemmKernel.move(outside, from, fold.mul(outside, row, kernel.i64(fromStride)));
    to = gemmKernel.move(outside, to, fold.mul(outside, row, kernel.i64(toStride)));
    auto along =
        outside.create<scf::ForOp>(loc, kernel.i64(0), kernel.i64(width), kernel.i64(lanes));
    OpBuilder inside(along.getBody()->getTerminator());
    Value index = along.getInductionVar();
    Type type = lanesOf(b.getF32Type(), static_cast<unsigned>(lanes));
    Value value = inside.create<LLVM::LoadOp>(loc, type, gemmKernel.move(inside, from, index), 4);
    inside.create<LLVM::StoreOp>(loc, value, gemmKernel.move(inside, to, index), 4);
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
                 copyRows(inside, from, gemm.k, gemmKernel.move(inside, to, k), shape.depth, gemm.m,
                          gemm.k);
               });
    emitCopies(at, operands.b, copyOfB, t, count,
               [&](OpBuilder &inside, Value from, Value to, Value k) {
                 // Panel by panel, each with its rows one after the other.
                 to = gemmKernel.move(inside, to, fold.mul(inside, k, kernel.i64(panelWidth())));
                 auto panels = inside.create<scf::ForOp>(loc, kernel.i64(0), kernel.i64(gemm.n),
                                                         kernel.i64(panelWidth()));
                 OpBuilder body(panels.getBody()->getTerminator());
                 Value column = panels.getInductionVar();
                 copyRows(body, gemmKernel.move(body, from, column), gemm.n,
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
    Value bBlock, bNext;
    if (operands.b.maybeInPlace && gemm.b.transposed) {
      bOffset = fold.mul(at, t, operands.b.step);
    } else if (operands.b.maybeInPlace) {
      bBlock = gemmKernel.move(at, operands.bFirst, fold.mul(at, t, operands.b.step));
      // The block after this one, or this one again when it is the last.
      Value next = fold.add(at, t, perBlock);
      next = fold.select(at, fold.isGreater(at, tripCount, next), next, t);
      bNext = gemmKernel.move(at, operands.bFirst, fold.mul(at, next, operands.b.step));
    }
    auto panels =
        at.create<scf::ForOp>(loc, kernel.i64(0), operands.columnEnd, kernel.i64(panelWidth()));
    OpBuilder inside(panels.getBody()->getTerminator());
    emitPanel(inside, panels.getInductionVar(), bBlock, bNext);
  }

  Value panelOfCopy(OpBuilder &at, Value copy, Value column) {
    // column / width panels of depth * width elements
    return gemmKernel.move(at, copy, fold.mul(at, column, kernel.i64(shape.depth)));
  }

  /// Masks of the panel's vectors where it reaches beyond the valid columns; empty when it cannot.
  SmallVector<Value, 4> panelMasks(OpBuilder &at, Value left) {
    SmallVector<Value, 4> masks;
    if (fold.known(operands.columnEnd)) {
      return masks;
    }
    Type i32 = at.getI32Type();
    auto lanes = static_cast<unsigned>(shape.lanes);
    for (int64_t v = 0; v < shape.vectors; ++v) {
      Value count =
          at.create<arith::TruncIOp>(loc, i32, fold.sub(at, left, kernel.i64(v * shape.lanes)));
      Value counts = at.create<vector::BroadcastOp>(loc, lanesOf(i32, lanes), count);
      masks.push_back(at.create<arith::CmpIOp>(loc, arith::CmpIPredicate::slt,
                                               iota(kernel, i32, lanes, 1), counts));
    }
    return masks;
  }

  void emitPanel(OpBuilder &at, Value column, Value bBlock, Value bNext) {
    Value left = fold.sub(at, operands.columnEnd, column);
    Value source, rowStart = kernel.i64(0), inPlace = operands.b.inPlace;
    if (operands.b.maybeInPlace && gemm.b.transposed) {
      Value columns = at.create<LLVM::GEPOp>(loc, operands.columnTable.getType(), at.getI64Type(),
                                             operands.columnTable, ValueRange{column});
      OpBuilder inside =
          inPlace ? at.create<scf::IfOp>(loc, inPlace, false).getThenBodyBuilder() : at;
      packTransposedPanel(inside, loc, kernel, shape, columns, bOffset, left, gemmKernel.depth,
                          panel);
      source = panel;
    } else if (operands.b.maybeInPlace) {
      const int64_t rows = shape.rowsFor(shape.vectors);
      GemmBlock block;
      block.rows = rows;
      block.vectors = shape.vectors;
      block.row = kernel.i64(0);
      block.column = column;
      block.b = gemmKernel.move(at, bBlock, column);
      block.bStride = operands.b.stride;
      block.packTo = panel;
      block.masks = panelMasks(at, left);
      OpBuilder inside =
          inPlace ? at.create<scf::IfOp>(loc, inPlace, false).getThenBodyBuilder() : at;
      prefetchRows(inside, kernel.i64(0), rows);
      if (!block.masks.empty() && !kernel.options.hasMaskedMoves) {
        // Masks cost a branch per element here, so that whole panels go without.
        Value isWhole = fold.isGreater(inside, left, kernel.i64(panelWidth() - 1));
        auto branch = inside.create<scf::IfOp>(loc, isWhole, true);
        OpBuilder then = branch.getThenBodyBuilder(), otherwise = branch.getElseBodyBuilder();
        gemmKernel.emit(otherwise, block);
        block.masks.clear();
        gemmKernel.emit(then, block);
      } else {
        gemmKernel.emit(inside, block);
      }
      source = panel;
      rowStart = inPlace ? fold.select(at, inPlace, kernel.i64(rows), rowStart) : kernel.i64(rows);
    }
    if (operands.b.maybeCopied()) {
      Value copy = panelOfCopy(at, kernel.bufferAddress(copyOfB.joined), column);
      source = source ? fold.select(at, inPlace, source, copy) : copy;
    }
    GemmBlock block;
    block.vectors = shape.vectors;
    block.column = column;
    block.b = source;
    block.bStride = kernel.i64(panelWidth());
    if (shape.vectors == 1 || fold.known(operands.columnEnd)) {
      emitRows(at, block, rowStart, bNext);
      return;
    }
    // A panel of one vector goes by itself; else missing vectors are computed for nothing, which
    // takes less code than leaving them out.
    Value isWide = fold.isGreater(at, left, kernel.i64(shape.lanes));
    auto branch = at.create<scf::IfOp>(loc, isWide, true);
    OpBuilder then = branch.getThenBodyBuilder(), otherwise = branch.getElseBodyBuilder();
    emitRows(then, block, rowStart, bNext);
    block.vectors = 1;
    emitRows(otherwise, block, rowStart, bNext);
  }

  void forRows(OpBuilder &at, Value low, Value high, int64_t step,
               llvm::function_ref<void(OpBuilder &, Value)> body) {
    auto start = fold.known(low), end = fold.known(high);
    if (start && end && *start >= *end) {
      return;
    }
    auto rows = at.create<scf::ForOp>(loc, low, high, kernel.i64(step));
    OpBuilder inside(rows.getBody()->getTerminator());
    body(inside, rows.getInductionVar());
  }

  void emitRows(OpBuilder &at, GemmBlock block, Value rowStart, Value bNext) {
    const int64_t rows = shape.rowsFor(shape.vectors);
    forRows(at, rowStart, operands.rowEnd, rows, [&](OpBuilder &inside, Value row) {
      block.rows = rows;
      block.row = row;
      if (bNext && block.vectors == shape.vectors) {
        // The panel's first blocks each bring in a part of its next rows.
        const int64_t part = shape.depth / shape.vectors;
        Value isFirst = fold.isGreater(inside, kernel.i64(shape.vectors * rows), row);
        Value start = fold.mul(inside, fold.quotient(inside, row, kernel.i64(rows)),
                               fold.mul(inside, operands.b.stride, kernel.i64(part)));
        start = gemmKernel.move(inside, bNext, fold.add(inside, start, block.column));
        block.prefetch = fold.select(inside, isFirst, start, panel);
        block.prefetchStep = fold.select(inside, isFirst, kernel.i64(shape.lanes), kernel.i64(0));
        Value toNextRow =
            fold.sub(inside, operands.b.stride, kernel.i64((shape.vectors - 1) * shape.lanes));
        block.prefetchRowStep = fold.select(inside, isFirst, toNextRow, kernel.i64(0));
      }
      if (block.vectors == shape.vectors) {
        prefetchRows(inside, row, rows);
      }
      gemmKernel.emit(inside, block);
    });
  }

  /// The rows of a that the next register block reads; behind the last one, those of the next k.
  void prefetchRows(OpBuilder &at, Value row, int64_t rows) {
    if (!operands.a.maybeInPlace || gemmKernel.aStride) {
      return;
    }
    Value next = fold.add(at, row, kernel.i64(rows));
    Value inside = fold.isGreater(at, operands.rowEnd, next);
    next = fold.select(at, inside, next, kernel.i64(0));
    Value skipped = fold.select(at, inside, kernel.i64(0), gemmKernel.depth);
    SmallVector<Value> addresses;
    for (int64_t r = 0; r < rows; ++r) {
      addresses.push_back(gemmKernel.move(at, gemmKernel.loadRow(at, next, r), skipped));
    }
    const int64_t line = 64 / KernelState::byteSize(b.getF32Type());
    auto along = at.create<scf::ForOp>(loc, kernel.i64(0), gemmKernel.depth, kernel.i64(line));
    OpBuilder body(along.getBody()->getTerminator());
    for (Value address : addresses) {
      body.create<LLVM::Prefetch>(loc, gemmKernel.move(body, address, along.getInductionVar()), 0,
                                  /*hint=*/2, 1);
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
  GemmOperands operands;
  Value perBlock, panel;
  Value bOffset; ///< of columns that are read one by one, in elements
};
} // namespace

/// The values that iteration `t` of the source loop starts with; null = the first.
void BlockLowering::startIteration(scf::ForOp op, OpBuilder &at, Value t) {
  Location loc = op.getLoc();
  Evaluator evaluator(kernel);
  Scope fresh(at, &scope);
  evaluator.scopes.push_back(&fresh);
  LoopSteps steps(kernel, op);
  auto growth = [&](Value source) -> Value {
    return at.create<arith::MulIOp>(loc, t, steps.emit(source, evaluator, at));
  };
  auto advanced = [&](Value start, Value source) -> Value {
    if (!t) {
      return start;
    }
    if (auto pointer = dyn_cast<tile::PtrType>(source.getType())) {
      return at.create<LLVM::GEPOp>(loc, start.getType(),
                                    KernelState::memoryType(pointer.getPointee()), start,
                                    ValueRange{growth(source)});
    }
    return at.create<arith::AddIOp>(loc, start,
                                    convertElements(at, loc, growth(source), start.getType()));
  };
  kernel.scalars[op.getInductionVar()] =
      advanced(kernel.scalar(op.getLowerBound()), op.getInductionVar());
  for (auto [i, arg] : llvm::enumerate(op.getRegionIterArgs())) {
    if (kernel.axes.induction(arg)) {
      Type type = isPointerTile(arg) ? at.getI64Type() : elementTypeOf(arg);
      kernel.inductionOffsets[arg] =
          t ? convertElements(at, loc, growth(arg), type) : kernel.zero(type);
    } else if (!isTile(arg)) {
      kernel.scalars[arg] = kernel.scalar(op.getInitArgs()[i]);
      if (steps.isSteady(arg)) {
        kernel.scalars[arg] = advanced(kernel.scalars[arg], arg);
      }
    }
  }
}

/// The operand of iteration `t` element by element: for addresses that turned out not to be what
/// reading in place takes for granted, which is rare and must not cost much code.
void BlockLowering::computeByElement(scf::ForOp op, Value tile, int buffer, OpBuilder &at,
                                     Value t) {
  Location loc = op.getLoc();
  startIteration(op, at, t);
  BlockLowering inner(kernel, at, &scope);
  for (Operation &source : op.getBody()->without_terminator()) {
    if (!isTile(source.getResult(0))) {
      inner.lowerScalar(source);
    }
  }
  at = inner.builder();
  ArrayRef<int64_t> shape = shapeOf(tile);
  Evaluator evaluator(kernel);
  auto rows = at.create<scf::ForOp>(loc, kernel.i64(0), kernel.i64(shape[0]), kernel.i64(1));
  OpBuilder inRow(rows.getBody()->getTerminator());
  auto columns = inRow.create<scf::ForOp>(loc, kernel.i64(0), kernel.i64(shape[1]), kernel.i64(1));
  Scope outside(OpBuilder(rows), &scope), row{OpBuilder(columns)};
  Scope element(OpBuilder(columns.getBody()->getTerminator()));
  evaluator.scopes = {&outside, &row, &element};
  evaluator.dimLevel = {1, 2};
  evaluator.dimIndex = {rows.getInductionVar(), columns.getInductionVar()};
  evaluator.laneBase.assign(1, kernel.i64(0));
  Dims dims = identityDims(2);
  evaluator.storeToBuffer(buffer, evaluator.evaluate(tile, dims, 0), dims, 0, loc);
}

bool BlockLowering::lowerGemm(scf::ForOp op) {
  std::optional<GemmLoop> gemm = recogniseGemm(kernel, op);
  if (!gemm) {
    return false;
  }
  Location loc = op.getLoc();
  Type f32 = builder().getF32Type();
  GemmShape shape = gemmShapeFor(kernel.options, KernelState::byteSize(f32), gemm->n);
  const int64_t panelWidth = shape.vectors * shape.lanes;
  if (gemm->n % panelWidth != 0) {
    return false;
  }
  shape.depth = std::max(shape.depth / gemm->k, int64_t(1)) * gemm->k;
  int target = kernel.allocate({gemm->m + gemmPaddingRows, gemm->n}, f32, loc);
  copyInto({{op.getInitArgs()[gemm->carried], target}});
  int64_t mark = kernel.scratchMark();
  startIteration(op, builder(), nullptr);
  for (Operation &inner : op.getBody()->without_terminator()) {
    if (!isTile(inner.getResult(0))) {
      lowerScalar(inner);
    }
  }
  auto isComputedElsewhere = [&gemm](Operation &source) {
    Value result = source.getResult(0);
    return &source == gemm->dot.getOperation() || &source == gemm->sum || result == gemm->a.tile ||
           result == gemm->b.tile || (gemm->a.load && result == gemm->a.load.getResult()) ||
           (gemm->b.load && result == gemm->b.load.getResult());
  };
  auto copyFor = [&](const GemmOperand &operand, bool isB) -> GemmEmitter::Copy {
    if (operand.load && !operand.needsCheck && operand.lowerMasks.empty()) {
      return {};
    }
    GemmEmitter::Copy copy;
    copy.tile = kernel.allocate(shapeOf(operand.tile), f32, loc);
    bool whole = shape.depth == gemm->k && (!isB || gemm->n == panelWidth);
    copy.joined =
        whole ? copy.tile : kernel.allocate({shape.depth, isB ? gemm->n : gemm->m}, f32, loc);
    Value tile = operand.tile;
    int buffer = copy.tile;
    if (operand.load) {
      copy.compute = [this, op, tile, buffer](OpBuilder &at, Value t) {
        computeByElement(op, tile, buffer, at, t);
      };
      return copy;
    }
    copy.compute = [this, op, tile, buffer, isComputedElsewhere](OpBuilder &at, Value t) mutable {
      int64_t inside = kernel.scratchMark();
      startIteration(op, at, t);
      BlockLowering inner(kernel, at, &scope);
      for (Operation &source : op.getBody()->without_terminator()) {
        if (!isComputedElsewhere(source)) {
          inner.lowerOp(source);
        }
      }
      inner.flush();
      inner.addRoot({Root::Kind::Keep, nullptr, tile, buffer, true});
      inner.flush();
      at = inner.builder();
      kernel.releaseTo(inside);
    };
    return copy;
  };
  GemmEmitter emitter(kernel, op, *gemm, shape, scope);
  emitter.copyOfA = copyFor(gemm->a, false);
  emitter.copyOfB = copyFor(gemm->b, true);
  emitter.emit(target);
  kernel.releaseTo(mark);
  kernel.buffers[op.getResult(gemm->carried)] = target;
  return true;
}

} // namespace nereid::cpu
