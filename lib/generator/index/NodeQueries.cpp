// SPDX-License-Identifier: Apache-2.0
#include "lib/generator/index/NodeQueries.h"

#include <algorithm>

namespace nereid::generator {

bool isNumber(const NodeParts &node, double value) {
  return node.kind == NodeKind::Const &&
         (isFloat(node.dtype) ? node.real : static_cast<double>(node.integer)) == value;
}

void forEachUsed(const Node &node, const std::function<void(const Node *)> &visit) {
  std::for_each(node.inputs.begin(), node.inputs.end(), visit);
  for (const Affine &index : node.indices) {
    index.forEachAtom([&](const Atom &atom) {
      if (atom.node) {
        visit(atom.node);
      }
    });
  }
}

std::vector<const Node *> reductionsOf(const std::vector<const Node *> &roots) {
  std::vector<const Node *> result = reachable(roots);
  std::erase_if(result, [](const Node *node) { return node->kind != NodeKind::Reduce; });
  return result;
}

} // namespace nereid::generator
