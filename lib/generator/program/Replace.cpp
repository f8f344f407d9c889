// SPDX-License-Identifier: Apache-2.0
#include "lib/generator/program/Replace.h"

namespace nereid::generator {

void replaceIn(Store &store, IndexSpace &space, const NodeMap &replaced, const IndexMap &map) {
  for (Affine &index : store.index) {
    index = index.substitute(map, space, replaced);
  }
  store.value = replaced(store.value);
  store.guard = store.guard ? replaced(store.guard) : nullptr;
}

void replaceIn(std::vector<Store> &stores, Program &program,
               std::map<const Node *, const Node *> done,
               const std::function<bool(const Store &)> &among) {
  auto made = [&](NodeParts parts) { return program.nodes.make(std::move(parts)); };
  auto replaced = [&](const Node *node) {
    return program.nodes.rebuild(node, program.space, made, done);
  };
  for (Store &store : stores) {
    if (!among || among(store)) {
      replaceIn(store, program.space, replaced);
    }
  }
}

} // namespace nereid::generator
