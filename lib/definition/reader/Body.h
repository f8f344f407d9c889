// SPDX-License-Identifier: Apache-2.0
// The computation of a definition: Python text with PyTorch's names, read into graph nodes. Stands
// between the language parser and the operator graph.
#pragma once

#include "lib/definition/Graph.h"

namespace nereid::definition {

/// Where a body stands in its file, so that carets point into the definition.
struct BodyPlace {
  std::string path;
  std::string fileText;
  int firstLine = 1;   ///< line of the file that holds the body's first line
  int firstColumn = 1; ///< column at which that first line starts
  int added = 0;       ///< lines of the body in front of that one, which the file does not have
};

/// Appends the nodes of op.body to op.nodes (which holds the parameters already) and fills
/// op.outputs from op.outputNames. False when errors were reported: E0603, E0604, E0608.
bool readBody(Operator &op, const BodyPlace &place, Diagnostics &diags);

} // namespace nereid::definition
