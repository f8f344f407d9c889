// SPDX-License-Identifier: Apache-2.0
// Votes of accesses, see Contiguity.h.
#include "lib/generator/template/Contiguity.h"

#include <algorithm>

namespace nereid::generator {

std::vector<Access> accessesOf(const Program &program, const std::vector<Store> &stores) {
  std::vector<Access> result;
  auto add = [&](BufferId id, const std::vector<Affine> &index, int64_t times) {
    const Buffer &buffer = program.buffers[id];
    result.push_back({&buffer, &index, times * static_cast<int64_t>(sizeInBytes(buffer.dtype))});
  };
  for (const Store &store : stores) {
    add(store.buffer, store.index, 2);
  }
  for (const Node *node : reachable(rootsOf(stores))) {
    if (node->kind == NodeKind::Load || node->kind == NodeKind::Ref) {
      add(node->buffer, node->indices, 1);
    }
  }
  return result;
}

std::map<IteratorId, Polynomial> stepsOf(const Access &access) {
  std::map<IteratorId, Polynomial> steps;
  for (size_t dim = 0; dim < access.index->size(); ++dim) {
    for (const auto &[atom, coefficient] : (*access.index)[dim].terms()) {
      if (atom.kind == Atom::Kind::Iterator) {
        steps[atom.iterator] = steps[atom.iterator] + coefficient * access.buffer->strides[dim];
      }
    }
  }
  return steps;
}

std::optional<IteratorId> mostContiguous(const std::vector<Access> &accesses,
                                         const std::vector<IteratorId> &among,
                                         std::optional<IteratorId> also) {
  std::map<IteratorId, int64_t> votes;
  for (const Access &access : accesses) {
    const std::map<IteratorId, Polynomial> steps = stepsOf(access);
    for (const auto &[iterator, step] : steps) {
      const bool isContiguous = step.isOne() || (-step).isOne();
      votes[iterator] += isContiguous && (!also || steps.contains(*also)) ? access.weight : 0;
    }
  }
  std::optional<IteratorId> most;
  for (IteratorId iterator : among) {
    most = votes[iterator] > 0 && (!most || votes[iterator] >= votes[*most]) ? iterator : most;
  }
  return most;
}

std::vector<IteratorId> orderOf(const Program &program, const std::vector<Store> &stores) {
  std::vector<IteratorId> order;
  auto add = [&](IteratorId iterator) {
    if (std::find(order.begin(), order.end(), iterator) == order.end()) {
      order.push_back(iterator);
    }
  };
  for (const Affine &index : stores[0].index) {
    index.forEachAtom([&](const Atom &atom) {
      if (atom.kind == Atom::Kind::Iterator) {
        add(atom.iterator);
      }
    });
  }
  for (IteratorId iterator : program.iteratorsOf(stores[0])) {
    add(iterator);
  }
  return order;
}

} // namespace nereid::generator
