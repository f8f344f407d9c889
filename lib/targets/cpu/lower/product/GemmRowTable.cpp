// SPDX-License-Identifier: Apache-2.0
// The table of addresses of a's rows, and which rows the mask leaves out. A convolution fills it
// once for each tap of its window, so that it is computed for a vector of rows at a time where the
// rows' addresses are arithmetic alone.
#include "lib/targets/cpu/lower/elements/FoldingArithmetic.h"
#include "lib/targets/cpu/lower/product/GemmOperands.h"

#include "mlir/Dialect/Vector/IR/VectorOps.h"

using namespace mlir;

namespace nereid::cpu {

/// Entries of a table in a vector.
constexpr int64_t packedEntries = 8;

namespace {
/// Neither memory is read nor divided, materialised tiles apart: vectors of such values take
/// one instruction for each operation. x86 divides vectors of 32-bit numbers (SafeDivision.h).
class PlainArithmetic {
public:
  explicit PlainArithmetic(const KernelState &kernel) : kernel(kernel) {}

  bool holds(Value tile) {
    Operation *op = tile.getDefiningOp();
    bool isLeaf = !isTile(tile) || kernel.buffers.count(tile) || (op && op->getNumOperands() == 0);
    if (isLeaf || !seen.insert(tile).second) {
      return true;
    }
    if (const tile::Induction *induction = kernel.axes.induction(tile)) {
      return holds(induction->initial);
    }
    bool isPlain =
        op && !kernel.plan.isStored(tile) && !isSlowDivision(op) &&
        (isElementwise(op) || isa<tile::SplatOp, tile::ExpandDimsOp, tile::BroadcastOp>(op));
    return isPlain &&
           llvm::all_of(op->getOperands(), [&](Value operand) { return holds(operand); });
  }

private:
  bool isSlowDivision(Operation *op) const {
    const bool isFast = kernel.machine.laneShuffles != LaneShuffles::None &&
                        isa<arith::DivSIOp, arith::RemSIOp>(op) &&
                        elementTypeOf(op->getResult(0)).isInteger(32);
    return !isFast && isa<arith::DivSIOp, arith::DivUIOp, arith::RemSIOp, arith::RemUIOp>(op);
  }

  const KernelState &kernel;
  llvm::SmallPtrSet<Value, 16> seen;
};
} // namespace

/// In front of this, rowPlaces says which rows are chosen: all bits set, or 0. Tables are packed
/// where they lie, since entries only move to the front.
void GemmOperands::listChosenRows() {
  FoldingArithmetic fold(loc);
  const int64_t lanes = kernel.machine.laneShuffles == LaneShuffles::Avx512 ? packedEntries : 1;
  paddingPlaces =
      kernel.bufferAddress(kernel.allocate({gemm.m + packedEntries}, builder.getI64Type(), loc));
  auto each = builder.create<scf::ForOp>(loc, kernel.i64(0), rowEnd, kernel.i64(lanes),
                                         ValueRange{kernel.i64(0)});
  OpBuilder at = OpBuilder::atBlockEnd(each.getBody());
  Value row = each.getInductionVar(), count = each.getRegionIterArgs()[0];
  Value chosen = lanes == 1 ? listRow(at, row, count) : listRows(at, row, count);
  at.create<scf::YieldOp>(loc, fold.add(at, count, chosen));
  paddingRows = fold.sub(builder, rowEnd, each.getResult(0));
  rowEnd = each.getResult(0);
  // Blocks that reach beyond the last row read that row again, and add to a row behind the tile.
  Value last = fold.max(builder, fold.sub(builder, rowEnd, kernel.i64(1)), kernel.i64(0));
  auto overhang = VectorType::get({gemmOverhangRows}, builder.getI64Type());
  auto pad = [&](Value to, Value entry) {
    storeEntry(builder, to, rowEnd, builder.create<vector::BroadcastOp>(loc, overhang, entry));
  };
  pad(gemmKernel.rowTable, loadEntries(builder, gemmKernel.rowTable, last, 1));
  pad(gemmKernel.rowPlaces, kernel.i64(gemm.m * gemm.n));
}

Value GemmOperands::loadEntries(OpBuilder &at, Value table, Value row, int64_t lanes) const {
  Type i64 = at.getI64Type();
  Value entry = at.create<LLVM::GEPOp>(loc, table.getType(), i64, table, ValueRange{row});
  return at.create<LLVM::LoadOp>(loc, lanesOf(i64, static_cast<unsigned>(lanes)), entry, 8);
}

Value GemmOperands::listRow(OpBuilder &at, Value row, Value count) {
  FoldingArithmetic fold(loc);
  Value address = loadEntries(at, gemmKernel.rowTable, row, 1);
  Value isChosen = loadEntries(at, gemmKernel.rowPlaces, row, 1);
  Value place = fold.mul(at, row, kernel.i64(gemm.n));
  storeEntry(at, gemmKernel.rowTable, count, address);
  storeEntry(at, gemmKernel.rowPlaces, count, place);
  storeEntry(at, paddingPlaces, fold.sub(at, row, count), place);
  return fold.sub(at, kernel.i64(0), isChosen);
}

/// The same for eight rows, whose entries are packed in registers.
Value GemmOperands::listRows(OpBuilder &at, Value row, Value count) {
  FoldingArithmetic fold(loc);
  Type i64 = at.getI64Type();
  auto entries = VectorType::get({packedEntries}, i64);
  auto broadcast = [&](Value value) -> Value {
    return at.create<vector::BroadcastOp>(loc, entries, value);
  };
  using Predicate = arith::CmpIPredicate;
  Value isInside =
      at.create<arith::CmpIOp>(loc, Predicate::slt, iota(kernel, i64, packedEntries, 1),
                               broadcast(fold.sub(at, rowEnd, row)));
  Value bits = loadEntries(at, gemmKernel.rowPlaces, row, packedEntries);
  Value isRead = at.create<arith::CmpIOp>(loc, Predicate::ne, bits, kernel.zero(entries));
  Value isChosen = at.create<arith::AndIOp>(loc, isInside, isRead);
  Value isPadding = at.create<arith::XOrIOp>(loc, isInside, isChosen);
  Value places =
      at.create<arith::AddIOp>(loc, iota(kernel, i64, packedEntries, static_cast<int>(gemm.n)),
                               broadcast(fold.mul(at, row, kernel.i64(gemm.n))));
  auto pack = [&](Value values, Value mask) -> Value {
    return at
        .create<LLVM::CallIntrinsicOp>(
            loc, TypeRange{entries}, at.getStringAttr("llvm.x86.avx512.mask.compress.v8i64"),
            ValueRange{values, kernel.zero(entries), mask}, LLVM::FastmathFlagsAttr())
        .getResult(0);
  };
  Value addresses = loadEntries(at, gemmKernel.rowTable, row, packedEntries);
  storeEntry(at, gemmKernel.rowTable, count, pack(addresses, isChosen));
  storeEntry(at, gemmKernel.rowPlaces, count, pack(places, isChosen));
  storeEntry(at, paddingPlaces, fold.sub(at, row, count), pack(places, isPadding));
  Value mask = at.create<LLVM::BitcastOp>(loc, at.getI8Type(), isChosen);
  return at.create<math::CtPopOp>(loc, at.create<arith::ExtUIOp>(loc, i64, mask));
}

bool GemmOperands::hasVectorRows(int64_t lanes) const {
  PlainArithmetic arithmetic(kernel);
  return lanes > 1 && gemm.m % lanes == 0 && arithmetic.holds(gemm.a.pointer()) &&
         llvm::all_of(gemm.a.rowMasks, [&](Value mask) { return arithmetic.holds(mask); });
}

void GemmOperands::fillRowTable(OpBuilder &at, int64_t lanes) {
  FoldingArithmetic fold(loc);
  lanes = hasVectorRows(lanes) ? lanes : 1;
  auto fill = at.create<scf::ForOp>(loc, kernel.i64(0), rowEnd, kernel.i64(lanes));
  Scope outside(OpBuilder(fill), &scope), inside(OpBuilder(fill.getBody()->getTerminator()));
  OpBuilder &body = inside.builder;
  Value row = fill.getInductionVar();
  Evaluator rows(kernel);
  standAt(rows, outside);
  rows.scopes.push_back(&inside);
  rows.dimLevel[outerDim] = 1;
  rows.dimIndex[outerDim] = row;
  if (lanes > 1) {
    rows.laneDim = outerDim;
    rows.width = static_cast<unsigned>(lanes);
    rows.laneBase.assign(1, row);
  }
  Type i64 = body.getI64Type();
  Value address = rows.evaluateAddressBits(gemm.a.pointer(), gemm.a.at(outerDim), 0);
  address = rows.broadcast(body, address, i64);
  storeEntry(body, gemmKernel.rowTable, row, address);
  if (gemmKernel.rowPlaces) {
    Value isRead;
    for (auto [mask, dims] : llvm::zip_equal(gemm.a.rowMasks, gemm.a.rowMaskDims)) {
      isRead = fold.both(body, isRead, rows.evaluateLanes(mask, dims, 0));
    }
    storeEntry(body, gemmKernel.rowPlaces, row,
               body.create<arith::ExtSIOp>(loc, address.getType(), isRead));
    return;
  }
  // Blocks that reach beyond the last row read that row again.
  Value last = fold.max(at, fold.sub(at, rowEnd, kernel.i64(1)), kernel.i64(0));
  Value table = gemmKernel.rowTable;
  Value entry =
      at.create<LLVM::GEPOp>(loc, table.getType(), i64, table, ArrayRef<LLVM::GEPArg>{last});
  Value repeated = at.create<LLVM::LoadOp>(loc, i64, entry, 8);
  auto type = VectorType::get({gemmOverhangRows}, i64);
  storeEntry(at, table, rowEnd, at.create<vector::BroadcastOp>(loc, type, repeated));
}

SmallVector<Value, 4> GemmOperands::columnMasks(OpBuilder &at, Value column,
                                                const GemmShape &shape) const {
  FoldingArithmetic fold(loc);
  SmallVector<Value, 4> masks;
  Scope inside(at, &scope);
  Evaluator columns(kernel);
  standAt(columns, inside);
  columns.laneDim = outerDim;
  columns.width = static_cast<unsigned>(shape.lanes);
  columns.laneBase.clear();
  for (int64_t v = 0; v < shape.vectors; ++v) {
    columns.laneBase.push_back(fold.add(inside.builder, column, kernel.i64(v * shape.lanes)));
  }
  for (int64_t v = 0; v < shape.vectors; ++v) {
    Value chosen;
    for (auto [mask, dims] : llvm::zip_equal(gemm.b.rowMasks, gemm.b.rowMaskDims)) {
      chosen = fold.both(inside.builder, chosen,
                         columns.evaluateLanes(mask, dims, static_cast<unsigned>(v)));
    }
    masks.push_back(chosen);
  }
  at = inside.builder;
  return masks;
}

} // namespace nereid::cpu
