// SPDX-License-Identifier: Apache-2.0
// The register block. Order inside the loop: all vectors of b, then per row of a one broadcast and
// its multiply-adds; the other way round the compiler keeps every broadcast alive. Packing is a
// branch inside the same loop: a block of its own would double the time to compile.
#include "lib/targets/cpu/lower/GemmKernel.h"
#include "lib/targets/cpu/lower/Evaluator.h"

#include "mlir/Dialect/Vector/IR/VectorOps.h"

using namespace mlir;

namespace nereid::cpu {

/// A part of the first-level cache that b may fill while rows of a and c pass through the rest.
constexpr int64_t panelBytes = 32 << 10;
int64_t GemmShape::rowsFor(int64_t width) const {
  if (manyRegisters) {
    return width == 4 ? 4 : 8; // 16 accumulators: two multiply-adds of four cycles need eight
  }
  return width == 2 ? 6 : 8; // 12 of 16 registers
}

GemmShape gemmShapeFor(const LoweringOptions &options, int64_t elementBytes, int64_t columns) {
  GemmShape shape;
  shape.lanes = options.vectorBytes / elementBytes;
  shape.manyRegisters = options.vectorRegisters >= 32;
  shape.vectors = shape.manyRegisters ? 4 : 2;
  while (shape.vectors > 1 && columns % (shape.vectors * shape.lanes) != 0) {
    shape.vectors /= 2;
  }
  int64_t rowBytes = shape.vectors * options.vectorBytes;
  shape.depth = std::clamp<int64_t>(panelBytes / rowBytes, 64, 256);
  return shape;
}

Value GemmKernel::move(OpBuilder &builder, Value address, Value elements) const {
  return builder.create<LLVM::GEPOp>(loc, address.getType(), type, address, ValueRange{elements});
}

Value GemmKernel::move(OpBuilder &builder, Value address, int64_t elements) const {
  return elements == 0
             ? address
             : builder
                   .create<LLVM::GEPOp>(loc, address.getType(), type, address,
                                        ArrayRef<LLVM::GEPArg>{static_cast<int32_t>(elements)})
                   .getResult();
}

Value GemmKernel::loadRow(OpBuilder &builder, Value row, int64_t add) const {
  Type pointer = rowTable.getType(), i64 = builder.getI64Type();
  auto entry = [&](Value table, Type type) -> Value {
    Value at = builder.create<LLVM::GEPOp>(loc, pointer, i64, table, ValueRange{row});
    if (add != 0) {
      at = builder.create<LLVM::GEPOp>(loc, pointer, i64, at,
                                       ArrayRef<LLVM::GEPArg>{static_cast<int32_t>(add)});
    }
    return builder.create<LLVM::LoadOp>(loc, type, at, 8);
  };
  Value offset = aOffset;
  if (rowMoves) {
    offset = builder.create<arith::AndIOp>(loc, offset, entry(rowMoves, i64));
  }
  return move(builder, entry(rowTable, pointer), offset);
}

Value GemmKernel::multiplyAdd(OpBuilder &builder, Value x, Value y, Value sum) const {
  if (kernel.options.hasFma) {
    return builder.create<math::FmaOp>(loc, x, y, sum);
  }
  return builder.create<arith::AddFOp>(loc, sum, builder.create<arith::MulFOp>(loc, x, y));
}

void GemmKernel::emit(OpBuilder &builder, const GemmBlock &block) const {
  const auto align = static_cast<unsigned>(KernelState::byteSize(type));
  const int64_t count = block.vectors;
  Type lanes = lanesOf(type, static_cast<unsigned>(shape.lanes));
  Value corner = builder.create<arith::AddIOp>(
      loc, builder.create<arith::MulIOp>(loc, block.row, kernel.i64(cStride)), block.column);
  Value cBlock = move(builder, c, corner);
  SmallVector<Value> rows, carried;
  for (int64_t r = 0; r < block.rows; ++r) {
    rows.push_back(loadRow(builder, block.row, r));
    for (int64_t v = 0; v < count; ++v) {
      Value at = move(builder, cBlock, r * cStride + v * shape.lanes);
      carried.push_back(builder.create<LLVM::LoadOp>(loc, lanes, at, align));
    }
  }
  // Behind the sums: where the panel is, what is prefetched, a's offset.
  const size_t sums = carried.size();
  auto carry = [&](Value value) {
    carried.push_back(value);
    return carried.size() - 1;
  };
  const size_t bSlot = carry(block.panel);
  const size_t prefetchSlot = block.prefetch ? carry(block.prefetch) : 0;
  const size_t aSlot = aStride ? carry(kernel.i64(0)) : 0;
  auto loop = builder.create<scf::ForOp>(loc, kernel.i64(0), depth, kernel.i64(1), carried);
  OpBuilder inside = OpBuilder::atBlockEnd(loop.getBody());
  auto arg = [&](size_t slot) -> Value { return loop.getRegionIterArgs()[slot]; };
  SmallVector<Value> next(carried.size());
  auto readPanel = [&](OpBuilder &at) {
    SmallVector<Value> values;
    for (int64_t v = 0; v < count; ++v) {
      Value source = move(at, arg(bSlot), v * shape.lanes);
      values.push_back(at.create<LLVM::LoadOp>(loc, lanes, source, align));
    }
    return values;
  };
  SmallVector<Value> bLanes;
  if (block.packs) {
    SmallVector<Type> types(count, lanes);
    auto branch = inside.create<scf::IfOp>(loc, types, block.packs, true);
    OpBuilder then = branch.getThenBodyBuilder(), otherwise = branch.getElseBodyBuilder();
    then.create<scf::YieldOp>(loc, block.pack(then, loop.getInductionVar(), arg(bSlot)));
    otherwise.create<scf::YieldOp>(loc, readPanel(otherwise));
    bLanes.append(branch.getResults().begin(), branch.getResults().end());
  } else {
    bLanes = readPanel(inside);
  }
  next[bSlot] = move(inside, arg(bSlot), block.panelStride);
  if (block.prefetch) {
    inside.create<LLVM::Prefetch>(loc, arg(prefetchSlot), 0, /*hint=*/2, 1);
    Value number = inside.create<arith::AndIOp>(loc, loop.getInductionVar(), kernel.i64(count - 1));
    Value isLast =
        inside.create<arith::CmpIOp>(loc, arith::CmpIPredicate::eq, number, kernel.i64(count - 1));
    Value step =
        inside.create<arith::SelectOp>(loc, isLast, block.prefetchRowStep, block.prefetchStep);
    next[prefetchSlot] = move(inside, arg(prefetchSlot), step);
  }
  Value offset = aStride ? arg(aSlot) : loop.getInductionVar();
  if (aStride) {
    next[aSlot] = inside.create<arith::AddIOp>(loc, offset, aStride);
  }
  for (int64_t r = 0; r < block.rows; ++r) {
    Value element = inside.create<LLVM::LoadOp>(loc, type, move(inside, rows[r], offset), align);
    element = inside.create<vector::BroadcastOp>(loc, lanes, element);
    for (int64_t v = 0; v < count; ++v) {
      next[r * count + v] = multiplyAdd(inside, element, bLanes[v], arg(r * count + v));
    }
  }
  inside.create<scf::YieldOp>(loc, next);
  for (size_t i = 0; i < sums; ++i) {
    auto row = static_cast<int64_t>(i) / count, v = static_cast<int64_t>(i) % count;
    Value at = move(builder, cBlock, row * cStride + v * shape.lanes);
    builder.create<LLVM::StoreOp>(loc, loop.getResult(i), at, align);
  }
}

} // namespace nereid::cpu
