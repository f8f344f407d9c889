// SPDX-License-Identifier: Apache-2.0
// Values that stages have left in memory, see SavedValues.h.
#include "lib/generator/fuse/saved/SavedValues.h"

#include <algorithm>

namespace nereid::generator {

void SavedValues::add(const Node *value, BufferId buffer, BufferId owner) {
  all.push_back({value, buffer, owner});
}

/// Nothing that it reads is written a second time.
bool SavedValues::isLasting(const Node *value) const {
  std::map<BufferId, int> writes;
  for (const Stage &stage : program.stages) {
    for (const Store &store : stage.stores) {
      ++writes[program.baseOf(store.buffer)];
    }
  }
  const std::vector<const Node *> nodes = reachable({value});
  return std::all_of(nodes.begin(), nodes.end(), [&](const Node *node) {
    const int most = node->kind == NodeKind::Ref ? 1 : 0;
    const bool isRead = node->kind == NodeKind::Ref || node->kind == NodeKind::Load;
    auto found = isRead ? writes.find(program.baseOf(node->buffer)) : writes.end();
    return found == writes.end() || found->second <= most;
  });
}

const Node *SavedValues::find(const Node *value, BufferId owner,
                              const std::set<BufferId> &isApart) {
  for (const Saved &saved : all) {
    if (saved.owner != owner && (isApart.contains(saved.owner) || isApart.contains(owner))) {
      continue;
    }
    const auto called = names.renaming(saved.value, value);
    if (!called || !isLasting(value)) {
      continue;
    }
    NodeParts ref{NodeKind::Ref, value->dtype};
    ref.buffer = saved.buffer;
    for (IteratorId iterator : saved.value->free) {
      ref.indices.push_back(Affine::iterator(called->at(iterator)));
    }
    return program.nodes.make(std::move(ref));
  }
  return nullptr;
}

} // namespace nereid::generator
