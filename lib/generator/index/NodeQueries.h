// SPDX-License-Identifier: Apache-2.0
// What passes over values ask of nodes.
#pragma once

#include "lib/generator/index/Node.h"

#include <functional>
#include <string_view>

namespace nereid::generator {

inline bool isAccess(const NodeParts &node) {
  return node.kind == NodeKind::Load || node.kind == NodeKind::Ref;
}
inline bool isMap(const NodeParts &node, std::string_view operation) {
  return node.kind == NodeKind::Map && node.name == operation;
}
/// Whether the node is this number; both zeros are 0.
bool isNumber(const NodeParts &node, double value);

/// The nodes that a node uses itself: its inputs, and those that its indices are made of.
void forEachUsed(const Node &node, const std::function<void(const Node *)> &visit);

/// The reductions among what these values use, themselves included, inputs first.
std::vector<const Node *> reductionsOf(const std::vector<const Node *> &roots);

} // namespace nereid::generator
