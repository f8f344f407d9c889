// SPDX-License-Identifier: Apache-2.0
// Functions that return two reductions of the same arguments: aminmax, var_mean, std_mean (the rows
// NEREID_BOTH of operations.def).
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace nereid::definition {

struct ReductionPair {
  std::string name, first, second;
};

/// By the function's name; null when it is no such function.
const ReductionPair *findReductionPair(std::string_view name);
/// Functions that return two tensors: these, and those that say where values are as well.
std::vector<std::string> pairNames();

} // namespace nereid::definition
