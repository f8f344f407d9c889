// SPDX-License-Identifier: Apache-2.0
// Sums of iterators become iterators, see JoinedIterators.h.
#include "lib/generator/fuse/JoinedIterators.h"

#include "lib/generator/index/NodeQueries.h"
#include "lib/generator/normalise/Normalise.h"
#include "lib/generator/program/Guards.h"

#include <algorithm>

namespace nereid::generator {
namespace {

/// One iterator and positive multiples of others.
struct IteratorSum {
  IteratorId first = 0;
  std::map<IteratorId, Polynomial> others;

  Affine index() const {
    Affine result = Affine::iterator(first);
    for (const auto &[iterator, times] : others) {
      result = result + Affine::iterator(iterator) * times;
    }
    return result;
  }
};

/// Every index expression of the value, those inside of divisions included.
std::vector<const Affine *> indicesOf(const Node *value) {
  std::vector<const Affine *> result;
  for (const Node *node : reachable({value})) {
    for (const Affine &index : node->indices) {
      result.push_back(&index);
      index.forEachAtom([&](const Atom &atom) {
        if (atom.argument) {
          result.push_back(atom.argument.get());
        }
      });
    }
  }
  return result;
}

/// How often `other` stands where `first` stands once; nothing where it stands anywhere else.
std::optional<Polynomial> timesOf(IteratorId other, IteratorId first,
                                  const std::vector<const Affine *> &indices,
                                  const Symbols &symbols) {
  std::optional<Polynomial> times;
  for (const Affine *index : indices) {
    const Polynomial own = index->coefficient(first), its = index->coefficient(other);
    if (own.isZero() && its.isZero()) {
      continue;
    }
    const std::optional<Polynomial> here = own.isZero() ? std::nullopt : its.dividedBy(own);
    if (!here || !symbols.isPositive(*here) || (times && *times != *here)) {
      return std::nullopt;
    }
    times = here;
  }
  return times;
}

/// The free iterators that no reduction inside of the value binds.
std::set<IteratorId> openIn(const Node *value) {
  std::set<IteratorId> result = value->free;
  for (const Node *node : reachable({value})) {
    for (IteratorId bound : node->iterators) {
      result.erase(bound);
    }
  }
  return result;
}

std::optional<IteratorSum> sumIn(const Node *value, const Program &program) {
  const std::vector<const Affine *> indices = indicesOf(value);
  const std::set<IteratorId> open = openIn(value);
  for (IteratorId first : open) {
    IteratorSum sum{first, {}};
    for (IteratorId other : open) {
      const auto times =
          other == first ? std::nullopt : timesOf(other, first, indices, program.space.symbols);
      if (times) {
        sum.others.emplace(other, *times);
      }
    }
    if (!sum.others.empty()) {
      return sum;
    }
  }
  return std::nullopt;
}

/// The lowest of the polynomials that index does not exceed, as far as they can be compared.
Polynomial lowest(const std::vector<Polynomial> &ends, const Symbols &symbols) {
  Polynomial result = ends.at(0);
  for (const Polynomial &end : ends) {
    result = symbols.isAtMost(end, result) ? end : result;
  }
  return result;
}

struct Range {
  Polynomial begin, extent;
};

std::optional<Range> rangeOf(const Affine &sum, const Guards &guards, const Symbols &symbols) {
  const std::vector<Polynomial> ends = guards.upperEnds(sum), begins = guards.upperEnds(sum * -1);
  if (ends.empty() || begins.empty()) {
    return std::nullopt;
  }
  const Polynomial begin = -lowest(begins, symbols);
  const Polynomial extent = lowest(ends, symbols) - begin + 1;
  return symbols.isNonNegative(extent) ? std::optional(Range{begin, extent}) : std::nullopt;
}

} // namespace

JoinedValue joinIterators(Program &program, const Node *value, const Conditions &around) {
  JoinedValue result{value, {}};
  Guards guards(program.space);
  for (const Condition &each : around) {
    guards.add(each.node, each.holds);
  }
  while (const std::optional<IteratorSum> sum = sumIn(result.value, program)) {
    const Affine index = sum->index().substitute(result.at, program.space, {});
    std::optional<Range> range = rangeOf(index, guards, program.space.symbols);
    if (!range) {
      range = rangeOf(index, Guards(program.space), program.space.symbols);
    }
    if (!range) {
      return result;
    }
    const IteratorId joined =
        program.space.iterators.add(range->extent, program.space.iterators[sum->first].name);
    IndexMap map = {{sum->first, Affine::iterator(joined) + Affine(range->begin)}};
    for (const auto &[other, times] : sum->others) {
      map[other] = 0;
    }
    result.value = program.nodes.substitute(result.value, map, program.space);
    result.at[joined] = index - Affine(range->begin);
  }
  if (!result.at.empty()) {
    result.value = folded(program, result.value);
  }
  return result;
}

Conditions conditionsAround(const std::vector<Store> &stores, const Node *value) {
  std::map<const Node *, Conditions> around;
  auto need = [&](const Node *node, const Conditions &here) {
    const auto [known, isNew] = around.try_emplace(node, here);
    if (!isNew) {
      std::erase_if(known->second, [&](const Condition &each) {
        return std::find(here.begin(), here.end(), each) == here.end();
      });
    }
  };
  auto needIndices = [&](const std::vector<Affine> &indices, const Conditions &here) {
    for (const Affine &index : indices) {
      index.forEachAtom([&](const Atom &atom) {
        if (atom.node) {
          need(atom.node, here);
        }
      });
    }
  };
  for (const Store &store : stores) {
    Conditions guard;
    if (store.guard) {
      addConditions(store.guard, true, guard);
      need(store.guard, {});
    }
    need(store.value, guard);
    needIndices(store.index, {});
  }
  std::vector<const Node *> nodes = reachable(rootsOf(stores));
  for (auto node = nodes.rbegin(); node != nodes.rend(); ++node) { // what needs it comes first
    const Conditions here = apartFrom((*node)->iterators, around[*node]);
    for (size_t input = 0; input < (*node)->inputs.size(); ++input) {
      Conditions inner = here;
      if (isMap(**node, "where") && input > 0) {
        addConditions((*node)->inputs[0], input == 1, inner);
      }
      need((*node)->inputs[input], inner);
    }
    needIndices((*node)->indices, here);
  }
  return around[value];
}

} // namespace nereid::generator
