// SPDX-License-Identifier: Apache-2.0
// Which kind of change an edit is: of words, of a parameter (blocks, cases, targets), of the
// interface (what a call looks like and is checked for) or of the logic (what is computed).
#pragma once

#include "lib/definition/Graph.h"
#include "lib/develop/edits/LineDiff.h"

#include <string>
#include <vector>

namespace nereid::develop {

/// In the order of what must follow; the greatest of several edits counts.
enum class EditClass { None, Text, Parameter, Interface, Logic };
std::string_view editClassName(EditClass editClass); ///< "none", "text", "parameter", …

/// One definition against another: the class, and why, one line for each finding.
struct DefinitionChange {
  EditClass editClass = EditClass::None;
  std::vector<std::string> reasons; ///< "input 'bias' has shape [D], now [1]"
};
DefinitionChange classify(const definition::Operator &before, const definition::Operator &after);

/// Hunks of the kernel's file: Text when only comments and spaces differ, Parameter when all of it
/// is in the table of schedules or in numbers that are given to a constant of the schedules, else
/// Logic.
EditClass classifyKernel(const std::string &before, const std::string &after,
                         const std::vector<Hunk> &hunks);
/// Of a C++ file: Text for comments and spaces, else Logic.
EditClass classifyCpp(const std::vector<Hunk> &hunks);

} // namespace nereid::develop
