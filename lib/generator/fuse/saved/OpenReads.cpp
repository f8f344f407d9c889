// SPDX-License-Identifier: Apache-2.0
// Open reads, see OpenReads.h.
#include "lib/generator/fuse/saved/OpenReads.h"

#include "lib/generator/emit/DataReads.h"
#include "lib/generator/fuse/split/Parts.h"
#include "lib/generator/index/NodeQueries.h"

#include <algorithm>

namespace nereid::generator {
bool readsAtConditionalIndex(const std::vector<const Node *> &roots,
                             const std::vector<const Node *> &values) {
  const std::vector<const Node *> needed = reachable(values), all = reachable(roots);
  return std::any_of(needed.begin(), needed.end(),
                     [](const Node *node) { return readsAtData(*node); }) &&
         std::any_of(all.begin(), all.end(),
                     [](const Node *node) { return isMap(*node, "where"); });
}

const Node *withoutPromises(Program &program, const Node *value) {
  NodeTable &nodes = program.nodes;
  auto made = [&](NodeParts parts) {
    if (!readsAtData(parts)) {
      return nodes.make(std::move(parts));
    }
    const std::vector<Affine> indices = parts.indices;
    const std::vector<Polynomial> sizes = program.buffers[parts.buffer].sizes;
    const Node *read = nodes.make(std::move(parts));
    for (size_t dim = 0; dim < indices.size(); ++dim) {
      const Affine last = Affine(sizes[dim] - 1) - indices[dim];
      if (readsIndex({indices[dim]}) || !isNonNegative(indices[dim], program.space) ||
          !isNonNegative(last, program.space)) {
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
