// SPDX-License-Identifier: Apache-2.0
// Recognises the loop of a matrix product, `for k: acc = dot(load a, load b, acc)`, whose
// accumulator nobody reads before the end, and says which operands can be read where they stand
// in memory: every address and every mask is then known from the first iteration and from what one
// iteration adds.
#pragma once

#include "lib/targets/cpu/lower/plan/LoopSteps.h"
#include "lib/targets/cpu/lower/product/recognise/GemmTerms.h"

namespace nereid::cpu {

/// Loop dimensions in the coordinates of an operand.
constexpr int8_t outerDim = 0; ///< rows of a, columns of b
constexpr int8_t innerDim = 1; ///< k

struct GemmOperand {
  mlir::Value tile;
  tile::LoadOp load;       ///< null: the operand is computed into scratch in each iteration
  Dims dims;               ///< of the load's elements
  bool needsCheck = false; ///< of b: columns are neighbours only when a run-time check says so
  /// Neighbours in memory lie along the dimension along which the register block does not read:
  /// k of b, rows of a.
  bool transposed = false;
  llvm::SmallVector<PrefixTerm, 2> outerMasks, innerMasks;
  llvm::SmallVector<PrefixTerm, 2> lowerMasks;  ///< of both dimensions
  llvm::SmallVector<mlir::Value, 2> conditions; ///< uniform parts of the mask, of integers
  /// Parts that choose rows of a, or columns of b, one by one, the same ones in every iteration;
  /// see rowMaskDims.
  llvm::SmallVector<mlir::Value, 4> rowMasks;
  llvm::SmallVector<Dims, 4> rowMaskDims;

  unsigned position(int8_t dim) const;
  /// Coordinates with only one dimension left.
  Dims at(int8_t dim) const;
  mlir::Value pointer() const { return tile::LoadOp(load).getPointer(); }
};

/// Bounds of the rows and columns that anybody looks at, per store of the result.
struct DemandedPart {
  llvm::SmallVector<PrefixTerm, 2> rows, columns;
};

struct GemmLoop {
  tile::DotOp dot;
  mlir::Operation *sum = nullptr; ///< acc + dot(a, b, 0), when the source adds by itself
  bool startsAtZero = false;
  unsigned carried = 0; ///< number of the accumulator among the iteration arguments
  GemmOperand a, b;
  int64_t m = 0, n = 0, k = 0;
  /// VNNI pack factor, the consecutive k that one instruction multiplies: 2 of bfloat16, 4 of int8;
  /// 1 = as float32.
  int64_t packFactor = 1;
  /// What alone takes the sums, maybe through element-wise operations, and may be made part of the
  /// loop; null = they are wanted as a tile.
  tile::StoreOp store;
  mlir::Value sums; ///< the loop's result
  /// The store's mask is true exactly for the rows and columns that are looked at.
  bool masksDemand = false;
  /// Empty: everything may be looked at. Each part's terms can be evaluated in front of the loop.
  llvm::SmallVector<DemandedPart, 2> demanded;
};

/// Nothing when the loop is another one.
std::optional<GemmLoop> recogniseGemm(KernelState &kernel, mlir::scf::ForOp loop);

} // namespace nereid::cpu
