// SPDX-License-Identifier: Apache-2.0
// See TransposeBlock.h.
#include "lib/targets/cpu/lower/nest/TransposeBlock.h"

#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"

using namespace mlir;

namespace nereid::cpu {

/// Keeps code generation from looking for one shuffle instead of two: it tries all pairs along the
/// stages, which takes longer than all else in a small kernel.
static Value separateRow(OpBuilder &builder, Location loc, Value row) {
  if (!cast<VectorType>(row.getType()).getElementType().isF32()) {
    return row;
  }
  return builder
      .create<LLVM::CallIntrinsicOp>(loc, TypeRange{row.getType()},
                                     builder.getStringAttr("llvm.arithmetic.fence"),
                                     ValueRange{row}, LLVM::FastmathFlagsAttr())
      .getResult(0);
}

/// Sixteen rows in four stages as x86 has instructions for them: numbers, then pairs of them are
/// interleaved in each quarter, then quarters are collected. Other orders of the stages make LLVM
/// look for a way to do each shuffle.
static void transposeSixteen(OpBuilder &builder, Location loc, SmallVectorImpl<Value> &rows,
                             bool separates) {
  constexpr int64_t width = 16, quarter = 4;
  auto shuffle = [&](Value a, Value b, llvm::function_ref<int64_t(int64_t)> source) -> Value {
    SmallVector<int64_t> places;
    for (int64_t i = 0; i < width; ++i) {
      places.push_back(source(i));
    }
    return builder.create<vector::ShuffleOp>(loc, a, b, places);
  };
  // `unit` neighbours of a, then as many of b, from one half of each quarter.
  auto interleave = [&](Value a, Value b, int64_t unit, int64_t half) {
    return shuffle(a, b, [=](int64_t i) {
      const int64_t inQuarter = i % quarter, pair = inQuarter / (2 * unit);
      return i - inQuarter + half * 2 + pair * unit + inQuarter % unit +
             inQuarter / unit % 2 * width;
    });
  };
  // Every second quarter of a, then of b.
  auto collect = [&](Value a, Value b, int64_t first) {
    return shuffle(a, b, [=](int64_t i) {
      const int64_t from = i / quarter;
      return from % 2 * 2 * quarter + first * quarter + i % quarter + from / 2 * width;
    });
  };
  SmallVector<Value> next(rows.begin(), rows.end());
  for (int64_t i = 0; i < width; i += 2) {
    next[i] = interleave(rows[i], rows[i + 1], 1, 0);
    next[i + 1] = interleave(rows[i], rows[i + 1], 1, 1);
  }
  for (int64_t i = 0; i < width; i += 4) {
    for (int64_t half : {0, 1}) {
      rows[i + 2 * half] = interleave(next[i + half], next[i + 2 + half], 2, 0);
      rows[i + 2 * half + 1] = interleave(next[i + half], next[i + 2 + half], 2, 1);
    }
  }
  for (Value &row : rows) {
    row = separates ? separateRow(builder, loc, row) : row;
  }
  // Quarter q of rows[4 g + c] has column 4 q + c of the rows 4 g to 4 g + 3.
  for (int64_t c = 0; c < 4; ++c) {
    for (int64_t side : {0, 8}) {
      next[side + c] = collect(rows[side + c], rows[side + 4 + c], 0);
      next[side + 4 + c] = collect(rows[side + c], rows[side + 4 + c], 1);
    }
    for (int64_t q : {0, 1}) {
      rows[4 * q + c] = collect(next[4 * q + c], next[8 + 4 * q + c], 0);
      rows[8 + 4 * q + c] = collect(next[4 * q + c], next[8 + 4 * q + c], 1);
    }
  }
}

void transposeBlock(OpBuilder &builder, Location loc, SmallVectorImpl<Value> &rows,
                    bool separates) {
  int64_t width = static_cast<int64_t>(rows.size());
  if (width == 16) {
    transposeSixteen(builder, loc, rows, separates);
    return;
  }
  for (int64_t bit = 1; bit < width; bit *= 2) {
    SmallVector<int64_t> low, high; // of the concatenation of two rows
    for (int64_t k = 0; k < width; ++k) {
      low.push_back((k & bit) == 0 ? k : width + k - bit);
      high.push_back((k & bit) == 0 ? k + bit : width + k);
    }
    for (int64_t i = 0; i < width; ++i) {
      if ((i & bit) != 0) {
        continue;
      }
      Value a = rows[i], b = rows[i + bit];
      rows[i] = builder.create<vector::ShuffleOp>(loc, a, b, low);
      rows[i + bit] = builder.create<vector::ShuffleOp>(loc, a, b, high);
    }
  }
}

} // namespace nereid::cpu
