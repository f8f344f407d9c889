// SPDX-License-Identifier: Apache-2.0
// Votes of accesses, see Contiguity.h.
#include "lib/generator/template/access/Contiguity.h"

#include "lib/generator/index/NodeQueries.h"

#include <algorithm>
#include <functional>

namespace nereid::generator {
namespace {

/// Longest iterator that makes an access no larger to speak of.
constexpr int64_t longestShort = 7;

/// How many iterators an access is indexed by, those of indices that are data included and those of
/// a few elements not.
size_t rankOf(const Access &access, const IndexSpace &space) {
  std::set<IteratorId> iterators;
  for (const Affine &index : *access.index) {
    index.collect(iterators);
  }
  std::erase_if(iterators, [&](IteratorId each) {
    return space.symbols.isAtMost(space.iterators[each].extent, longestShort);
  });
  return iterators.size();
}

} // namespace

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
    if (isAccess(*node)) {
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

std::optional<IteratorId> mostContiguous(const Program &program,
                                         const std::vector<Access> &accesses,
                                         const std::vector<IteratorId> &among,
                                         std::optional<IteratorId> also) {
  std::map<size_t, std::map<IteratorId, int64_t>, std::greater<>> ranks;
  for (const Access &access : accesses) {
    const std::map<IteratorId, Polynomial> steps = stepsOf(access);
    for (const auto &[iterator, step] : steps) {
      if ((step.isOne() || (-step).isOne()) && (!also || steps.contains(*also))) {
        ranks[rankOf(access, program.space)][iterator] += access.weight;
      }
    }
  }
  std::vector<IteratorId> best = among;
  bool isVoted = false;
  for (auto &[rank, votes] : ranks) {
    int64_t most = 0;
    for (IteratorId each : best) {
      most = std::max(most, votes[each]);
    }
    isVoted |= most > 0;
    std::erase_if(best, [&](IteratorId each) { return votes[each] < most; });
  }
  return isVoted ? std::optional(best.back()) : std::nullopt;
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

std::vector<IteratorId> inOrder(const std::vector<IteratorId> &order,
                                const std::vector<IteratorId> &some) {
  std::vector<IteratorId> result;
  std::copy_if(order.begin(), order.end(), std::back_inserter(result), [&](IteratorId each) {
    return std::find(some.begin(), some.end(), each) != some.end();
  });
  return result;
}

} // namespace nereid::generator
