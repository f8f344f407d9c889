// SPDX-License-Identifier: Apache-2.0
// Cases for the kernels that no size of the standard grid asks for: a stage has other forms for
// long lines, which stand in the file and are launched one day. Where a choice of the schedule
// decides between forms, a line of two thousand is long enough for the other one; a line of a
// million that is sorted besides would take seconds.
#pragma once

#include "lib/definition/cases/CaseGrid.h"
#include "lib/generator/Generator.h"

#include <set>
#include <string>

namespace nereid::develop {

/// Adds small cases in which one size is long, first those that choose a form, as far as they
/// launch kernels that neither `grid` nor, of other types, `launched` does. All that are launched
/// are in `launched` afterwards.
void addFormCases(std::vector<definition::GridCase> &grid, generator::Generation &generation,
                  const Machine &chip, DType dtype, std::set<std::string> &launched);

/// The schedule of the case's sizes, with what the case itself chooses.
generator::Schedule scheduleOf(const definition::GridCase &grid, generator::Generation &generation,
                               const Machine &chip, DType dtype);

} // namespace nereid::develop
