// SPDX-License-Identifier: Apache-2.0
// Masks as intervals. A mask such as `(start + range < n) & (row < rows)` is a conjunction of
// terms; a term that compares numbers growing along one dimension with a limit that is the same
// along it holds for the first elements of that dimension, or for all but the first ones.
#pragma once

#include "lib/tile/analysis/Coordinates.h"

#include "llvm/ADT/STLFunctionalExtras.h"

#include <memory>
#include <optional>

namespace mlir {
class Pass;
} // namespace mlir

namespace nereid::tile {

/// Of the elements along the dimension the first ones are those whose `linear` is below `limit`, or
/// equal to it where the bound is `inclusive`. The term holds for them, or, as a lower bound, for
/// all others.
///
///   range < n     first ones: 0 … n-1, upper        range >= n    the same first ones, lower
///   range <= n    inclusive, upper                   range > n     inclusive, lower
struct MaskBound {
  mlir::Value linear, limit;
  int64_t stride = 1; ///< of `linear`, at least 1
  bool isLower = false, inclusive = false;
};

/// The term as a bound along one dimension, whichever side of the comparison the limit is on.
/// `stepOf` tells by how much a tile grows from one element along the dimension to the next: 0
/// where all are the same, nothing where that is not known or its numbers may wrap around.
std::optional<MaskBound> boundOf(mlir::Value term,
                                 llvm::function_ref<std::optional<int64_t>(mlir::Value)> stepOf);

/// Visits the terms of a conjunction with their coordinates, through shape operations, but not
/// through what `isOpaque`.
void visitMaskTerms(mlir::Value mask, const Dims &dims,
                    llvm::function_ref<bool(mlir::Value)> isOpaque,
                    llvm::function_ref<void(mlir::Value, const Dims &)> visit);

/// `tile-print-mask-bounds`: a remark at each access that has a mask.
std::unique_ptr<mlir::Pass> createPrintMaskBoundsPass();

} // namespace nereid::tile
