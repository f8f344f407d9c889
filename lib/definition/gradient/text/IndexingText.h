// SPDX-License-Identifier: Apache-2.0
// Reads and writes at indices from tensors as bodies spell them.
#pragma once

#include "lib/definition/operations/Operations.h"

namespace nereid::definition {

/// The call of an Indexing node; `operands` are the texts of its operands.
std::string indexingText(const Node &node, const Operator &op,
                         const std::vector<std::string> &operands);
/// Of them those that are indices.
std::vector<std::string> indicesOf(const Node &node, const std::vector<std::string> &operands);
/// x[:, i, j], or x[..., i] where the rank is open: `table` read at the node's indices.
std::string subscriptText(const std::string &table, const Node &node, const Operator &op,
                          const std::vector<std::string> &indices);
/// A bool attribute.
bool isTrue(const Node &node, const std::string &name, bool otherwise);

} // namespace nereid::definition
