// SPDX-License-Identifier: Apache-2.0
// The code in front of a matrix product's loop; everything is evaluated for its first iteration.
#include "lib/targets/cpu/lower/product/GemmOperands.h"
#include "lib/targets/cpu/lower/Recognisers.h"
#include "lib/targets/cpu/lower/elements/FoldingArithmetic.h"

using namespace mlir;

namespace nereid::cpu {

GemmTypes gemmTypesFor(const GemmLoop &gemm, MLIRContext *context) {
  Type f32 = Float32Type::get(context), i32 = IntegerType::get(context, 32);
  if (gemm.packFactor == 1) {
    return {f32, f32, f32, 1};
  }
  return {IntegerType::get(context, static_cast<unsigned>(32 / gemm.packFactor)), i32,
          gemm.packFactor == 2 ? f32 : i32, gemm.packFactor};
}

GemmOperands::GemmOperands(KernelState &kernel, scf::ForOp loop, const GemmLoop &gemm, Scope &scope,
                           GemmKernel &gemmKernel)
    : kernel(kernel), gemm(gemm), gemmKernel(gemmKernel), steps(kernel, loop), loc(loop.getLoc()),
      builder(scope.builder), scope(scope), first(scope.builder, &scope), evaluator(kernel) {
  standAt(evaluator, first);
}

void GemmOperands::standAt(Evaluator &e, Scope &at) const {
  e.scopes.push_back(&at);
  e.dimLevel.assign(2, 0);
  e.dimIndex.assign(2, kernel.i64(0));
  e.laneBase.assign(1, kernel.i64(0));
}

Value GemmOperands::wide(Value value) {
  return value.getType().isInteger(64)
             ? value
             : builder.createOrFold<arith::ExtSIOp>(loc, builder.getI64Type(), value);
}

/// limit - offset of the first iteration, without wrap-around.
Value GemmOperands::distance(const PrefixTerm &term) {
  Dims zero(term.dims.size(), zeroDim);
  Value limit = evaluator.evaluate(term.limit, zero, 0);
  Value offset = evaluator.evaluate(term.linear, zero, 0);
  Value &known =
      distances[{offset.getAsOpaquePointer(), limit.getAsOpaquePointer(), term.inclusive}];
  if (known) {
    return known;
  }
  Type i64 = builder.getI64Type();
  if (!limit.getType().isInteger(64)) {
    known = builder.createOrFold<arith::SubIOp>(loc, wide(limit), wide(offset));
    if (term.inclusive) {
      known = builder.createOrFold<arith::AddIOp>(loc, known, kernel.i64(1));
    }
    return known;
  }
  known = builder.create<LLVM::SSubSat>(loc, i64, limit, offset);
  if (term.inclusive) {
    known = builder.create<LLVM::SAddSat>(loc, i64, known, kernel.i64(1));
  }
  return known;
}

/// How many elements the term holds for, not counting the tile's end.
Value GemmOperands::elements(const PrefixTerm &term) {
  Value left = distance(term);
  Value &known = counts[left.getAsOpaquePointer()];
  known = known ? known : FoldingArithmetic(loc).max(builder, left, kernel.i64(0));
  return known;
}

Value GemmOperands::outerEnd(const GemmOperand &operand, int64_t size) {
  FoldingArithmetic fold(loc);
  Value end = kernel.i64(size);
  for (const PrefixTerm &term : operand.outerMasks) {
    end = fold.min(builder, end, elements(term));
  }
  for (Value condition : operand.conditions) {
    Value holds = isTile(condition)
                      ? evaluator.evaluate(condition, Dims(shapeOf(condition).size(), zeroDim), 0)
                      : kernel.scalar(condition);
    end = fold.select(builder, holds, end, kernel.i64(0));
  }
  return end;
}

/// Where the last row or column ends that a store of the result looks at.
Value GemmOperands::demandedEnd(bool rows, int64_t size) {
  FoldingArithmetic fold(loc);
  Value end;
  for (const DemandedPart &part : gemm.demanded) {
    Value own = kernel.i64(size);
    for (const PrefixTerm &term : rows ? part.rows : part.columns) {
      own = fold.min(builder, own, elements(term));
    }
    end = end ? fold.max(builder, end, own) : own;
  }
  return end ? end : kernel.i64(size);
}

Value GemmOperands::hasRowsBehind(OpBuilder &at) {
  FoldingArithmetic fold(loc);
  ArrayRef<PrefixTerm> terms = gemm.a.outerMasks;
  if (terms.empty() && gemm.demanded.size() == 1) {
    terms = gemm.demanded[0].rows;
  }
  Value result;
  for (const PrefixTerm &term : terms) {
    result = fold.both(at, result, fold.isGreater(at, elements(term), kernel.i64(gemm.m)));
  }
  return result;
}

Value GemmOperands::corner(const GemmOperand &operand) {
  return evaluator.evaluate(operand.pointer(), Dims(operand.dims.size(), zeroDim), 0);
}

/// No lower bound of the mask cuts anything off, in no iteration; null = there is none.
Value GemmOperands::startsInside(const GemmOperand &operand) {
  FoldingArithmetic fold(loc);
  Value result;
  for (const PrefixTerm &term : operand.lowerMasks) {
    Value left = distance(term); // above zero: elements are missing
    Value change = fold.sub(builder, steps.emit(term.linear, evaluator, builder),
                            steps.emit(term.limit, evaluator, builder));
    Value inside = fold.isGreater(builder, kernel.i64(1), left);
    Value stays = fold.isGreater(builder, change, kernel.i64(-1));
    result = fold.both(builder, result, fold.both(builder, inside, stays));
  }
  return result;
}

void GemmOperands::follow(const GemmOperand &operand, OperandPlace &place) {
  FoldingArithmetic fold(loc);
  place.maybeInPlace = true;
  Dims zero(operand.dims.size(), zeroDim);
  place.step = steps.emit(operand.pointer(), evaluator, builder);
  place.stride = evaluator.strideOf(operand.pointer(), operand.position(innerDim), zero);
  Value consecutive =
      fold.isEqual(builder, place.step, fold.mul(builder, place.stride, kernel.i64(gemm.k)));
  joins = fold.both(builder, joins, consecutive);
  for (const PrefixTerm &term : operand.innerMasks) {
    Value change = fold.sub(builder, steps.emit(term.limit, evaluator, builder),
                            steps.emit(term.linear, evaluator, builder));
    innerBounds.push_back({distance(term), change});
    joins = fold.both(builder, joins, fold.isEqual(builder, change, kernel.i64(-gemm.k)));
  }
  place.inPlace = startsInside(operand);
}

void GemmOperands::emit(Value copyOfA, const GemmShape &shape) {
  const int64_t depth = shape.deepest, lanes = shape.lanes, panelWidth = shape.vectors * lanes;
  // A vector of addresses takes less code than one of 32-bit offsets; convolutions fill many
  // tables.
  const int64_t addresses = gemm.a.rowMasks.empty() ? std::max<int64_t>(lanes / 2, 1) : lanes;
  FoldingArithmetic fold(loc);
  joins = kernel.constantInt(builder.getI1Type(), 1);
  rowEnd = demandedRows = demandedEnd(true, gemm.m);
  const Value demandedColumns = columnEnd = demandedEnd(false, gemm.n);
  if (gemm.a.load) {
    rowEnd = fold.min(builder, rowEnd, outerEnd(gemm.a, gemm.m));
    follow(gemm.a, a);
  }
  if (gemm.b.load) {
    columnEnd = fold.min(builder, columnEnd, outerEnd(gemm.b, gemm.n));
    follow(gemm.b, b);
    bFirst = corner(gemm.b);
    if (gemm.b.needsCheck) {
      neighbours = checkNeighbours();
    }
  }
  hasAllColumns = columnEnd == demandedColumns;
  // A constant end may stand inside of a panel, as one behind a limit that the text names does.
  std::optional<int64_t> knownEnd = fold.known(columnEnd);
  isRagged = !knownEnd || (*knownEnd != gemm.n && *knownEnd % panelWidth != 0);
  int table = kernel.allocate({gemm.m + overhangAddresses}, builder.getI64Type(), loc);
  gemmKernel.rowTable = kernel.bufferAddress(table);
  if (tally(Recogniser::GemmRowList, !gemm.a.rowMasks.empty() && a.maybeInPlace)) {
    int places = kernel.allocate({gemm.m + overhangAddresses}, builder.getI64Type(), loc);
    gemmKernel.rowPlaces = kernel.bufferAddress(places);
  }
  if (a.maybeInPlace && !a.inPlace && gemm.a.transposed && gemm.a.rowMasks.empty()) {
    // Read in place, each element would come from a cache line of its own.
    aFirst = corner(gemm.a);
    packedStride = gemm.m + gemmOverhangRows;
    packedStride += (lanes - packedStride % lanes) % lanes;
    int packed = kernel.allocate({depth, packedStride}, builder.getF32Type(), loc);
    packedRows = kernel.bufferAddress(packed);
    fillTableOfCopies(builder, packedRows, 1);
  } else if (a.maybeInPlace && a.inPlace) {
    auto branch = builder.create<scf::IfOp>(loc, a.inPlace, true);
    OpBuilder then = branch.getThenBodyBuilder(), otherwise = branch.getElseBodyBuilder();
    fillRowTable(then, addresses);
    fillTableOfCopies(otherwise, copyOfA, depth);
  } else if (a.maybeInPlace) {
    fillRowTable(builder, addresses);
  } else {
    fillTableOfCopies(builder, copyOfA, depth);
  }
  const Value allRows = rowEnd; // those that a list leaves out are multiplied by zero
  if (gemmKernel.rowPlaces) {
    listChosenRows();
  }
  if (b.maybeInPlace && gemm.b.transposed) {
    fillColumnTable(nullptr);
  } else if (b.maybeInPlace) {
    Value all = neighbours;
    if (!kernel.machine.hasMaskedMoves && isRagged) {
      // Masks cost a branch per element here: panels that are not whole go by the table.
      Value rest = builder.create<arith::RemUIOp>(loc, columnEnd, kernel.i64(panelWidth));
      all = fold.both(builder, all, fold.isEqual(builder, rest, kernel.i64(0)));
    }
    if (all) {
      fillColumnTable(
          builder.create<arith::XOrIOp>(loc, all, kernel.constantInt(builder.getI1Type(), 1)));
    }
  }
  panelEnd = columnEnd;
  if (!fold.known(allRows)) { // without rows there is nothing to read
    Value none = fold.isEqual(builder, allRows, kernel.i64(0));
    panelEnd = fold.select(builder, none, kernel.i64(0), columnEnd);
  }
}

Value GemmOperands::depthOf(OpBuilder &at, Value t, Value count) const {
  FoldingArithmetic fold(loc);
  Value depth = fold.mul(at, count, kernel.i64(gemm.k));
  for (const InnerBound &bound : innerBounds) {
    Value left = fold.add(at, bound.first, fold.mul(at, t, bound.step));
    depth = fold.min(at, depth, fold.max(at, left, kernel.i64(0)));
  }
  return depth;
}

void GemmOperands::addInnerBounds(SmallVectorImpl<Value> &values) const {
  for (const InnerBound &bound : innerBounds) {
    values.append({bound.first, bound.step});
  }
}

/// The valid columns of b lie side by side in memory.
Value GemmOperands::checkNeighbours() {
  FoldingArithmetic fold(loc);
  Scope fresh(builder, &scope);
  Evaluator last(kernel);
  standAt(last, fresh);
  Value column = fold.sub(builder, columnEnd, kernel.i64(1));
  last.dimIndex[outerDim] = column;
  Value end = last.evaluate(gemm.b.pointer(), gemm.b.at(outerDim), 0);
  auto bits = [&](Value address) -> Value {
    return builder.create<LLVM::PtrToIntOp>(loc, builder.getI64Type(), address);
  };
  Value bytes =
      fold.mul(builder, column, kernel.i64(KernelState::byteSize(gemmKernel.types.operand)));
  return fold.isEqual(builder, fold.sub(builder, bits(end), bits(bFirst)), bytes);
}

void GemmOperands::storeEntry(OpBuilder &at, Value table, Value row, Value entry) {
  Value slot =
      at.create<LLVM::GEPOp>(loc, table.getType(), at.getI64Type(), table, ValueRange{row});
  at.create<LLVM::StoreOp>(loc, entry, slot, 8);
}

void GemmOperands::storeAddress(OpBuilder &at, Value row, Value address) {
  storeEntry(at, gemmKernel.rowTable, row, address);
}

void GemmOperands::fillColumnTable(Value missing) {
  columnTable = kernel.bufferAddress(kernel.allocate({gemm.n}, builder.getI64Type(), loc));
  OpBuilder at = builder;
  if (missing) {
    at = builder.create<scf::IfOp>(loc, missing, false).getThenBodyBuilder();
  }
  auto fill = at.create<scf::ForOp>(loc, kernel.i64(0), columnEnd, kernel.i64(1));
  Scope outside(OpBuilder(fill), &scope), inside(OpBuilder(fill.getBody()->getTerminator()));
  Evaluator columns(kernel);
  standAt(columns, outside);
  columns.scopes.push_back(&inside);
  columns.dimLevel[outerDim] = 1;
  columns.dimIndex[outerDim] = fill.getInductionVar();
  Value address = columns.evaluate(gemm.b.pointer(), gemm.b.at(outerDim), 0);
  storeEntry(inside.builder, columnTable, fill.getInductionVar(), address);
  if (!gemm.b.transposed) {
    return;
  }
  // Whole blocks of columns are read: those that are not looked at are some column that can be.
  auto pad = at.create<scf::ForOp>(loc, columnEnd, kernel.i64(gemm.n), kernel.i64(1));
  OpBuilder body(pad.getBody()->getTerminator());
  storeEntry(body, columnTable, pad.getInductionVar(), bFirst);
}

void GemmOperands::fillTableOfCopies(OpBuilder &at, Value copyOfA, int64_t depth) {
  FoldingArithmetic fold(loc);
  auto fill = at.create<scf::ForOp>(loc, kernel.i64(0), kernel.i64(gemm.m + gemmOverhangRows),
                                    kernel.i64(1));
  OpBuilder inside(fill.getBody()->getTerminator());
  Value row = fold.min(inside, fill.getInductionVar(), kernel.i64(gemm.m - 1));
  storeAddress(inside, fill.getInductionVar(),
               gemmKernel.move(inside, copyOfA, fold.mul(inside, row, kernel.i64(depth))));
  if (gemmKernel.rowPlaces) { // what is masked is zero in the copies
    storeEntry(inside, gemmKernel.rowPlaces, fill.getInductionVar(), kernel.i64(-1));
  }
}

} // namespace nereid::cpu
