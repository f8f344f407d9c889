// SPDX-License-Identifier: Apache-2.0
// Emits the loop of a matrix product: k in blocks that join several iterations of the source loop,
// columns in panels that stay in the first-level cache, rows in register blocks. a is read where it
// is; the first register block of a panel packs b for all others. What
// cannot be read in place is computed into scratch, iteration by iteration, in the same layouts.
#include "lib/targets/cpu/lower/BlockLowering.h"
#include "lib/targets/cpu/lower/FoldingArithmetic.h"
#include "lib/targets/cpu/lower/GemmOperands.h"
#include "lib/targets/cpu/lower/GemmPack.h"

#include "mlir/Dialect/Vector/IR/VectorOps.h"

using namespace mlir;

namespace nereid::cpu {

/// While b is packed, its rows are asked for this many k before they are needed.
constexpr int64_t rowsAhead = 16;

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
    operands.emit(copyOfA.joined >= 0 ? kernel.bufferAddress(copyOfA.joined) : Value(), shape);
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
    if (operands.columnTable) {
      bOffset = fold.mul(at, t, operands.b.step);
    }
    if (operands.b.maybeInPlace && !gemm.b.transposed) {
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
    Value count = at.create<arith::TruncIOp>(loc, i32, left);
    Value counts = at.create<vector::BroadcastOp>(loc, lanesOf(i32, lanes), count);
    for (int64_t v = 0; v < shape.vectors; ++v) {
      Value numbers = iota(kernel, i32, lanes, 1, v * shape.lanes);
      masks.push_back(at.create<arith::CmpIOp>(loc, arith::CmpIPredicate::slt, numbers, counts));
    }
    return masks;
  }

  /// Row k of the panel from b where it stands.
  SmallVector<Value> packRow(OpBuilder &at, Value from, ArrayRef<Value> masks, int64_t vectors,
                             Value k, Value to) {
    Type type = lanesOf(b.getF32Type(), static_cast<unsigned>(shape.lanes));
    const auto width = static_cast<unsigned>(KernelState::byteSize(b.getF32Type()));
    Value stride = operands.b.stride;
    from = gemmKernel.move(at, from, fold.mul(at, k, stride));
    Value ahead = fold.mul(at, stride, kernel.i64(rowsAhead));
    SmallVector<Value> values;
    for (int64_t v = 0; v < vectors; ++v) {
      Value source = gemmKernel.move(at, from, v * shape.lanes);
      Value row = masks.empty()
                      ? at.create<LLVM::LoadOp>(loc, type, source, width).getResult()
                      : at.create<LLVM::MaskedLoadOp>(loc, type, source, masks[v],
                                                      ValueRange{kernel.zero(type)}, width);
      at.create<LLVM::StoreOp>(loc, row, gemmKernel.move(at, to, v * shape.lanes),
                               static_cast<unsigned>(shape.lanes) * width);
      at.create<LLVM::Prefetch>(loc, gemmKernel.move(at, source, ahead), 0, /*hint=*/3, 1);
      values.push_back(row);
    }
    return values;
  }

  /// The panel element by element, each column from its own address.
  void packColumns(OpBuilder &at, Value column, Value left) {
    auto each = at.create<scf::ForOp>(loc, kernel.i64(0), gemmKernel.depth, kernel.i64(1));
    OpBuilder inRow(each.getBody()->getTerminator());
    Value k = each.getInductionVar();
    Value offset = fold.add(inRow, bOffset, fold.mul(inRow, k, operands.b.stride));
    Value to = gemmKernel.move(inRow, panel, fold.mul(inRow, k, kernel.i64(panelWidth())));
    auto along =
        inRow.create<scf::ForOp>(loc, kernel.i64(0), kernel.i64(panelWidth()), kernel.i64(1));
    OpBuilder inside(along.getBody()->getTerminator());
    Value index = along.getInductionVar();
    auto isValid = inside.create<scf::IfOp>(loc, TypeRange{b.getF32Type()},
                                            fold.isGreater(inside, left, index), true);
    OpBuilder then = isValid.getThenBodyBuilder(), otherwise = isValid.getElseBodyBuilder();
    Value table = operands.columnTable;
    Value entry = then.create<LLVM::GEPOp>(loc, table.getType(), then.getI64Type(), table,
                                           ValueRange{fold.add(then, column, index)});
    Value address = then.create<LLVM::LoadOp>(loc, table.getType(), entry, 8);
    Value element =
        then.create<LLVM::LoadOp>(loc, b.getF32Type(), gemmKernel.move(then, address, offset), 4);
    then.create<scf::YieldOp>(loc, element);
    otherwise.create<scf::YieldOp>(loc, kernel.zero(b.getF32Type()));
    inside.create<LLVM::StoreOp>(loc, isValid.getResult(0), gemmKernel.move(inside, to, index), 4);
  }

  void emitPanel(OpBuilder &at, Value column, Value bBlock, Value bNext) {
    Value left = fold.sub(at, operands.columnEnd, column);
    GemmBlock block;
    block.column = column;
    block.panel = panel;
    block.panelStride = panelWidth();
    if (operands.b.maybeInPlace && gemm.b.transposed) {
      Value columns = at.create<LLVM::GEPOp>(loc, operands.columnTable.getType(), at.getI64Type(),
                                             operands.columnTable, ValueRange{column});
      Value inPlace = operands.b.inPlace;
      OpBuilder inside =
          inPlace ? at.create<scf::IfOp>(loc, inPlace, false).getThenBodyBuilder() : at;
      packTransposedPanel(inside, loc, kernel, shape, columns, bOffset, left, gemmKernel.depth,
                          panel);
    } else if (operands.b.maybeInPlace) {
      // The register block of the first rows packs, unless the panel is packed before.
      Value direct = operands.neighbours;
      const bool isRagged = !fold.known(operands.columnEnd);
      if (isRagged && !kernel.options.hasMaskedMoves) {
        direct = fold.both(at, direct, fold.isGreater(at, left, kernel.i64(panelWidth() - 1)));
      }
      if (direct) {
        Value absent = at.create<arith::XOrIOp>(loc, direct, kernel.constantInt(at.getI1Type(), 1));
        absent = fold.both(at, operands.b.inPlace, absent);
        OpBuilder inside = at.create<scf::IfOp>(loc, absent, false).getThenBodyBuilder();
        packColumns(inside, column, left);
      }
      direct = fold.both(at, operands.b.inPlace, direct);
      block.packs = direct ? direct : kernel.constantInt(at.getI1Type(), 1);
      Value from = gemmKernel.move(at, bBlock, column);
      SmallVector<Value, 4> masks;
      if (isRagged && kernel.options.hasMaskedMoves) {
        masks = panelMasks(at, left);
      }
      block.pack = [this, from, masks, &block](OpBuilder &inside, Value k, Value to) {
        return packRow(inside, from, masks, block.vectors, k, to);
      };
    }
    if (operands.b.maybeCopied()) {
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
    Value isFirst = fold.isGreater(at, kernel.i64(shape.vectors * block.rows), row);
    Value start = fold.mul(at, fold.quotient(at, row, kernel.i64(block.rows)),
                           fold.mul(at, operands.b.stride, kernel.i64(part)));
    start = gemmKernel.move(at, bNext, fold.add(at, start, block.column));
    block.prefetch = fold.select(at, isFirst, start, panel);
    block.prefetchStep = fold.select(at, isFirst, kernel.i64(shape.lanes), kernel.i64(0));
    Value toNextRow =
        fold.sub(at, operands.b.stride, kernel.i64((shape.vectors - 1) * shape.lanes));
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
    const int64_t line = 64 / KernelState::byteSize(b.getF32Type()), lines = 4;
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

/// Where a product's sum is: in place when the loops around it carry the sum on.
int BlockLowering::bufferForSum(scf::ForOp op, Value initial) {
  SmallVector<int64_t> shape(shapeOf(initial));
  shape[0] += gemmPaddingRows;
  auto own = kernel.buffers.find(initial);
  if (own != kernel.buffers.end() && initial.hasOneUse() &&
      initial.getParentBlock() == op->getBlock() &&
      ArrayRef<int64_t>(kernel.buffer(own->second).shape) == ArrayRef<int64_t>(shape)) {
    disown(initial);
    return own->second;
  }
  int target = kernel.allocate(shape, elementTypeOf(initial), op.getLoc());
  copyInto({{initial, target}});
  return target;
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
  int target = bufferForSum(op, op.getInitArgs()[gemm->carried]);
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
    if (operand.load && operand.lowerMasks.empty()) {
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
