// SPDX-License-Identifier: Apache-2.0
// Sums over leading dimensions, "..." among them. Their attribute "dim" has the places in the
// symbolic shape; where ranks are known, "leading" says how many dimensions at the end stay.
#pragma once

#include "lib/definition/Graph.h"

namespace nereid::definition {

/// How many dimensions at the end such a sum keeps; nothing of other operations.
std::optional<int64_t> keptOfLeading(const Node &node);
/// Such a sum of a tensor of this rank, with the dimensions that it has; false where there are none
/// to sum.
bool withRank(std::map<std::string, Attribute> &attributes, int64_t rank);

} // namespace nereid::definition
