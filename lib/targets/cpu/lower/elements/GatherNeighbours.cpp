// SPDX-License-Identifier: Apache-2.0
// Gathers that need none: lanes along the gathered axis that go up or down one by one within the
// source (`flip`, a part of a tile), or that are a range with some bits flipped, set or cleared
// (`position ^ stride` and the like of sorting networks): one vector load, and its lanes moved.
#include "lib/targets/cpu/lower/elements/Gathers.h"

#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "mlir/IR/Matchers.h"

#include <map>

using namespace mlir;

namespace nereid::cpu {

/// The first element of an index tile when the program's text decides it.
static std::optional<int64_t> staticStart(Value tile) {
  Operation *op = tile.getDefiningOp();
  APInt constant;
  if (!op) {
    return std::nullopt;
  }
  if (matchPattern(tile, m_ConstantInt(&constant))) {
    return constant.getSExtValue();
  }
  if (auto range = dyn_cast<tile::MakeRangeOp>(op)) {
    return range.getStart();
  }
  if (isa<tile::SplatOp, tile::BroadcastOp, tile::ExpandDimsOp, arith::ExtSIOp>(op)) {
    return staticStart(op->getOperand(0));
  }
  if (isa<arith::AddIOp, arith::SubIOp>(op)) {
    auto left = staticStart(op->getOperand(0)), right = staticStart(op->getOperand(1));
    if (left && right) {
      return isa<arith::AddIOp>(op) ? *left + *right : *left - *right;
    }
  }
  return std::nullopt;
}

/// x86's lane shuffle of such vectors; empty when there is none.
static StringRef shuffleFor(LaneShuffles shuffles, Type element, unsigned width) {
  struct Row {
    StringRef integers, floats;
  };
  static const std::map<std::pair<unsigned, unsigned>, Row> rows = {
      {{64, 8}, {"llvm.x86.avx512.permvar.di.512", "llvm.x86.avx512.permvar.df.512"}},
      {{32, 16}, {"llvm.x86.avx512.permvar.si.512", "llvm.x86.avx512.permvar.sf.512"}},
      {{16, 32}, {"llvm.x86.avx512.permvar.hi.512", ""}},
      {{64, 4}, {"llvm.x86.avx512.permvar.di.256", "llvm.x86.avx512.permvar.df.256"}},
      {{16, 16}, {"llvm.x86.avx512.permvar.hi.256", ""}},
      {{16, 8}, {"llvm.x86.avx512.permvar.hi.128", ""}},
      {{32, 8}, {"llvm.x86.avx2.permd", "llvm.x86.avx2.permps"}},
  };
  unsigned bits = element.getIntOrFloatBitWidth();
  auto row = rows.find({bits, width});
  bool isThere = row != rows.end() && shuffles != LaneShuffles::None &&
                 (shuffles == LaneShuffles::Avx512 || (bits == 32 && width == 8));
  if (!isThere) {
    return "";
  }
  return isa<FloatType>(element) && bits > 16 ? row->second.floats : row->second.integers;
}

/// lanes[i] = vector[i ^ flipped], `flipped` below the width.
static Value flipLanes(Evaluator &evaluator, OpBuilder &b, Location loc, Value vector,
                       Value flipped, StringRef intrinsic) {
  auto type = cast<VectorType>(vector.getType());
  auto width = static_cast<unsigned>(type.getNumElements());
  Type number = b.getIntegerType(type.getElementTypeBitWidth());
  auto numbers = VectorType::get(type.getShape(), number);
  if (number.getIntOrFloatBitWidth() < 64) {
    flipped = b.create<arith::TruncIOp>(loc, number, flipped);
  }
  Value order = b.create<arith::XOrIOp>(loc, iota(evaluator.kernel, number, width, 1),
                                        b.create<vector::BroadcastOp>(loc, numbers, flipped));
  bool isCast = isa<FloatType>(type.getElementType()) && number.getIntOrFloatBitWidth() == 16;
  Value moved = isCast ? b.create<vector::BitCastOp>(loc, numbers, vector).getResult() : vector;
  moved =
      b.create<LLVM::CallIntrinsicOp>(loc, TypeRange{moved.getType()}, b.getStringAttr(intrinsic),
                                      ValueRange{moved, order}, LLVM::FastmathFlagsAttr())
          .getResult(0);
  return isCast ? b.create<vector::BitCastOp>(loc, type, moved).getResult() : moved;
}

Value gatherNeighbours(Evaluator &evaluator, tile::GatherOp op, const Dims &dims, unsigned copy,
                       OpBuilder &builder, Value base, Type memory) {
  KernelState &kernel = evaluator.kernel;
  const unsigned width = evaluator.width;
  Location loc = op.getLoc();
  Value index = op.getIndex();
  unsigned axis = op.getAxis();
  int64_t size = shapeOf(op.getSource())[axis], extent = shapeOf(index)[axis];
  Type indexType = elementTypeOf(index);
  if (size < width || !indexType.isIntOrIndex() ||
      (!isa<IndexType>(indexType) && indexType.getIntOrFloatBitWidth() < 32)) {
    return nullptr;
  }
  unsigned align = static_cast<unsigned>(KernelState::byteSize(memory));
  auto loadFrom = [&](Value first) {
    Value address =
        builder.create<LLVM::GEPOp>(loc, base.getType(), memory, base, ValueRange{first});
    return builder.create<LLVM::LoadOp>(loc, lanesOf(memory, width), address, align);
  };
  auto shuffle = [&](Value vector, llvm::function_ref<int64_t(int64_t)> from) -> Value {
    SmallVector<int64_t> order;
    for (unsigned i = 0; i < width; ++i) {
      order.push_back(from(i));
    }
    return builder.create<vector::ShuffleOp>(loc, vector, vector, order);
  };

  Axis along = kernel.axes.axis(index, axis, AxisView::Exact);
  std::optional<int64_t> start = staticStart(index);
  if (along.kind == AxisKind::Linear && start && (along.stride == 1 || along.stride == -1)) {
    // Only where no lane is outside: a vector load cannot clamp each lane.
    bool isUp = along.stride == 1;
    int64_t lowest = isUp ? *start : *start - (extent - 1);
    if (lowest < 0 || lowest + extent > size) {
      return nullptr;
    }
    Value first = kernel.i64(isUp ? *start : *start - (width - 1));
    first = isUp ? builder.create<arith::AddIOp>(loc, first, evaluator.laneBase[copy]).getResult()
                 : builder.create<arith::SubIOp>(loc, first, evaluator.laneBase[copy]).getResult();
    Value raw = loadFrom(first);
    return isUp ? raw : shuffle(raw, [&](int64_t i) { return width - 1 - i; });
  }

  Operation *bitwise = index.getDefiningOp();
  if (!isa_and_nonnull<arith::XOrIOp, arith::AndIOp, arith::OrIOp>(bitwise) ||
      !llvm::isPowerOf2_64(size)) {
    return nullptr;
  }
  Value range = bitwise->getOperand(0), bits = bitwise->getOperand(1);
  if (!kernel.axes.isUniformEverywhere(bits)) {
    std::swap(range, bits);
  }
  Axis rangeAlong = kernel.axes.axis(range, axis, AxisView::Exact);
  std::optional<int64_t> rangeStart = staticStart(range);
  // The lanes of one vector differ in their low bits only, so that they stay together.
  if (!kernel.axes.isUniformEverywhere(bits) || rangeAlong.kind != AxisKind::Linear ||
      rangeAlong.stride != 1 || !rangeStart || *rangeStart % width != 0) {
    return nullptr;
  }
  // `position & ~stride`, `position | stride`: pairs of sorting networks. Vectors start at
  // multiples of their width, so that the high bits are the same in all lanes.
  auto setOrClear = [&](int64_t known) -> Value {
    const bool isAnd = isa<arith::AndIOp>(bitwise);
    const int64_t low = width - 1;
    Value at =
        builder.create<arith::AddIOp>(loc, evaluator.laneBase[copy], kernel.i64(*rangeStart));
    at = isAnd ? builder.create<arith::AndIOp>(loc, at, kernel.i64(known & ~low)).getResult()
               : builder.create<arith::OrIOp>(loc, at, kernel.i64(known & ~low)).getResult();
    // Outside of the source all lanes are: any element will do.
    at = builder.create<arith::MinUIOp>(loc, at, kernel.i64(size - width));
    Value raw = loadFrom(at);
    auto from = [&](int64_t i) { return isAnd ? i & known & low : i | (known & low); };
    return from(low) == low && from(0) == 0 ? raw : shuffle(raw, from);
  };
  Dims first(dims.size(), zeroDim);
  std::optional<int64_t> known = staticStart(bits);
  if (!isa<arith::XOrIOp>(bitwise)) {
    return known ? setOrClear(*known) : nullptr;
  }
  StringRef intrinsic = shuffleFor(kernel.machine.laneShuffles, memory, width);
  if (!known && intrinsic.empty()) {
    return nullptr;
  }
  Value flipped = known ? kernel.i64(*known) : evaluator.evaluate(bits, first, copy);
  if (flipped.getType().isInteger(32)) {
    flipped = builder.create<arith::ExtUIOp>(loc, builder.getI64Type(), flipped);
  } else if (isa<IndexType>(flipped.getType())) {
    flipped = builder.create<arith::IndexCastOp>(loc, builder.getI64Type(), flipped);
  }
  Value high =
      builder.create<arith::AndIOp>(loc, flipped, kernel.i64(-static_cast<int64_t>(width)));
  Value at = builder.create<arith::AddIOp>(loc, evaluator.laneBase[copy], kernel.i64(*rangeStart));
  at = builder.create<arith::XOrIOp>(loc, at, high);
  // Outside of the source all lanes are: any element will do.
  at = builder.create<arith::MinUIOp>(loc, at, kernel.i64(size - width));
  Value raw = loadFrom(at);
  if (known) {
    return shuffle(raw, [&](int64_t i) { return i ^ (*known & (width - 1)); });
  }
  Value low = builder.create<arith::AndIOp>(loc, flipped, kernel.i64(width - 1));
  return flipLanes(evaluator, builder, loc, raw, low, intrinsic);
}

} // namespace nereid::cpu
