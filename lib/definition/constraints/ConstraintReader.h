// SPDX-License-Identifier: Apache-2.0
// A constraint's text to a Constraint. What it names must exist, and both sides be of one kind;
// everything else is E0616 with the place in the definition.
#pragma once

#include "lib/definition/Graph.h"

namespace nereid::definition {

/// Where the text begins in the file it is from.
struct ConstraintPlace {
  const std::string &path, &fileText;
  int line = 0, column = 0;
};

/// Appends to op.constraints; "a and b" makes two of them. Needs op.parameters. False after an
/// error was reported.
bool readConstraint(Operator &op, const std::string &text, const ConstraintPlace &place,
                    Diagnostics &diags);

} // namespace nereid::definition
