// SPDX-License-Identifier: Apache-2.0
// Matrix products: by matrix instructions where there is one for the types, else by multiplications
// and additions on operands in shared memory.
#include "lib/targets/nvidia/products/Products.h"
#include "lib/targets/nvidia/layouts/LaneProducts.h"
#include "lib/targets/nvidia/threads/Lowering.h"
#include "lib/targets/nvidia/threads/Staging.h"

#include <map>

using namespace mlir;

namespace nereid::nvidia {

using layout::Holder;
using layout::LinearLayout;

namespace {

/// The number as the accumulator's type has it.
Value widened(ThreadCode &code, Value value, Type to) {
  OpBuilder &b = code.builder;
  if (value.getType() == to) {
    return value;
  }
  if (isa<FloatType>(to)) {
    return value.getType().getIntOrFloatBitWidth() < to.getIntOrFloatBitWidth()
               ? b.create<arith::ExtFOp>(code.loc, to, value).getResult()
               : b.create<arith::TruncFOp>(code.loc, to, value).getResult();
  }
  return b.create<arith::ExtSIOp>(code.loc, to, value);
}

/// Of a product without matrix instructions: where its operands lie in shared memory, a slice of
/// the contracted dimension at a time.
struct Slices {
  int64_t batches = 1, rows, columns, k;
  int64_t bytes; ///< of an element
  int64_t step;  ///< of k in a slice

  explicit Slices(tile::DotOp op) {
    const auto shape = shapeOf(op.getResult()), left = shapeOf(op.getA());
    rows = shape[shape.size() - 2];
    columns = shape.back();
    k = left.back();
    batches = LinearLayout(shape, {}, {}, {}).elementCount() / (rows * columns);
    bytes = memoryBits(tile::elementTypeOf(op.getA().getType())) / 8;
    step = k;
    while (step > 1 && size() > mostStagedBytes) {
      step /= 2;
    }
  }
  /// Rows of A lie one element further apart, so that neighbouring rows are in different banks.
  int64_t leftPitch() const { return step + 1; }
  int64_t leftSize() const { return batches * rows * leftPitch(); } // in elements
  int64_t size() const { return (leftSize() + batches * step * columns) * bytes; }
};

Value times(ThreadCode &code, Value value, int64_t factor) {
  return code.builder.create<arith::MulIOp>(code.loc, value, code.constant(factor));
}

/// The element's number divided by a power of two, and the remainder.
std::pair<Value, Value> split(ThreadCode &code, Value element, int64_t size) {
  return {code.builder.create<arith::DivUIOp>(code.loc, element, code.constant(size)),
          code.builder.create<arith::AndIOp>(code.loc, element, code.constant(size - 1))};
}

void stageSlice(ThreadCode &code, tile::DotOp op, const Slices &slices, int64_t first) {
  OpBuilder &b = code.builder;
  const int64_t beyond = slices.k - slices.step; // the bits of k that tell slices apart
  code.barrier();
  stage(code, op.getA(), {beyond, first}, [&](Value element) {
    auto [row, at] = split(code, element, slices.k);
    at = split(code, at, slices.step).second;
    return b.create<arith::AddIOp>(code.loc, times(code, row, slices.leftPitch()), at).getResult();
  });
  stage(code, op.getB(), {beyond * slices.columns, first * slices.columns}, [&](Value element) {
    const int64_t size = slices.step * slices.columns;
    auto [batch, at] = split(code, element, slices.k * slices.columns);
    at = split(code, at, size).second;
    at = b.create<arith::AddIOp>(code.loc, times(code, batch, size), at);
    return code.add(at, slices.leftSize());
  });
  code.barrier();
}

/// A loop over the contracted dimension, which reads what the thread needs of a row and of a column
/// from shared memory.
void lowerMultiplyAdd(ThreadCode &code, tile::DotOp op) {
  OpBuilder &b = code.builder;
  const Type from = threadType(tile::elementTypeOf(op.getA().getType()));
  const Type to = tile::elementTypeOf(op.getType());
  const LinearLayout result = *layoutOf(op);
  const Slices slices(op);
  code.reserveShared(slices.size());
  // A row of A is read once for all its elements, and so is a column of B.
  const int64_t inRow = slices.columns - 1;
  const int64_t ofBatch = ~(slices.rows * slices.columns - 1);
  const auto elements = code.elements(result);
  std::map<int64_t, Value> leftPlaces, rightPlaces; // by the bits of the element that matter
  SmallVector<std::pair<int64_t, int64_t>> keys;
  for (auto [reg, element] : llvm::enumerate(elements)) {
    const int64_t part = result.contribution(Holder::Register, static_cast<int64_t>(reg));
    keys.emplace_back(part & ~inRow, part & (inRow | ofBatch));
    auto [row, column] = split(code, element, slices.columns);
    if (!leftPlaces.contains(keys.back().first)) {
      leftPlaces[keys.back().first] = times(code, row, slices.leftPitch());
    }
    if (!rightPlaces.contains(keys.back().second)) {
      Value batch = split(code, row, slices.rows).first;
      Value place = times(code, batch, slices.step * slices.columns);
      place = b.create<arith::AddIOp>(code.loc, place, column);
      rightPlaces[keys.back().second] = code.add(place, slices.leftSize());
    }
  }
  // Half types are summed up in float32 and rounded at the end, like a matrix unit does.
  const bool isNarrow = isa<FloatType>(to) && to.getIntOrFloatBitWidth() < 32;
  const Type sumType = isNarrow ? b.getF32Type() : to;
  SmallVector<Value> sums;
  for (Value value : code.held(op.getC())) {
    sums.push_back(widened(code, value, sumType));
  }
  Value zero = code.constant(0), one = code.constant(1), end = code.constant(slices.step);
  for (int64_t first = 0; first < slices.k; first += slices.step) {
    stageSlice(code, op, slices, first);
    auto loop = b.create<scf::ForOp>(code.loc, zero, end, one, sums);
    OpBuilder::InsertionGuard guard(b);
    b.setInsertionPointToStart(loop.getBody());
    auto loadAll = [&](const std::map<int64_t, Value> &places, Value offset) {
      std::map<int64_t, Value> loaded;
      for (const auto &[key, place] : places) {
        Value at = b.create<arith::AddIOp>(code.loc, place, offset);
        loaded[key] = widened(code, code.loadShared(from, at), sumType);
      }
      return loaded;
    };
    Value i = loop.getInductionVar();
    const auto left = loadAll(leftPlaces, i);
    const auto right = loadAll(rightPlaces, times(code, i, slices.columns));
    for (auto [at, sum] : llvm::enumerate(loop.getRegionIterArgs())) {
      Value row = left.at(keys[at].first), column = right.at(keys[at].second);
      if (isa<FloatType>(sumType)) {
        sums[at] = b.create<math::FmaOp>(code.loc, row, column, sum);
      } else {
        Value product = b.create<arith::MulIOp>(code.loc, row, column);
        sums[at] = b.create<arith::AddIOp>(code.loc, sum, product);
      }
    }
    b.create<scf::YieldOp>(code.loc, sums);
    llvm::copy(loop.getResults(), sums.begin());
  }
  ThreadCode::Held held;
  for (Value sum : sums) {
    held.push_back(widened(code, sum, to));
  }
  code.hold(op, held);
}

} // namespace

void lowerDot(ThreadCode &code, tile::DotOp op) {
  if (op->hasAttr(warpgroupAttribute)) {
    lowerWarpgroupProduct(code, op);
  } else if (usesMatrixUnit(op)) {
    lowerMatrixUnit(code, op);
  } else if (isLaneProduct(op)) {
    lowerLaneProduct(code, op);
  } else {
    lowerMultiplyAdd(code, op);
  }
}

} // namespace nereid::nvidia
