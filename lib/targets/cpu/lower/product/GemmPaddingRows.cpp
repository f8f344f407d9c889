// SPDX-License-Identifier: Apache-2.0
// Seldom taken, so that it is made of little code: one pass over the panel, one over the rows.
#include "lib/targets/cpu/lower/product/GemmPaddingRows.h"
#include "lib/targets/cpu/lower/elements/Evaluator.h"
#include "lib/targets/cpu/lower/elements/FoldingArithmetic.h"

#include "mlir/Dialect/Vector/IR/VectorOps.h"

using namespace mlir;

namespace nereid::cpu {

namespace {
class PaddingRows {
public:
  PaddingRows(KernelState &kernel, Location loc, const GemmShape &shape,
              const GemmKernel &gemmKernel, const GemmOperands &operands, const GemmBlock &block)
      : kernel(kernel), loc(loc), shape(shape), gemmKernel(gemmKernel), operands(operands),
        block(block), fold(loc), types(gemmKernel.types),
        lanes(lanesOf(types.lane, static_cast<unsigned>(shape.lanes))),
        sums(lanesOf(types.sum, static_cast<unsigned>(shape.lanes))) {}

  void emit(OpBuilder &at) const {
    Value isMissing = fold.isGreater(at, operands.paddingRows, kernel.i64(0));
    Value isAlone = fold.isEqual(at, operands.rowEnd, kernel.i64(0));
    Value isSuspect = at.create<arith::OrIOp>(loc, isAlone, tellsNonFinite(at));
    Value needed = fold.both(at, isMissing, isSuspect);
    OpBuilder then = at.create<scf::IfOp>(loc, needed, false).getThenBodyBuilder();
    addToRows(then, zeroTimesPanel(then));
  }

private:
  /// Some sum of the first row in the list is infinite or NaN.
  Value tellsNonFinite(OpBuilder &at) const {
    Value row = sumsOf(at, gemmKernel.rowPlaces, kernel.i64(0));
    Value zero = kernel.zero(sums), all = zero;
    for (int64_t v = 0; v < shape.vectors; ++v) {
      Value part = at.create<LLVM::LoadOp>(loc, sums,
                                           gemmKernel.move(at, types.sum, row, v * shape.lanes), 4);
      all = at.create<arith::AddFOp>(loc, all, at.create<arith::MulFOp>(loc, part, zero));
    }
    Value isNaN = at.create<arith::CmpFOp>(loc, arith::CmpFPredicate::UNO, all, all);
    return at.create<vector::ReductionOp>(loc, vector::CombiningKind::OR, isNaN);
  }

  Value sumsOf(OpBuilder &at, Value places, Value row) const {
    Value place = gemmKernel.loadEntry(at, places, at.getI64Type(), row, 0);
    return gemmKernel.move(at, types.sum,
                           gemmKernel.move(at, types.sum, gemmKernel.c, block.column), place);
  }

  /// Vectors of b of one group of k: from the panel, or from where it is packed from.
  SmallVector<Value> panelVectors(OpBuilder &at, Value number) const {
    Value offset = fold.mul(at, number, kernel.i64(block.panelStride));
    Value address = gemmKernel.move(at, types.lane, block.panel, offset);
    if (!block.packs) {
      return gemmKernel.readPanel(at, address, shape.vectors);
    }
    SmallVector<Type> results(shape.vectors, lanes);
    auto branch = at.create<scf::IfOp>(loc, results, block.packs, true);
    OpBuilder then = branch.getThenBodyBuilder(), otherwise = branch.getElseBodyBuilder();
    then.create<scf::YieldOp>(loc, block.pack(then, number, address, shape.vectors));
    otherwise.create<scf::YieldOp>(loc, gemmKernel.readPanel(otherwise, address, shape.vectors));
    return branch.getResults();
  }

  SmallVector<Value> zeroTimesPanel(OpBuilder &at) const {
    SmallVector<Value> initial(shape.vectors, kernel.zero(sums));
    auto each =
        at.create<scf::ForOp>(loc, kernel.i64(0), gemmKernel.groups(at), kernel.i64(1), initial);
    OpBuilder inside = OpBuilder::atBlockEnd(each.getBody());
    SmallVector<Value> next, columns = panelVectors(inside, each.getInductionVar());
    for (auto [column, sum] : llvm::zip_equal(columns, each.getRegionIterArgs())) {
      next.push_back(gemmKernel.multiplyAdd(inside, kernel.zero(lanes), column, sum));
    }
    inside.create<scf::YieldOp>(loc, next);
    return each.getResults();
  }

  void addToRows(OpBuilder &at, ArrayRef<Value> addends) const {
    auto each = at.create<scf::ForOp>(loc, kernel.i64(0), operands.paddingRows, kernel.i64(1));
    OpBuilder inside(each.getBody()->getTerminator());
    Value row = sumsOf(inside, operands.paddingPlaces, each.getInductionVar());
    for (auto [v, addend] : llvm::enumerate(addends)) {
      Value place = gemmKernel.move(inside, types.sum, row, static_cast<int64_t>(v) * shape.lanes);
      Value sum = inside.create<LLVM::LoadOp>(loc, sums, place, 4);
      inside.create<LLVM::StoreOp>(loc, inside.create<arith::AddFOp>(loc, sum, addend), place, 4);
    }
  }

  KernelState &kernel;
  Location loc;
  const GemmShape &shape;
  const GemmKernel &gemmKernel;
  const GemmOperands &operands;
  const GemmBlock &block;
  FoldingArithmetic fold;
  const GemmTypes &types;
  Type lanes, sums;
};
} // namespace

void emitPaddingRows(KernelState &kernel, OpBuilder &at, Location loc, const GemmShape &shape,
                     const GemmKernel &gemmKernel, const GemmOperands &operands,
                     const GemmBlock &block) {
  if (!gemmKernel.rowPlaces || !isa<FloatType>(gemmKernel.types.sum)) {
    return; // zero times an integer is zero
  }
  PaddingRows(kernel, loc, shape, gemmKernel, operands, block).emit(at);
}

} // namespace nereid::cpu
