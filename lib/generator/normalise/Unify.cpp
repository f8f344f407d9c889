// SPDX-License-Identifier: Apache-2.0
// Iterators that differ in name only, see Normalise.h.
#include "lib/generator/normalise/Normalise.h"

#include <algorithm>

namespace nereid::generator {
namespace {

using Pair = std::pair<IteratorId, IteratorId>; // what goes, what stays

class Unifier {
public:
  explicit Unifier(Program &program) : program(program) {}

  bool unifyOne() {
    const std::vector<const Node *> nodes = program.values();
    for (const Node *node : nodes) {
      seen.push_back(node->free);
      bound.insert(node->iterators.begin(), node->iterators.end());
    }
    for (const Stage &stage : program.stages) {
      for (const Store &store : stage.stores) {
        seen.push_back(program.iteratorsOf(store));
      }
    }
    std::vector<const Node *> loads;
    std::copy_if(nodes.begin(), nodes.end(), std::back_inserter(loads),
                 [](const Node *node) { return node->kind == NodeKind::Load; });
    for (size_t i = 0; i < loads.size(); ++i) {
      for (size_t j = i + 1; j < loads.size(); ++j) {
        if (loads[i]->buffer == loads[j]->buffer && unify(*loads[i], *loads[j])) {
          return true;
        }
      }
    }
    return false;
  }

private:
  bool unify(const Node &a, const Node &b) {
    std::vector<Pair> pairs;
    for (size_t dim = 0; dim < a.indices.size(); ++dim) {
      if (!match(a.indices[dim], b.indices[dim], pairs)) {
        return false;
      }
    }
    IndexMap map;
    std::set<IteratorId> stay;
    for (auto [goes, stays] : pairs) {
      auto known = map.find(goes);
      bool isOther = known != map.end() && known->second != Affine::iterator(stays);
      if (isOther || !isLegal(goes, stays)) {
        return false;
      }
      map[goes] = Affine::iterator(stays);
      stay.insert(stays);
    }
    bool isChain = std::any_of(stay.begin(), stay.end(),
                               [&](IteratorId iterator) { return map.contains(iterator); });
    if (map.empty() || isChain || stay.size() != map.size()) {
      return false;
    }
    program.substitute(map);
    return true;
  }

  bool isLegal(IteratorId goes, IteratorId stays) const {
    const Iterators &iterators = program.space.iterators;
    bool isSeenTogether =
        std::any_of(seen.begin(), seen.end(), [&](const std::set<IteratorId> &all) {
          return all.contains(goes) && all.contains(stays);
        });
    return iterators[goes].extent == iterators[stays].extent && !isSeenTogether;
  }

  /// Terms of iterators pair up by coefficient; all others are the same.
  bool match(const Affine &a, const Affine &b, std::vector<Pair> &pairs) const {
    std::map<Polynomial, std::vector<IteratorId>> ofA = byCoefficient(a), ofB = byCoefficient(b);
    if (a.constant() != b.constant() || others(a) != others(b) || ofA.size() != ofB.size()) {
      return false;
    }
    for (const auto &[coefficient, iterators] : ofA) {
      auto found = ofB.find(coefficient);
      if (found == ofB.end() || found->second.size() != iterators.size()) {
        return false;
      }
      for (size_t i = 0; i < iterators.size(); ++i) {
        IteratorId x = iterators[i], y = found->second[i];
        if (x != y) {
          // An iterator of a reduction stays: the result runs over its axis.
          bool isFirstKept = bound.contains(x) || !bound.contains(y);
          pairs.push_back(isFirstKept ? Pair(y, x) : Pair(x, y));
        }
      }
    }
    return true;
  }
  static std::map<Polynomial, std::vector<IteratorId>> byCoefficient(const Affine &value) {
    std::map<Polynomial, std::vector<IteratorId>> result;
    for (const auto &[atom, coefficient] : value.terms()) {
      if (atom.kind == Atom::Kind::Iterator) {
        result[coefficient].push_back(atom.iterator);
      }
    }
    return result;
  }
  static Affine::Terms others(const Affine &value) {
    Affine::Terms result = value.terms();
    std::erase_if(result, [](const auto &term) { return term.first.kind == Atom::Kind::Iterator; });
    return result;
  }

  Program &program;
  std::vector<std::set<IteratorId>> seen; ///< by each node and each store
  std::set<IteratorId> bound;
};

} // namespace

static size_t countOfLoads(const Program &program) {
  const std::vector<const Node *> nodes = program.values();
  return static_cast<size_t>(std::count_if(
      nodes.begin(), nodes.end(), [](const Node *node) { return node->kind == NodeKind::Load; }));
}

/// Each step makes one load of two. One that does not has met a reduction that binds what the other
/// runs over, whose iterators are named anew: the next step would undo it.
void unifyIterators(Program &program) {
  size_t before = countOfLoads(program);
  while (Unifier(program).unifyOne()) {
    const size_t after = countOfLoads(program);
    if (after >= before) {
      return;
    }
    before = after;
  }
}

} // namespace nereid::generator
