// SPDX-License-Identifier: Apache-2.0
// Operations of kind View: the same elements under other dimensions.
#pragma once

#include "lib/definition/Graph.h"

#include <limits>
#include <optional>
#include <utility>

namespace nereid::definition {

/// In a view's order: a dimension of size 1 that the input has not.
constexpr size_t newDimension = std::numeric_limits<size_t>::max();

/// Dimension i of the result is dimension order[i] of the input, of rank `rank`, counted from the
/// front. E0604 when attribute "dims" of a permute has not each of them once, or "dim" of an
/// unsqueeze is outside.
Result<std::vector<size_t>> viewOrder(const Node &node, size_t rank);
/// The two dimensions that a permute swaps, counted from the end, where it leaves all in front of
/// them, whose number may be open.
std::optional<std::pair<int64_t, int64_t>> trailingSwap(const Node &node);
Node trailingSwapOf(int input, int64_t dim0, int64_t dim1);
Result<SymbolicShape> viewShape(const Node &node, const Node &input);

} // namespace nereid::definition
