// SPDX-License-Identifier: Apache-2.0
// Results that the caller gives, `out=` in PyTorch's words: a keyword argument for each output that
// has memory of its own, under its name. A wrapper takes the memory in front of its launches and
// returns results behind them; the baseline checks the same and copies.
#pragma once

#include "lib/generator/WrapperNames.h"

#include <string>
#include <vector>

namespace nereid::generator {

/// ", *, out: torch.Tensor = None", or "" where each output is written into an input.
std::string resultParameters(const CalledOperator &called);
/// Functions that the lines below call. `isWrapper`: those of takenResults() too.
std::string resultFunctions(const CalledOperator &called, bool isWrapper);
/// Lines that bind each output to the memory that it is computed in.
std::vector<std::string> takenResults(const CalledOperator &called, const SizeNames &names);
/// Lines that look at the results that are given, and keep them under other names.
std::vector<std::string> checkedResults(const CalledOperator &called, const SizeNames &names);
/// What the function returns, from an expression for each output in order.
std::string returnedResults(const CalledOperator &called, const std::vector<std::string> &values);

} // namespace nereid::generator
