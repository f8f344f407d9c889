// SPDX-License-Identifier: Apache-2.0
// Test data of inputs that are indices: inside of the range that the definition promises, its ends
// among them, in the orders and with the repetitions that kernels fail on.
#pragma once

#include "lib/definition/Graph.h"
#include "lib/definition/cases/CaseData.h"

namespace nereid::definition {

/// Ends of a promised range for the sizes of a case; E0604 when a size is missing.
Result<std::pair<int64_t, int64_t>> rangeOf(const IndexRange &range, const Binding &binding);
/// Why no values can be drawn: the range is empty and the tensor is not, or it has not enough
/// values to be distinct. Empty when they can.
std::string rangeProblem(const Parameter &parameter, const Binding &binding);

/// Integers in [low, high): drawn at random with both ends among them, or, as the kind of data
/// says, all equal, at the ends alone, sorted, reversed, or few values again and again. `distinct`:
/// the dimension, from the end, along which none repeats, counting negative ones as what they wrap
/// to; 0: none.
void fillIndices(const runtime::Tensor &tensor, const Data &data, uint64_t seed, int64_t low,
                 int64_t high, int64_t distinct);

} // namespace nereid::definition
