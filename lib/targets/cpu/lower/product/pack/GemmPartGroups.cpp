// SPDX-License-Identifier: Apache-2.0
// Element by element: it happens in the last block of k only.
#include "lib/targets/cpu/lower/product/pack/GemmPartGroups.h"
#include "lib/targets/cpu/lower/elements/FoldingArithmetic.h"

using namespace mlir;

namespace nereid::cpu {

void completeGroups(KernelState &kernel, OpBuilder &at, Location loc, const GemmLoop &gemm,
                    const GemmShape &shape, GemmKernel &gemmKernel, const GemmOperands &operands) {
  if (!operands.hasInnerBounds()) {
    return;
  }
  FoldingArithmetic fold(loc);
  const GemmTypes &types = gemmKernel.types;
  Value rest = at.create<arith::AndIOp>(loc, gemmKernel.depth, kernel.i64(types.packFactor - 1));
  // Without rows there is nothing to read, nor an entry of the table that says where.
  Value isPart = fold.both(at, fold.isGreater(at, rest, kernel.i64(0)),
                           fold.isGreater(at, operands.rowEnd, kernel.i64(0)));
  const int64_t rows = gemm.m + gemmOverhangRows;
  Value copies = kernel.bufferAddress(kernel.allocate({rows, shape.deepest}, types.operand, loc));
  Value table =
      kernel.bufferAddress(kernel.allocate({gemm.m + overhangAddresses}, at.getI64Type(), loc));
  OpBuilder then = at.create<scf::IfOp>(loc, isPart, false).getThenBodyBuilder();
  Value end = fold.add(then, operands.rowEnd, kernel.i64(gemmOverhangRows));
  auto each = then.create<scf::ForOp>(loc, kernel.i64(0), end, kernel.i64(1));
  OpBuilder inRow(each.getBody()->getTerminator());
  Value row = each.getInductionVar();
  Value from = gemmKernel.loadRow(inRow, row);
  Value to = gemmKernel.move(inRow, copies, fold.mul(inRow, row, kernel.i64(shape.deepest)));
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

} // namespace nereid::cpu
