// SPDX-License-Identifier: Apache-2.0
// The table of addresses of a's rows, and which rows the mask leaves out. A convolution fills it
// once for each tap of its window, so that it is computed for a vector of rows at a time where the
// rows' addresses are arithmetic alone.
#include "lib/targets/cpu/lower/FoldingArithmetic.h"
#include "lib/targets/cpu/lower/GemmOperands.h"

#include "mlir/Dialect/Vector/IR/VectorOps.h"

using namespace mlir;

namespace nereid::cpu {

namespace {
/// Neither memory is read nor divided, what is kept in scratch apart: vectors of such values take
/// one instruction for each operation.
class PlainArithmetic {
public:
  explicit PlainArithmetic(const KernelState &kernel) : kernel(kernel) {}

  bool holds(Value tile) {
    Operation *op = tile.getDefiningOp();
    bool isLeaf = !isTile(tile) || kernel.buffers.count(tile) || (op && op->getNumOperands() == 0);
    if (isLeaf || !seen.insert(tile).second) {
      return true;
    }
    if (const Induction *induction = kernel.axes.induction(tile)) {
      return holds(induction->initial);
    }
    bool isPlain =
        op && !kernel.plan.isStored(tile) &&
        !isa<arith::DivSIOp, arith::DivUIOp, arith::RemSIOp, arith::RemUIOp>(op) &&
        (isElementwise(op) || isa<tile::SplatOp, tile::ExpandDimsOp, tile::BroadcastOp>(op));
    return isPlain &&
           llvm::all_of(op->getOperands(), [&](Value operand) { return holds(operand); });
  }

private:
  const KernelState &kernel;
  llvm::SmallPtrSet<Value, 16> seen;
};
} // namespace

void GemmOperands::prepareRowMasks(int64_t depth, int64_t lanes) {
  Type operand = gemmKernel.types.operand;
  zeros = kernel.bufferAddress(kernel.allocate({depth}, operand, loc));
  lanes = depth % lanes == 0 ? lanes : 1;
  Value zero = kernel.zero(lanesOf(operand, static_cast<unsigned>(lanes)));
  auto clear = builder.create<scf::ForOp>(loc, kernel.i64(0), kernel.i64(depth), kernel.i64(lanes));
  OpBuilder inside(clear.getBody()->getTerminator());
  inside.create<LLVM::StoreOp>(loc, zero, gemmKernel.move(inside, zeros, clear.getInductionVar()),
                               static_cast<unsigned>(KernelState::byteSize(operand)));
  int moves = kernel.allocate({gemm.m + paddingAddresses}, builder.getI64Type(), loc);
  gemmKernel.rowMoves = kernel.bufferAddress(moves);
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
  if (zeros) {
    Value isRead;
    for (auto [mask, dims] : llvm::zip_equal(gemm.a.rowMasks, gemm.a.rowMaskDims)) {
      isRead = fold.both(body, isRead, rows.evaluateLanes(mask, dims, 0));
    }
    Value none = body.create<LLVM::PtrToIntOp>(loc, i64, zeros);
    none = rows.broadcast(body, none, i64);
    address = body.create<arith::SelectOp>(loc, isRead, address, none);
    storeEntry(body, gemmKernel.rowMoves, row,
               body.create<arith::ExtSIOp>(loc, address.getType(), isRead));
  }
  storeEntry(body, gemmKernel.rowTable, row, address);
  // Blocks that reach beyond the last row read that row again.
  Value last = fold.max(at, fold.sub(at, rowEnd, kernel.i64(1)), kernel.i64(0));
  for (Value table : {gemmKernel.rowTable, gemmKernel.rowMoves}) {
    if (!table) {
      continue;
    }
    Value entry =
        at.create<LLVM::GEPOp>(loc, table.getType(), i64, table, ArrayRef<LLVM::GEPArg>{last});
    Value repeated = at.create<LLVM::LoadOp>(loc, i64, entry, 8);
    auto type = VectorType::get({gemmPaddingRows}, i64);
    storeEntry(at, table, rowEnd, at.create<vector::BroadcastOp>(loc, type, repeated));
  }
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
