// SPDX-License-Identifier: Apache-2.0
// Cases for the kernels that no size of the standard grid asks for: a stage has other forms for
// long lines, which stand in the file and are launched one day.
#pragma once

#include "lib/definition/cases/CaseGrid.h"
#include "lib/generator/Generator.h"

#include <set>
#include <string>

namespace nereid::develop {

/// Adds small cases in which one size is long, as far as they launch kernels that neither `grid`
/// nor, of other types, `launched` does. All that are launched are in `launched` afterwards.
void addFormCases(std::vector<definition::GridCase> &grid, generator::Generation &generation,
                  const Machine &chip, DType dtype, std::set<std::string> &launched);

} // namespace nereid::develop
