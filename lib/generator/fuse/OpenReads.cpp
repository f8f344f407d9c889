// SPDX-License-Identifier: Apache-2.0
// Open reads, see OpenReads.h.
#include "lib/generator/fuse/OpenReads.h"

#include "lib/generator/emit/AccessMask.h"
#include "lib/generator/fuse/split/Parts.h"

#include <algorithm>

namespace nereid::generator {
namespace {

bool isReadAtData(const NodeParts &parts) {
  return (parts.kind == NodeKind::Load || parts.kind == NodeKind::Ref) && readsIndex(parts.indices);
}

} // namespace

bool readsAtConditionalIndex(const std::vector<const Node *> &roots,
                             const std::vector<const Node *> &values) {
  const std::vector<const Node *> needed = reachable(values), all = reachable(roots);
  return std::any_of(needed.begin(), needed.end(),
                     [](const Node *node) { return isReadAtData(*node); }) &&
         std::any_of(all.begin(), all.end(), [](const Node *node) {
           return node->kind == NodeKind::Map && node->name == "where";
         });
}

const Node *withoutPromises(Program &program, const Node *value) {
  NodeTable &nodes = program.nodes;
  auto made = [&](NodeParts parts) {
    if (!isReadAtData(parts)) {
      return nodes.make(std::move(parts));
    }
    const std::vector<Affine> indices = parts.indices;
    const std::vector<Polynomial> sizes = program.buffers[parts.buffer].sizes;
    const Node *read = nodes.make(std::move(parts));
    for (size_t dim = 0; dim < indices.size(); ++dim) {
      if (readsIndex({indices[dim]})) {
        const Node *isPositive =
            nodes.map("ge", DType::Bool, {nodes.index(indices[dim]), nodes.integer(0, DType::I64)});
        const Node *inside = nodes.map("logical_and", DType::Bool,
                                       {isPositive, isBelow(program, indices[dim], sizes[dim])});
        read = selectedInside(program, inside, read, 0);
      }
    }
    return read;
  };
  std::map<const Node *, const Node *> done;
  return nodes.rebuild(value, program.space, made, done);
}

} // namespace nereid::generator
