// SPDX-License-Identifier: Apache-2.0
// Cases and their tensors as the Python programs have them.
#pragma once

#include "lib/generator/Generator.h"
#include "lib/generator/WrapperNames.h"

#include <string>
#include <vector>

namespace nereid::generator {

/// "(3, 7)", "(3,)", "()".
std::string tupleText(const std::vector<std::string> &items);
/// A line of CASES: name and sizes, and what stands `behind` them.
std::string caseRow(const definition::Case &one, const SizeNames &names, const std::string &behind);
/// The function `make_inputs`, which draws a case's tensors; `widest`: where infinities are put.
std::string inputFunction(const Generation &generation, const SizeNames &names,
                          const std::string &widest);
/// CUT_INPUTS and CUT_RESULTS: how many dimensions follow the leading ones, along which a large
/// case is judged in parts; None for what stays whole, and everywhere when rows may meet.
std::string cutTables(const FusedOperator &fused);

} // namespace nereid::generator
