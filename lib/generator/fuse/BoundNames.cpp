// SPDX-License-Identifier: Apache-2.0
// Renaming from the innermost reductions outwards, see BoundNames.h.
#include "lib/generator/fuse/BoundNames.h"

#include "lib/generator/fuse/Renaming.h"

#include <algorithm>

namespace nereid::generator {

std::optional<std::map<IteratorId, IteratorId>> BoundNames::renaming(const Node *from,
                                                                     const Node *to) {
  return renamingOf(program, renamed(from), renamed(to));
}

const Node *BoundNames::renamed(const Node *value) {
  return program.nodes.rebuild(
      value, program.space, [&](NodeParts parts) { return made(std::move(parts)); }, done);
}

const Node *BoundNames::made(NodeParts parts) {
  if (parts.kind != NodeKind::Reduce) {
    return program.nodes.make(std::move(parts));
  }
  int64_t height = 1;
  for (const Node *input : parts.inputs) {
    height = std::max(height, heightOf(input) + 1);
  }
  IndexMap map;
  for (size_t place = 0; place < parts.iterators.size(); ++place) {
    IteratorId &bound = parts.iterators[place];
    const IteratorId own = iteratorOf(height, place, program.space.iterators[bound]);
    map[bound] = Affine::iterator(own);
    bound = own;
  }
  for (const Node *&input : parts.inputs) {
    input = program.nodes.substitute(input, map, program.space);
  }
  return program.nodes.make(std::move(parts));
}

int64_t BoundNames::heightOf(const Node *node) {
  for (const Node *each : reachable({node})) {
    if (heights.contains(each)) {
      continue;
    }
    int64_t height = 0;
    auto raise = [&](const Node *input) { height = std::max(height, heights.at(input)); };
    std::for_each(each->inputs.begin(), each->inputs.end(), raise);
    for (const Affine &index : each->indices) {
      index.forEachAtom([&](const Atom &atom) {
        if (atom.node) {
          raise(atom.node);
        }
      });
    }
    heights[each] = height + (each->kind == NodeKind::Reduce ? 1 : 0);
  }
  return heights.at(node);
}

IteratorId BoundNames::iteratorOf(int64_t height, size_t place, const Iterator &like) {
  for (const auto &[ofHeight, ofPlace, iterator] : iterators) {
    if (ofHeight == height && ofPlace == place &&
        program.space.iterators[iterator].extent == like.extent) {
      return iterator;
    }
  }
  const IteratorId made = program.space.iterators.add(Polynomial(like.extent), "bound");
  iterators.emplace_back(height, place, made);
  return made;
}

} // namespace nereid::generator
