// SPDX-License-Identifier: Apache-2.0
// What iterators of one value would be in another one is read off both side by side; whether
// the values are then the same is what the table of nodes says.
#include "lib/generator/fuse/Renaming.h"

#include <algorithm>

namespace nereid::generator {
namespace {

class Renaming {
public:
  /// False where the values differ by more than iterators' names, as far as that is seen here.
  bool readAll(const Node *from, const Node *to) {
    if (!read(from, to)) {
      return false;
    }
    readSums();
    return true;
  }

  std::map<IteratorId, IteratorId> names;

private:
  bool read(const Node *from, const Node *to) {
    const bool areAlike = from->kind == to->kind && from->name == to->name &&
                          from->dtype == to->dtype && from->buffer == to->buffer &&
                          from->inputs.size() == to->inputs.size() &&
                          from->indices.size() == to->indices.size() &&
                          from->iterators.size() == to->iterators.size();
    if (!areAlike) {
      return false;
    }
    if (!met.emplace(from, to).second) {
      return true;
    }
    for (size_t i = 0; i < from->iterators.size(); ++i) {
      if (!pair(from->iterators[i], to->iterators[i])) {
        return false;
      }
    }
    for (size_t i = 0; i < from->indices.size(); ++i) {
      if (!read(from->indices[i], to->indices[i])) {
        return false;
      }
    }
    for (size_t i = 0; i < from->inputs.size(); ++i) {
      if (!read(from->inputs[i], to->inputs[i])) {
        return false;
      }
    }
    return true;
  }

  bool read(const Affine &from, const Affine &to) {
    if (from.terms().size() != to.terms().size() || from.constant() != to.constant()) {
      return false;
    }
    for (const auto &[atom, coefficient] : from.terms()) {
      auto isLike = [&](const auto &term) {
        return term.first.kind == atom.kind && term.first.size == atom.size &&
               term.second == coefficient;
      };
      const auto like = std::find_if(to.terms().begin(), to.terms().end(), isLike);
      if (like == to.terms().end()) {
        return false;
      }
      if (std::count_if(to.terms().begin(), to.terms().end(), isLike) > 1) {
        sums.emplace_back(&from, &to);
      } else if (!read(atom, like->first)) {
        return false;
      }
    }
    return true;
  }

  /// Of `i + k` each may be either of `j + l`: once one is known the other is what is left.
  void readSums() {
    for (const auto &[from, to] : sums) {
      for (const auto &[atom, coefficient] : from->terms()) {
        if (atom.kind != Atom::Kind::Iterator || names.contains(atom.iterator)) {
          continue;
        }
        std::vector<IteratorId> left;
        for (const auto &[other, factor] : to->terms()) {
          if (other.kind == Atom::Kind::Iterator && factor == coefficient &&
              !taken.contains(other.iterator)) {
            left.push_back(other.iterator);
          }
        }
        if (left.size() == 1) {
          pair(atom.iterator, left[0]);
        }
      }
    }
  }

  bool read(const Atom &from, const Atom &to) {
    switch (from.kind) {
    case Atom::Kind::Iterator:
      return pair(from.iterator, to.iterator);
    case Atom::Kind::Data:
      return read(from.node, to.node);
    default:
      return read(*from.argument, *to.argument);
    }
  }

  bool pair(IteratorId from, IteratorId to) {
    const auto [known, isNew] = names.emplace(from, to);
    return known->second == to && (!isNew || taken.insert(to).second);
  }

  std::set<IteratorId> taken;
  std::vector<std::pair<const Affine *, const Affine *>> sums;
  std::set<std::pair<const Node *, const Node *>> met;
};

} // namespace

std::optional<std::map<IteratorId, IteratorId>> renamingOf(Program &program, const Node *from,
                                                           const Node *to) {
  if (from == to) {
    std::map<IteratorId, IteratorId> itself;
    for (IteratorId each : from->free) {
      itself[each] = each;
    }
    return itself;
  }
  Renaming renaming;
  if (!renaming.readAll(from, to)) {
    return std::nullopt;
  }
  IndexMap map;
  for (const auto &[own, other] : renaming.names) {
    if (program.space.iterators[own].extent != program.space.iterators[other].extent) {
      return std::nullopt;
    }
    map[own] = Affine::iterator(other);
  }
  const bool areKnown = std::all_of(from->free.begin(), from->free.end(),
                                    [&](IteratorId each) { return map.contains(each); });
  return areKnown && program.nodes.substitute(from, map, program.space) == to
             ? std::optional(std::move(renaming.names))
             : std::nullopt;
}

} // namespace nereid::generator
