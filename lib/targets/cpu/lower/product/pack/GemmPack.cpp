// SPDX-License-Identifier: Apache-2.0
// Square blocks are transposed in registers; rows that lie side by side are only copied.
#include "lib/targets/cpu/lower/product/pack/GemmPack.h"
#include "lib/targets/cpu/lower/elements/Evaluator.h"
#include "lib/targets/cpu/lower/elements/FoldingArithmetic.h"
#include "lib/targets/cpu/lower/nest/TransposeBlock.h"

#include "mlir/Dialect/Vector/IR/VectorOps.h"

using namespace mlir;

namespace nereid::cpu {

/// Lane i is true when i < count.
static Value firstLanes(OpBuilder &at, Location loc, KernelState &kernel, int64_t lanes,
                        Value count) {
  Type i32 = at.getI32Type();
  auto width = static_cast<unsigned>(lanes);
  Value counts = at.create<vector::BroadcastOp>(loc, lanesOf(i32, width),
                                                at.create<arith::TruncIOp>(loc, i32, count));
  return at.create<arith::CmpIOp>(loc, arith::CmpIPredicate::slt, iota(kernel, i32, width, 1),
                                  counts);
}

static Value move(OpBuilder &at, Location loc, Type element, Value address, Value elements) {
  return at.create<LLVM::GEPOp>(loc, address.getType(), element, address, ValueRange{elements});
}

void packTransposedPanel(OpBuilder &builder, Location loc, KernelState &kernel,
                         const GemmShape &shape, const GemmTypes &types, Value columns,
                         Value offset, Value left, Value depth, Value panel) {
  FoldingArithmetic fold(loc);
  const int64_t lanes = shape.lanes, width = shape.vectors * lanes;
  const int64_t numbers = lanes * types.packFactor; // of one column in a vector
  Type vector = lanesOf(types.lane, static_cast<unsigned>(lanes));
  Type loaded = lanesOf(types.operand, static_cast<unsigned>(numbers));
  const auto align = static_cast<unsigned>(KernelState::byteSize(types.operand));
  auto each = builder.create<scf::ForOp>(loc, kernel.i64(0), kernel.i64(width), kernel.i64(lanes));
  OpBuilder at(each.getBody()->getTerminator());
  Value column = each.getInductionVar();
  Value valid = firstLanes(at, loc, kernel, lanes, fold.sub(at, left, column));
  SmallVector<Value> sources;
  for (int64_t i = 0; i < lanes; ++i) {
    Value first = at.create<LLVM::GEPOp>(loc, columns.getType(), at.getI64Type(), columns,
                                         ValueRange{column});
    Value slot = at.create<LLVM::GEPOp>(loc, columns.getType(), at.getI64Type(), first,
                                        ArrayRef<LLVM::GEPArg>{static_cast<int32_t>(i)});
    Value source = at.create<LLVM::LoadOp>(loc, columns.getType(), slot, 8);
    sources.push_back(move(at, loc, types.operand, source, offset));
  }
  auto along = at.create<scf::ForOp>(loc, kernel.i64(0), depth, kernel.i64(numbers));
  OpBuilder inside(along.getBody()->getTerminator());
  Value k = along.getInductionVar();
  Value wanted = firstLanes(inside, loc, kernel, numbers, fold.sub(inside, depth, k));
  Value none = kernel.zero(vector);
  SmallVector<Value> block;
  for (Value source : sources) {
    Value row =
        inside.create<LLVM::MaskedLoadOp>(loc, loaded, move(inside, loc, types.operand, source, k),
                                          wanted, ValueRange{kernel.zero(loaded)}, align);
    block.push_back(types.packFactor == 1 ? row : inside.create<LLVM::BitcastOp>(loc, vector, row));
  }
  transposeBlock(inside, loc, block, kernel.machine.laneShuffles == LaneShuffles::Avx512);
  Value first = fold.mul(inside, k, kernel.i64(width / types.packFactor));
  Value target = fold.add(inside, first, column);
  for (int64_t i = 0; i < lanes; ++i) {
    Value to =
        move(inside, loc, types.lane, panel, fold.add(inside, target, kernel.i64(i * width)));
    Value row = inside.create<arith::SelectOp>(loc, valid, block[i], none);
    inside.create<LLVM::StoreOp>(loc, row, to, static_cast<unsigned>(lanes) * 4);
  }
}

void packRowsSideBySide(OpBuilder &builder, Location loc, KernelState &kernel,
                        const GemmShape &shape, Value from, Value stride, Value rows,
                        int64_t allRows, Value depth, Value copy) {
  FoldingArithmetic fold(loc);
  Type f32 = builder.getF32Type();
  Type vector = lanesOf(f32, static_cast<unsigned>(shape.lanes));
  auto each = builder.create<scf::ForOp>(loc, kernel.i64(0), depth, kernel.i64(1));
  OpBuilder at(each.getBody()->getTerminator());
  Value source = move(at, loc, f32, from, fold.mul(at, each.getInductionVar(), stride));
  Value target =
      move(at, loc, f32, copy, fold.mul(at, each.getInductionVar(), kernel.i64(allRows)));
  auto along = at.create<scf::ForOp>(loc, kernel.i64(0), rows, kernel.i64(shape.lanes));
  OpBuilder inside(along.getBody()->getTerminator());
  Value row = along.getInductionVar();
  Value wanted = firstLanes(inside, loc, kernel, shape.lanes, fold.sub(inside, rows, row));
  Value value = inside.create<LLVM::MaskedLoadOp>(loc, vector, move(inside, loc, f32, source, row),
                                                  wanted, ValueRange{kernel.zero(vector)}, 4);
  inside.create<LLVM::StoreOp>(loc, value, move(inside, loc, f32, target, row), 4);
}

} // namespace nereid::cpu
