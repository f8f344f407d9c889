// SPDX-License-Identifier: Apache-2.0
// What one operation of a graph computes, as factors and symbolic sizes: what the document derives
// its sums from, and countWork() its numbers.
#pragma once

#include "lib/definition/Graph.h"

namespace nereid::definition {

/// `factor` operations for each element of a tensor of this shape.
struct FlopTerm {
  double factor = 0;
  SymbolicShape elements;
};
/// Sum of the floating-point operations of a node; empty for leaves and views. A reduction counts
/// for each element that it reads, a product for each pair, others for each element of the result.
std::vector<FlopTerm> flopTerms(const Operator &op, const Node &node);

/// Whether another node, or an output, reads this one.
bool isUsed(const Operator &op, size_t node);
/// Moves nothing: whoever reads it reads the elements where they are.
bool isView(const Node &node);

} // namespace nereid::definition
