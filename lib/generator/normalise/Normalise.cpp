// SPDX-License-Identifier: Apache-2.0
// The order of the passes, and the smallest ones, see Normalise.h.
#include "lib/generator/normalise/Normalise.h"

#include "lib/generator/normalise/Flatten.h"
#include "lib/generator/program/Guards.h"

#include <algorithm>
#include <functional>
#include <numeric>

namespace nereid::generator {
namespace {

std::set<IteratorId> used(const Program &program) {
  std::set<IteratorId> result;
  for (const Affine &index : program.indices()) {
    index.collect(result);
  }
  for (const Node *node : program.values()) {
    result.insert(node->iterators.begin(), node->iterators.end());
  }
  return result;
}

/// Iterators of lines keep their extent: a Scan and an Order bind one.
std::set<IteratorId> ofLines(const Program &program) {
  std::set<IteratorId> result;
  for (const Node *node : program.values()) {
    if (node->kind == NodeKind::Scan || node->kind == NodeKind::Order) {
      result.insert(node->iterators.begin(), node->iterators.end());
    }
  }
  return result;
}

size_t countDivisions(const std::vector<Affine> &indices) {
  return std::transform_reduce(indices.begin(), indices.end(), size_t{0}, std::plus<>(),
                               divisionsIn);
}

struct Split {
  IteratorId iterator;
  Polynomial inner;
};

/// The parts of iterators that divisions see, smallest first.
std::vector<Split> proposals(const Program &program, const std::vector<Affine> &indices) {
  std::vector<Split> result;
  auto propose = [&](IteratorId iterator, const Polynomial &inner) {
    const Polynomial &extent = program.space.iterators[iterator].extent;
    bool isPart = !inner.isOne() && inner != extent && extent.dividedBy(inner).has_value();
    bool isKnown = std::any_of(result.begin(), result.end(), [&](const Split &split) {
      return split.iterator == iterator && split.inner == inner;
    });
    if (isPart && !isKnown && program.space.symbols.isPositive(inner)) {
      result.push_back({iterator, inner});
    }
  };
  for (const Affine &index : indices) {
    index.forEachAtom([&](const Atom &atom) {
      if (!atom.isDivision()) {
        return;
      }
      for (const auto &[inner, coefficient] : atom.argument->terms()) {
        if (inner.kind == Atom::Kind::Iterator) {
          // The part of n that the coefficient lacks.
          Polynomial common = commonTerm(coefficient, atom.size);
          propose(inner.iterator, *atom.size.dividedBy(common));
          if (auto rest = atom.size.dividedBy(coefficient)) {
            propose(inner.iterator, *rest);
          }
          propose(inner.iterator,
                  commonTerm(atom.size, program.space.iterators[inner.iterator].extent));
        }
      }
    });
  }
  return result;
}

bool splitOne(Program &program) {
  const std::vector<Affine> indices = program.indices();
  const size_t before = countDivisions(indices);
  if (before == 0) {
    return false;
  }
  const std::set<IteratorId> lines = ofLines(program);
  auto same = [](const Node *node) { return node; };
  for (const Split &split : proposals(program, indices)) {
    if (lines.contains(split.iterator)) {
      continue;
    }
    const Iterator whole = program.space.iterators[split.iterator];
    Iterators restored = program.space.iterators;
    IteratorId outer =
        program.space.iterators.add(*whole.extent.dividedBy(split.inner), whole.name + "_o");
    IteratorId inner = program.space.iterators.add(split.inner, whole.name + "_i");
    IndexMap map{{split.iterator, Affine::iterator(outer) * split.inner + Affine::iterator(inner)}};
    std::vector<Affine> tried;
    for (const Affine &index : indices) {
      tried.push_back(index.substitute(map, program.space, same));
    }
    if (countDivisions(tried) < before) {
      program.substitute(map);
      return true;
    }
    program.space.iterators = std::move(restored);
  }
  return false;
}

} // namespace

void dropUnitIterators(Program &program) {
  const std::set<IteratorId> lines = ofLines(program);
  IndexMap map;
  for (IteratorId iterator : used(program)) {
    if (program.space.iterators[iterator].extent.isOne() && !lines.contains(iterator)) {
      map[iterator] = Affine(0);
    }
  }
  if (!map.empty()) {
    program.substitute(map);
  }
}

void splitIterators(Program &program) {
  while (splitOne(program)) {
  }
}

void normalise(Program &program) {
  dropUnitIterators(program);
  splitIterators(program);
  joinDivisions(program);
  unifyIterators(program);
  mergeIterators(program);
  foldConstants(program);
}

} // namespace nereid::generator
