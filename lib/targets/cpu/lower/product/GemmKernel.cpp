// SPDX-License-Identifier: Apache-2.0
// The register block. Order inside the loop: all vectors of b, then per row of a one broadcast and
// its multiply-adds; the other way round the compiler keeps every broadcast alive. Packing is a
// branch inside the same loop: a block of its own would double the time to compile.
#include "lib/targets/cpu/lower/product/GemmKernel.h"
#include "lib/targets/cpu/MachineSizes.h"
#include "lib/targets/cpu/Prefetch.h"
#include "lib/targets/cpu/lower/elements/Evaluator.h"
#include "lib/targets/cpu/lower/elements/FoldingArithmetic.h"

#include "mlir/Dialect/Vector/IR/VectorOps.h"

using namespace mlir;

namespace nereid::cpu {

int64_t GemmShape::rowsFor(int64_t width) const {
  if (manyRegisters) {
    return width == 4 ? 4 : 8; // 16 accumulators: two multiply-adds of four cycles need eight
  }
  return width == 2 ? 6 : 8; // 12 of 16 registers
}

GemmShape gemmShapeFor(const Machine &machine, int64_t elementBytes, int64_t columns) {
  GemmShape shape;
  shape.lanes = machine.vectorBytes / elementBytes;
  shape.manyRegisters = machine.vectorRegisters >= 32;
  shape.vectors = shape.manyRegisters ? 4 : 2;
  while (shape.vectors > 1 && columns % (shape.vectors * shape.lanes) != 0) {
    shape.vectors /= 2;
  }
  int64_t rowBytes = shape.vectors * machine.vectorBytes;
  shape.depth = std::clamp<int64_t>(sizes::panelBytes(machine) / rowBytes, 64, 256);
  return shape;
}

Value GemmKernel::move(OpBuilder &builder, Type element, Value address, Value elements) const {
  return builder.create<LLVM::GEPOp>(loc, address.getType(), element, address,
                                     ValueRange{elements});
}

Value GemmKernel::move(OpBuilder &builder, Type element, Value address, int64_t elements) const {
  return elements == 0
             ? address
             : builder
                   .create<LLVM::GEPOp>(loc, address.getType(), element, address,
                                        ArrayRef<LLVM::GEPArg>{static_cast<int32_t>(elements)})
                   .getResult();
}

Value GemmKernel::move(OpBuilder &builder, Value address, Value elements) const {
  return move(builder, types.operand, address, elements);
}

Value GemmKernel::move(OpBuilder &builder, Value address, int64_t elements) const {
  return move(builder, types.operand, address, elements);
}

Value GemmKernel::loadRow(OpBuilder &builder, Value row, int64_t add) const {
  Value address = loadEntry(builder, rowTable, rowTable.getType(), row, add);
  return move(builder, address, aOffset);
}

Value GemmKernel::loadEntry(OpBuilder &builder, Value table, Type type, Value row,
                            int64_t add) const {
  Type i64 = builder.getI64Type();
  Value entry = builder.create<LLVM::GEPOp>(loc, table.getType(), i64, table, ValueRange{row});
  return builder.create<LLVM::LoadOp>(loc, type, move(builder, i64, entry, add), 8);
}

void GemmKernel::fillWithZeros(OpBuilder &builder, Value to, int64_t count) const {
  const int64_t step = shape.vectors * shape.lanes;
  auto each = builder.create<scf::ForOp>(loc, kernel.i64(0), kernel.i64(count), kernel.i64(step));
  OpBuilder inside(each.getBody()->getTerminator());
  Value zero = kernel.zero(lanesOf(types.sum, static_cast<unsigned>(shape.lanes)));
  Value row = move(inside, types.sum, to, each.getInductionVar());
  for (int64_t v = 0; v < shape.vectors; ++v) {
    inside.create<LLVM::StoreOp>(loc, zero, move(inside, types.sum, row, v * shape.lanes), 4);
  }
}

void GemmKernel::copyRows(OpBuilder &at, Type element, Value from, int64_t fromStride, Value to,
                          int64_t toStride, int64_t rows, int64_t width) const {
  FoldingArithmetic fold(loc);
  int64_t lanes = shape.lanes;
  while (width % lanes != 0) {
    lanes /= 2;
  }
  auto eachRow = at.create<scf::ForOp>(loc, kernel.i64(0), kernel.i64(rows), kernel.i64(1));
  OpBuilder outside(eachRow.getBody()->getTerminator());
  Value row = eachRow.getInductionVar();
  from = move(outside, element, from, fold.mul(outside, row, kernel.i64(fromStride)));
  to = move(outside, element, to, fold.mul(outside, row, kernel.i64(toStride)));
  auto along = outside.create<scf::ForOp>(loc, kernel.i64(0), kernel.i64(width), kernel.i64(lanes));
  OpBuilder inside(along.getBody()->getTerminator());
  Value index = along.getInductionVar();
  Type type = lanesOf(element, static_cast<unsigned>(lanes));
  const auto align = static_cast<unsigned>(KernelState::byteSize(element));
  Value value = inside.create<LLVM::LoadOp>(loc, type, move(inside, element, from, index), align);
  inside.create<LLVM::StoreOp>(loc, value, move(inside, element, to, index), align);
}

SmallVector<Value> GemmKernel::rowsOfSums(OpBuilder &builder, const GemmBlock &block) const {
  SmallVector<Value> rows;
  if (!rowPlaces) {
    Value first = builder.create<arith::MulIOp>(loc, block.row, kernel.i64(cStride));
    Value corner = move(builder, types.sum, c,
                        builder.create<arith::AddIOp>(loc, first, block.column).getResult());
    for (int64_t r = 0; r < block.rows; ++r) {
      rows.push_back(move(builder, types.sum, corner, r * cStride));
    }
    return rows;
  }
  Value top = move(builder, types.sum, c, block.column);
  for (int64_t r = 0; r < block.rows; ++r) {
    Value place = loadEntry(builder, rowPlaces, builder.getI64Type(), block.row, r);
    rows.push_back(move(builder, types.sum, top, place));
  }
  return rows;
}

Value GemmKernel::groups(OpBuilder &builder) const {
  FoldingArithmetic fold(loc);
  Value rounded = fold.add(builder, depth, kernel.i64(types.packFactor - 1));
  return types.packFactor == 1 ? depth
                               : fold.quotient(builder, rounded, kernel.i64(types.packFactor));
}

/// The instruction for int8 takes an unsigned and a signed factor. a + 128 is unsigned, so that
/// 128 times the sum of b's column is taken off each sum at the end.
constexpr uint32_t signBits = 0x80808080;

void GemmKernel::prepareSigns(OpBuilder &builder, Value place) {
  auto type = cast<ShapedType>(lanesOf(types.lane, static_cast<unsigned>(shape.lanes)));
  Value constant = kernel.constant(DenseElementsAttr::get(type, APInt(32, signBits)));
  builder.create<LLVM::StoreOp>(loc, constant, place, 4);
  // Known bits would be set before the broadcast: a move, a scalar operation and a shuffle instead
  // of one instruction that broadcasts from memory.
  signs = builder.create<LLVM::LoadOp>(loc, type, place, 4, /*isVolatile=*/true);
}

Value GemmKernel::broadcastGroup(OpBuilder &builder, Value element) const {
  Type lanes = lanesOf(types.lane, static_cast<unsigned>(shape.lanes));
  Value all = builder.create<vector::BroadcastOp>(loc, lanes, element);
  return signs ? builder.create<arith::XOrIOp>(loc, all, signs) : all;
}

Value GemmKernel::multiplyAdd(OpBuilder &builder, Value x, Value y, Value sum) const {
  auto intrinsic = [&](const char *name, ValueRange arguments) -> Value {
    return builder
        .create<LLVM::CallIntrinsicOp>(loc, TypeRange{sum.getType()}, builder.getStringAttr(name),
                                       arguments, LLVM::FastmathFlagsAttr())
        .getResult(0);
  };
  if (types.packFactor == 2) {
    auto pairs = VectorType::get({2 * shape.lanes}, builder.getBF16Type());
    Value left = builder.create<LLVM::BitcastOp>(loc, pairs, x);
    Value right = builder.create<LLVM::BitcastOp>(loc, pairs, y);
    return intrinsic("llvm.x86.avx512bf16.dpbf16ps.512", {sum, left, right});
  }
  if (types.packFactor == 4) {
    return intrinsic("llvm.x86.avx512.vpdpbusd.512", {sum, x, y});
  }
  if (kernel.machine.hasFma) {
    return builder.create<math::FmaOp>(loc, x, y, sum);
  }
  return builder.create<arith::AddFOp>(loc, sum, builder.create<arith::MulFOp>(loc, x, y));
}

/// Those of the block that packs serve all other blocks of the panel.
SmallVector<Value> GemmKernel::finishColumnSums(OpBuilder &builder, const GemmBlock &block,
                                                ValueRange sums) const {
  SmallVector<Value> places, result;
  Value first = block.inPanel ? move(builder, types.sum, columnSums, block.inPanel) : columnSums;
  for (int64_t v = 0; v < block.vectors; ++v) {
    places.push_back(move(builder, types.sum, first, v * shape.lanes));
  }
  if (block.packs) {
    OpBuilder then = builder.create<scf::IfOp>(loc, block.packs, false).getThenBodyBuilder();
    for (auto [place, sum] : llvm::zip_equal(places, sums)) {
      then.create<LLVM::StoreOp>(loc, sum, place, 4);
    }
  }
  Type type = lanesOf(types.sum, static_cast<unsigned>(shape.lanes));
  for (Value place : places) {
    result.push_back(builder.create<LLVM::LoadOp>(loc, type, place, 4));
  }
  return result;
}

SmallVector<Value> GemmKernel::loadSums(OpBuilder &builder, ArrayRef<Value> rows,
                                        int64_t vectors) const {
  Type type = lanesOf(types.sum, static_cast<unsigned>(shape.lanes));
  SmallVector<Value> sums;
  for (Value row : rows) {
    for (int64_t v = 0; v < vectors; ++v) {
      Value address = move(builder, types.sum, row, v * shape.lanes);
      sums.push_back(builder.create<LLVM::LoadOp>(loc, type, address, 4));
    }
  }
  return sums;
}

SmallVector<Value> GemmKernel::readPanel(OpBuilder &builder, Value address, int64_t vectors) const {
  Type lanes = lanesOf(types.lane, static_cast<unsigned>(shape.lanes));
  SmallVector<Value> values;
  for (int64_t v = 0; v < vectors; ++v) {
    Value source = move(builder, types.lane, address, v * shape.lanes);
    values.push_back(builder.create<LLVM::LoadOp>(loc, lanes, source, 4));
  }
  return values;
}

void GemmKernel::emit(OpBuilder &builder, const GemmBlock &block) const {
  const auto operandAlign = static_cast<unsigned>(KernelState::byteSize(types.operand));
  constexpr unsigned align = 4; // of lanes and sums
  const int64_t count = block.vectors;
  Type lanes = lanesOf(types.lane, static_cast<unsigned>(shape.lanes));
  Type sumLanes = lanesOf(types.sum, static_cast<unsigned>(shape.lanes));
  SmallVector<Value> rowsOfC = rowsOfSums(builder, block), rows;
  for (int64_t r = 0; r < block.rows; ++r) {
    rows.push_back(loadRow(builder, block.row, r));
  }
  SmallVector<Value> before = rowsOfC;
  if (isFirst) {
    before[0] = builder.create<arith::SelectOp>(loc, isFirst, zeros, rowsOfC[0]);
    for (int64_t r = 1; r < block.rows; ++r) {
      before[r] = move(builder, types.sum, before[0], r * cStride);
    }
  }
  SmallVector<Value> carried = loadSums(builder, before, count);
  // Behind the sums: where the panel is, what is prefetched, a's offset, sums of b's columns.
  const size_t sums = carried.size();
  auto carry = [&](Value value) {
    carried.push_back(value);
    return carried.size() - 1;
  };
  const size_t bSlot = carry(block.panel);
  const size_t prefetchSlot = block.prefetch ? carry(block.prefetch) : 0;
  const size_t aSlot = aStride ? carry(kernel.i64(0)) : 0;
  const size_t columnSlot = carried.size();
  const int64_t columnCount = columnSums && block.packs ? count : 0;
  carried.append(columnCount, kernel.zero(sumLanes));
  auto loop =
      builder.create<scf::ForOp>(loc, kernel.i64(0), groups(builder), kernel.i64(1), carried);
  OpBuilder inside = OpBuilder::atBlockEnd(loop.getBody());
  auto arg = [&](size_t slot) -> Value { return loop.getRegionIterArgs()[slot]; };
  SmallVector<Value> next(carried.size());
  SmallVector<Value> bLanes;
  if (block.packs) {
    SmallVector<Type> results(count, lanes);
    results.append(columnCount, sumLanes);
    auto branch = inside.create<scf::IfOp>(loc, results, block.packs, true);
    OpBuilder then = branch.getThenBodyBuilder(), otherwise = branch.getElseBodyBuilder();
    SmallVector<Value> packed = block.pack(then, loop.getInductionVar(), arg(bSlot), count);
    SmallVector<Value> read = readPanel(otherwise, arg(bSlot), count);
    for (int64_t v = 0; v < columnCount; ++v) {
      packed.push_back(multiplyAdd(then, signs, packed[v], arg(columnSlot + v)));
      read.push_back(arg(columnSlot + v));
      next[columnSlot + v] = branch.getResult(count + v);
    }
    then.create<scf::YieldOp>(loc, packed);
    otherwise.create<scf::YieldOp>(loc, read);
    bLanes.append(branch.result_begin(), branch.result_begin() + count);
  } else {
    bLanes = readPanel(inside, arg(bSlot), count);
  }
  next[bSlot] = move(inside, types.lane, arg(bSlot), block.panelStride);
  if (block.prefetch) {
    prefetch::line(inside, loc, arg(prefetchSlot), prefetch::Level::Second);
    Value step = block.prefetchRowStep, last = kernel.i64(block.prefetchLines - 1);
    if (block.prefetchLines > 1) {
      Value number = inside.create<arith::AndIOp>(loc, loop.getInductionVar(), last);
      Value isLast = inside.create<arith::CmpIOp>(loc, arith::CmpIPredicate::eq, number, last);
      step = inside.create<arith::SelectOp>(loc, isLast, step, block.prefetchStep);
    }
    next[prefetchSlot] = move(inside, arg(prefetchSlot), step);
  }
  Value offset = aStride ? arg(aSlot) : loop.getInductionVar();
  if (aStride) {
    next[aSlot] = inside.create<arith::AddIOp>(loc, offset, aStride);
  }
  for (int64_t r = 0; r < block.rows; ++r) {
    Value element = inside.create<LLVM::LoadOp>(
        loc, types.lane, move(inside, types.lane, rows[r], offset), operandAlign);
    element = broadcastGroup(inside, element);
    for (int64_t v = 0; v < count; ++v) {
      next[r * count + v] = multiplyAdd(inside, element, bLanes[v], arg(r * count + v));
    }
  }
  inside.create<scf::YieldOp>(loc, next);
  SmallVector<Value> columns;
  if (columnSums) {
    columns = finishColumnSums(builder, block, loop.getResults().drop_front(columnSlot));
  }
  SmallVector<Value> results(loop.getResults().take_front(sums));
  for (size_t i = 0; columnSums && i < sums; ++i) {
    results[i] = builder.create<arith::SubIOp>(loc, results[i], columns[i % columns.size()]);
  }
  OpBuilder keeps = builder;
  if (block.stores) {
    auto branch = builder.create<scf::IfOp>(loc, block.stores, /*withElseRegion=*/true);
    OpBuilder then = branch.getThenBodyBuilder();
    block.store(then, results);
    keeps = branch.getElseBodyBuilder();
  }
  for (size_t i = 0; i < sums; ++i) {
    auto row = static_cast<int64_t>(i) / count, v = static_cast<int64_t>(i) % count;
    Value at = move(keeps, types.sum, rowsOfC[row], v * shape.lanes);
    keeps.create<LLVM::StoreOp>(loc, results[i], at, align);
  }
}

} // namespace nereid::cpu
