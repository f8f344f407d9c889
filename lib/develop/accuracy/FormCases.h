// SPDX-License-Identifier: Apache-2.0
// Cases for the kernels that no size of the standard grid asks for: a stage has other forms for
// long lines, which stand in the file and are launched one day.
#pragma once

#include "lib/definition/cases/CaseGrid.h"
#include "lib/generator/Generator.h"

namespace nereid::develop {

/// Adds small cases in which one size is long, as far as they launch kernels that `grid` does not.
void addFormCases(std::vector<definition::GridCase> &grid, generator::Generation &generation,
                  const Machine &chip, DType dtype);

} // namespace nereid::develop
