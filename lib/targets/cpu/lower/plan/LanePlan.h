// SPDX-License-Identifier: Apache-2.0
// Chooses, for one loop nest, which dimension becomes the lanes of vectors, how wide they are and
// how often the loop body is repeated; lists what the nest's main part may take for granted. The
// choice reads the program only; emitLoopBounds then writes the run-time checks.
#pragma once

#include "lib/targets/cpu/lower/elements/Evaluator.h"

namespace nereid::cpu {

struct LanePlan {
  int8_t dim = zeroDim;
  unsigned width = 1;
  unsigned unroll = 1;
  /// Boundary parts are done element by element: a masked vector access would not be one
  /// instruction.
  bool scalarEnds = false;
  int score = 0;
  int cost = 0;
  int highProducts = 0; ///< upper halves of products
  int divisions = 0;    ///< of floats, and square roots
  int rowlessLoads = 0; ///< of what is the same in every row, such as weights
  using Site = std::pair<mlir::Value, Dims>;
  llvm::SmallVector<Site> masks;          ///< lane-dependent masks and select conditions
  llvm::SmallVector<Site> remainders;     ///< `%` and `/` inside addresses, see AxisView::Assumed
  bool hasUnknownPremise = false;         ///< a remainder cannot be evaluated again to be checked
  llvm::SmallVector<Site> runtimeStrides; ///< pointers whose step along the lanes is not constant
};

/// A tile of two dimensions alone is stored, with its neighbours in memory along `dim`, the first.
bool storesDownColumns(const KernelState &kernel, llvm::ArrayRef<FusionRoot> roots, int8_t dim);

/// What is stored so comes from a materialised tile and can be read along the rows of its buffer:
/// blocks of it are transposed in registers.
bool writesTransposed(const KernelState &kernel, llvm::ArrayRef<FusionRoot> roots, int8_t dim);

LanePlan planLanes(const KernelState &kernel, llvm::ArrayRef<FusionRoot> roots);

/// Where the parts of the lane loop begin and end; null = at the tile's end.
struct LoopBounds {
  mlir::Value mainEnd;      ///< before it every assumption of the main part holds
  mlir::Value outsideStart; ///< from it on every bounded mask is false
};

/// Fills evaluator.masks and emits the bounds in the scope around the lane loop.
LoopBounds emitLoopBounds(Evaluator &evaluator, const LanePlan &plan, int64_t size);

} // namespace nereid::cpu
