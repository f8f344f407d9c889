// SPDX-License-Identifier: Apache-2.0
// `tl.sum(y * (1 - mask), axis)` with a mask of zeros and a one: how sorting networks written
// without `tl.gather` read the left and the right element of each pair, four sums for every
// comparison.
#pragma once

namespace mlir {
class RewritePatternSet;
}

namespace nereid::tile {

/// broadcast(expand_dims(sum of y · m)) over an axis of two elements, where m is 1 for one of them
/// and 0 for the other, of integers: a gather of y, flat, from `position & ~stride` or
/// `position | stride`.
void addSumsThatPick(mlir::RewritePatternSet &patterns);

} // namespace nereid::tile
