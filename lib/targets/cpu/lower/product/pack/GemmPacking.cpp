// SPDX-License-Identifier: Apache-2.0
// Rows are loaded a vector at a time; the numbers of a group are shifted into their places.
#include "lib/targets/cpu/lower/product/pack/GemmPacking.h"
#include "lib/targets/cpu/Prefetch.h"
#include "lib/targets/cpu/lower/elements/FoldingArithmetic.h"

#include "mlir/Dialect/Vector/IR/VectorOps.h"

using namespace mlir;

namespace nereid::cpu {

/// While b is packed, its rows are asked for so many before they are needed. Rows that are a power
/// of two apart fall into few sets of the first-level cache: many more push each other out.
constexpr int64_t rowsAhead = 16;

void GemmPacking::allocate(OpBuilder &builder, bool hasPanel) {
  const GemmTypes &types = gemmKernel.types;
  const int64_t width = shape.vectors * shape.lanes;
  auto place = [&](ArrayRef<int64_t> sizes, Type type) {
    return kernel.bufferAddress(kernel.allocate(sizes, type, loc));
  };
  if (!hasPanel) {
    panel = place({shape.deepest / types.packFactor, width}, types.lane);
  }
  if (types.packFactor == 4) {
    gemmKernel.columnSums = place({width}, types.sum);
    gemmKernel.prepareSigns(builder, place({shape.lanes}, types.lane));
  }
  if (types.packFactor > 1 && operands.columnTable) {
    columnCopy = place({shape.deepest, width}, types.operand);
  }
  if (types.packFactor == 2 && operands.hasInnerBounds()) {
    const int64_t vectors = llvm::divideCeil(shape.vectors, types.packFactor);
    zeros = place({vectors * shape.lanes * types.packFactor}, types.operand);
    Value zero = kernel.zero(lanesOf(types.lane, static_cast<unsigned>(shape.lanes)));
    for (int64_t v = 0; v < vectors; ++v) {
      Value to = gemmKernel.move(builder, types.lane, zeros, v * shape.lanes);
      builder.create<LLVM::StoreOp>(loc, zero, to, 4);
    }
  }
}

void GemmPacking::addMasks(OpBuilder &at, Value left, Source &source) const {
  const GemmTypes &types = gemmKernel.types;
  auto compare = [&](Type type, int64_t lanes, int64_t start) -> Value {
    auto width = static_cast<unsigned>(lanes);
    Value count = at.create<arith::TruncIOp>(loc, type, left);
    Value counts = at.create<vector::BroadcastOp>(loc, lanesOf(type, width), count);
    return at.create<arith::CmpIOp>(loc, arith::CmpIPredicate::slt,
                                    iota(kernel, type, width, 1, start), counts);
  };
  for (int64_t v = 0; v < shape.vectors; ++v) {
    source.masks.push_back(compare(at.getI32Type(), shape.lanes, v * shape.lanes));
  }
  if (isWide(shape.vectors)) {
    const int64_t width = types.packFactor * shape.lanes;
    left = FoldingArithmetic(loc).min(at, left, kernel.i64(127)); // fits a signed byte
    for (int64_t start = 0; start < shape.vectors * shape.lanes; start += width) {
      source.wideMasks.push_back(compare(types.operand, width, start));
    }
  }
}

/// Whole vectors of narrow numbers make up a row of the panel.
bool GemmPacking::isWide(int64_t vectors) const {
  return gemmKernel.types.packFactor > 1 && vectors % gemmKernel.types.packFactor == 0;
}

SmallVector<Value> GemmPacking::packGroup(OpBuilder &at, const Source &source, int64_t vectors,
                                          Value number, Value to) const {
  FoldingArithmetic fold(loc);
  const GemmTypes &types = gemmKernel.types;
  SmallVector<Value> rows = rowsOfGroup(at, source, number);
  SmallVector<Value> values =
      isWide(vectors) ? packWide(at, source, rows) : packVectors(at, source, rows, vectors);
  for (auto [v, value] : llvm::enumerate(values)) {
    Value target = gemmKernel.move(at, types.lane, to, static_cast<int64_t>(v) * shape.lanes);
    at.create<LLVM::StoreOp>(loc, value, target, static_cast<unsigned>(shape.lanes) * 4);
  }
  Value ahead = fold.mul(at, source.stride, kernel.i64(rowsAhead));
  const int64_t line = 64 / KernelState::byteSize(types.operand);
  for (Value row : rows) {
    Value next = gemmKernel.move(at, row, ahead);
    auto ask = [&](int64_t column) {
      prefetch::line(at, loc, gemmKernel.move(at, next, column), prefetch::Level::First);
    };
    for (int64_t column = 0; column < vectors * shape.lanes; column += line) {
      ask(column);
    }
    ask(vectors * shape.lanes - 1); // rows may begin inside of a line
  }
  return values;
}

void GemmPacking::addRows(OpBuilder &at, Source &source) const {
  FoldingArithmetic fold(loc);
  const int64_t factor = gemmKernel.types.packFactor;
  source.groupStride = fold.mul(at, source.stride, kernel.i64(factor));
  for (int64_t i = 1; i < factor; ++i) {
    source.offsets.push_back(fold.mul(at, source.stride, kernel.i64(i)));
  }
  if (factor == 1 || !operands.hasInnerBounds()) {
    return;
  }
  source.wholeGroups = fold.quotient(at, gemmKernel.depth, kernel.i64(factor));
  Value rest = fold.sub(at, gemmKernel.depth, fold.mul(at, source.wholeGroups, kernel.i64(factor)));
  for (int64_t i = 1; i < factor; ++i) {
    Value isThere = fold.isGreater(at, rest, kernel.i64(i));
    source.offsetsInPart.push_back(
        fold.select(at, isThere, source.offsets[static_cast<size_t>(i) - 1], kernel.i64(0)));
  }
}

/// Addresses of the group's rows. Those behind the last k are the first one again: of int8, whose
/// products with the zeros of a are exactly zero; of bfloat16 a row of zeros.
SmallVector<Value> GemmPacking::rowsOfGroup(OpBuilder &at, const Source &source,
                                            Value number) const {
  FoldingArithmetic fold(loc);
  SmallVector<Value> rows{
      gemmKernel.move(at, source.from, fold.mul(at, number, source.groupStride))};
  Value isPart = source.wholeGroups ? fold.isEqual(at, number, source.wholeGroups) : Value();
  for (auto [i, offset] : llvm::enumerate(source.offsets)) {
    if (isPart && !zeros) {
      rows.push_back(
          gemmKernel.move(at, rows[0], fold.select(at, isPart, source.offsetsInPart[i], offset)));
      continue;
    }
    Value row = gemmKernel.move(at, rows[0], offset);
    rows.push_back(isPart ? fold.select(at, isPart, zeros, row) : row);
  }
  return rows;
}

/// `width` operands, 0 where they are masked.
Value GemmPacking::load(OpBuilder &at, int64_t width, Value address, Value mask) const {
  const Type operand = gemmKernel.types.operand;
  const auto lanes = static_cast<unsigned>(width);
  const auto align = static_cast<unsigned>(KernelState::byteSize(operand));
  Type type = lanesOf(operand, lanes);
  if (!mask) {
    return at.create<LLVM::LoadOp>(loc, type, address, align);
  }
  return at.create<LLVM::MaskedLoadOp>(loc, type, address, mask, ValueRange{kernel.zero(type)},
                                       align);
}

SmallVector<Value> GemmPacking::packVectors(OpBuilder &at, const Source &source,
                                            ArrayRef<Value> rows, int64_t vectors) const {
  const GemmTypes &types = gemmKernel.types;
  Type lanes = lanesOf(types.lane, static_cast<unsigned>(shape.lanes));
  SmallVector<Value> values(vectors);
  for (auto [i, row] : llvm::enumerate(rows)) {
    const auto position = static_cast<int64_t>(i);
    for (int64_t v = 0; v < vectors; ++v) {
      Value mask = source.masks.empty() ? Value() : source.masks[v];
      Value value = load(at, shape.lanes, gemmKernel.move(at, row, v * shape.lanes), mask);
      value = types.packFactor == 1 ? value : at.create<arith::ExtUIOp>(loc, lanes, value);
      values[v] = i == 0 ? value : joinLanes(at, values[v], value, position);
    }
  }
  return values;
}

SmallVector<Value> GemmPacking::packWide(OpBuilder &at, const Source &source,
                                         ArrayRef<Value> rows) const {
  const GemmTypes &types = gemmKernel.types;
  const int64_t width = types.packFactor * shape.lanes;
  SmallVector<Value> values;
  for (int64_t part = 0; part < shape.vectors / types.packFactor; ++part) {
    SmallVector<Value> numbers;
    for (Value row : rows) {
      Value mask = source.wideMasks.empty() ? Value() : source.wideMasks[part];
      numbers.push_back(load(at, width, gemmKernel.move(at, row, part * width), mask));
    }
    llvm::append_range(values, interleave(at, numbers));
  }
  return values;
}

/// Vectors of lanes from rows of narrow numbers, column after column: two numbers side by side in
/// each 128 bits, then twos of them, as the instructions go, then the 128 bits in their order.
SmallVector<Value> GemmPacking::interleave(OpBuilder &at, ArrayRef<Value> rows) const {
  const GemmTypes &types = gemmKernel.types;
  const int64_t width = types.packFactor * shape.lanes;
  auto shuffle = [&](Value x, Value y, llvm::function_ref<int64_t(int64_t)> source) -> Value {
    SmallVector<int64_t> places;
    for (int64_t i = 0; i < width; ++i) {
      places.push_back(source(i));
    }
    return at.create<vector::ShuffleOp>(loc, x, y, places);
  };
  if (types.packFactor == 2) {
    SmallVector<Value> values;
    for (int64_t half : {0, 1}) {
      Value pairs = shuffle(rows[0], rows[1],
                            [&](int64_t i) { return half * shape.lanes + i / 2 + i % 2 * width; });
      values.push_back(pairs);
    }
    return asLanes(at, values);
  }
  // `unit` numbers of x beside as many of y, from one half of each 16 bytes.
  auto unpack = [&](Value x, Value y, int64_t unit, int64_t half) {
    return shuffle(x, y, [&](int64_t i) {
      const int64_t inBlock = i % 16, pair = inBlock / (2 * unit), rest = inBlock % (2 * unit);
      return i - inBlock + half * 8 + pair * unit + rest % unit + rest / unit * width;
    });
  };
  SmallVector<Value> quads;
  for (int64_t half : {0, 1}) {
    Value first = unpack(rows[0], rows[1], 1, half), second = unpack(rows[2], rows[3], 1, half);
    quads.push_back(unpack(first, second, 2, 0));
    quads.push_back(unpack(first, second, 2, 1));
  }
  // quads[q] has columns 4 q .. 4 q + 3 of each 16: a transposition of blocks of 16 bytes.
  SmallVector<Value> lows, highs, values;
  for (int64_t q : {0, 2}) {
    auto halves = [&](int64_t half) {
      return shuffle(quads[q], quads[q + 1], [&](int64_t i) {
        return half * 32 + i / 32 * 16 + i % 16 + i / 16 % 2 * width;
      });
    };
    lows.push_back(halves(0));
    highs.push_back(halves(1));
  }
  for (const auto &pairs : {lows, highs}) {
    for (int64_t half : {0, 1}) {
      values.push_back(shuffle(pairs[0], pairs[1],
                               [&](int64_t i) { return half * 32 + i % 32 + i / 32 * width; }));
    }
  }
  return asLanes(at, values);
}

SmallVector<Value> GemmPacking::asLanes(OpBuilder &at, ArrayRef<Value> values) const {
  Type lanes = lanesOf(gemmKernel.types.lane, static_cast<unsigned>(shape.lanes));
  SmallVector<Value> result;
  for (Value value : values) {
    result.push_back(at.create<LLVM::BitcastOp>(loc, lanes, value));
  }
  return result;
}

/// The number `position` of each group set to `row`.
Value GemmPacking::joinLanes(OpBuilder &at, Value groups, Value row, int64_t position) const {
  const int64_t bits = position * 32 / gemmKernel.types.packFactor;
  auto shift = DenseElementsAttr::get(cast<ShapedType>(row.getType()),
                                      APInt(32, static_cast<uint64_t>(bits)));
  row = at.create<arith::ShLIOp>(loc, row, kernel.constant(shift));
  return at.create<arith::OrIOp>(loc, groups, row);
}

void GemmPacking::packColumns(OpBuilder &at, Value column, Value left, Value offset) const {
  FoldingArithmetic fold(loc);
  const GemmTypes &types = gemmKernel.types;
  const int64_t width = shape.vectors * shape.lanes;
  auto each = at.create<scf::ForOp>(loc, kernel.i64(0), gemmKernel.depth, kernel.i64(1));
  OpBuilder inRow(each.getBody()->getTerminator());
  Value k = each.getInductionVar();
  offset = fold.add(inRow, offset, fold.mul(inRow, k, operands.b.stride));
  Value target = columnCopy ? columnCopy : panel;
  Value to = gemmKernel.move(inRow, target, fold.mul(inRow, k, kernel.i64(width)));
  auto along = inRow.create<scf::ForOp>(loc, kernel.i64(0), kernel.i64(width), kernel.i64(1));
  OpBuilder inside(along.getBody()->getTerminator());
  Value index = along.getInductionVar();
  auto isValid = inside.create<scf::IfOp>(loc, TypeRange{types.operand},
                                          fold.isGreater(inside, left, index), true);
  OpBuilder then = isValid.getThenBodyBuilder(), otherwise = isValid.getElseBodyBuilder();
  Value table = operands.columnTable;
  Value entry = then.create<LLVM::GEPOp>(loc, table.getType(), then.getI64Type(), table,
                                         ValueRange{fold.add(then, column, index)});
  Value address = then.create<LLVM::LoadOp>(loc, table.getType(), entry, 8);
  const auto align = static_cast<unsigned>(KernelState::byteSize(types.operand));
  Value element =
      then.create<LLVM::LoadOp>(loc, types.operand, gemmKernel.move(then, address, offset), align);
  then.create<scf::YieldOp>(loc, element);
  otherwise.create<scf::YieldOp>(loc, kernel.zero(types.operand));
  inside.create<LLVM::StoreOp>(loc, isValid.getResult(0), gemmKernel.move(inside, to, index),
                               align);
}

} // namespace nereid::cpu
