// SPDX-License-Identifier: Apache-2.0
// Shape and type of one operation from those of its inputs. Stands between the operations table
// and whoever adds nodes to a graph: the body reader and the decomposition.
#pragma once

#include "lib/definition/operations/Operations.h"

namespace nereid::definition {

/// "x" for a named node, its source text otherwise.
std::string shownName(const Node &node);

/// Shape of `node`, whose op, inputs and attributes are set. Errors: E0604, without a place.
Result<SymbolicShape> inferShape(const Node &node, const std::vector<Node> &nodes);

/// Type of `node` when the operator runs in `operatorType`; `types` are those of earlier nodes.
DType inferDtype(const Node &node, const std::vector<Node> &nodes, const std::vector<DType> &types,
                 DType operatorType);

} // namespace nereid::definition
