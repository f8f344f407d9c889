// SPDX-License-Identifier: Apache-2.0
// Nodes of a model that are attention written out: a product, what is computed of its scores, a
// softmax of them, and the product with the values.
//
//   MatMul  Div  Add | Where  Softmax  MatMul          scores and weights are read by these alone
//
// Nodes are only collected here. Whether one kernel computes them is asked of the generator, by the
// definition that `nereid import` makes of them: another axis, another broadcast or a mask that
// depends on a product are its to judge.
#pragma once

#include "lib/importer/analysis/ModelCost.h"

#include <vector>

namespace nereid::importer {

/// For each softmax between two products, the nodes that one kernel computes, in order.
/// Transpositions that only they need, and one of the result that nobody else reads, are among
/// them. The shapes of all values are known in numbers.
std::vector<std::vector<size_t>> findAttention(const Model &model,
                                               const std::vector<NodeCost> &costs);

} // namespace nereid::importer
