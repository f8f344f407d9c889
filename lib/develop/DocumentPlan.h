// SPDX-License-Identifier: Apache-2.0
// What the definition document is told of the generator's plans: how each performance case is
// launched, how it would be otherwise, and what would be changed next.
#pragma once

#include "lib/document/Document.h"
#include "lib/generator/Generator.h"

#include <vector>

namespace nereid::develop {

/// The outline of a call with this schedule, by its kernel of the most elements; an empty kernel
/// name where none can be planned, or no element is computed.
document::LaunchOutline outlineOf(const generator::Generation &generation,
                                  const generator::Schedule &schedule,
                                  const definition::Binding &binding, DType dtype,
                                  const Machine &chip);

/// One plan for each performance case; none when a case cannot be planned.
std::vector<document::CasePlan> documentPlans(generator::Generation generation, DType dtype,
                                              const Machine &chip);

/// The launches of each performance case; none when a case cannot be planned.
std::vector<document::CallOutline> documentCalls(generator::Generation generation, DType dtype,
                                                 const Machine &chip);

/// What each finding would ask for, best expectation first; two for a case and finding at most.
std::vector<document::Remedy> documentRemedies(generator::Generation generation, DType dtype,
                                               const Machine &chip);

} // namespace nereid::develop
