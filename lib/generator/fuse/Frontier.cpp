// SPDX-License-Identifier: Apache-2.0
// Values of reductions that others need, see Frontier.h.
#include "lib/generator/fuse/Frontier.h"

namespace nereid::generator {

std::vector<const Node *> frontier(const std::vector<const Node *> &roots,
                                   const std::set<const Node *> &cut) {
  std::vector<const Node *> work = roots;
  std::set<const Node *> seen;
  std::map<uint32_t, const Node *> result;
  while (!work.empty()) {
    const Node *node = work.back();
    work.pop_back();
    if (!seen.insert(node).second) {
      continue;
    }
    const bool isPart = node->kind == NodeKind::Pick && cut.contains(node->inputs[0]);
    if (isPart || cut.contains(node)) {
      result[node->number] = node;
      continue;
    }
    work.insert(work.end(), node->inputs.begin(), node->inputs.end());
    for (const Affine &index : node->indices) {
      index.forEachAtom([&](const Atom &atom) {
        if (atom.node) {
          work.push_back(atom.node);
        }
      });
    }
  }
  std::vector<const Node *> values;
  for (const auto &[number, node] : result) {
    values.push_back(node);
  }
  return values;
}

} // namespace nereid::generator
