// SPDX-License-Identifier: Apache-2.0
// Elements at chosen places, see ChosenPlaces.h.
#include "lib/generator/launch/ChosenPlaces.h"

#include "lib/generator/emit/AccessMask.h"
#include "lib/generator/index/NodeQueries.h"
#include "lib/generator/program/Replace.h"

#include <algorithm>

namespace nereid::generator {
namespace {

/// Loads that one takes the place of.
constexpr int64_t fewestLoads = 3;

int64_t countAccesses(const std::vector<const Node *> &nodes) {
  return std::count_if(nodes.begin(), nodes.end(),
                       [](const Node *node) { return isAccess(*node); });
}

/// Whether the condition is one of places and sizes alone.
bool isOfPlaces(const Node *condition) {
  const std::vector<const Node *> all = reachable({condition});
  return std::all_of(all.begin(), all.end(), [](const Node *node) {
    return node->kind == NodeKind::Map || node->kind == NodeKind::Index ||
           node->kind == NodeKind::Const;
  });
}

/// An index as a value: of one that is chosen already, what chooses it.
const Node *placeOf(Program &program, const Affine &index) {
  if (index.terms().size() == 1 && index.constant().isZero()) {
    const auto &[atom, coefficient] = *index.terms().begin();
    if (atom.kind == Atom::Kind::Data && coefficient.isOne() && isPlace(atom.node)) {
      return atom.node;
    }
  }
  return program.nodes.index(index);
}

/// Indices of which none depends on memory: what is promised of such a one rests on conditions.
bool hasPlainIndices(const Node *access) {
  return std::all_of(access->indices.begin(), access->indices.end(), [](const Affine &index) {
    bool isPlain = true;
    index.forEachAtom(
        [&](const Atom &atom) { isPlain &= atom.kind != Atom::Kind::Data || isPlace(atom.node); });
    return isPlain;
  });
}

class Chooser {
public:
  explicit Chooser(Program &program) : program(program) {}

  const Node *chosenIn(const Node *root) {
    auto build = [&](NodeParts parts) { return made(std::move(parts)); };
    return program.nodes.rebuild(root, program.space, build, done);
  }

private:
  const Node *made(NodeParts parts) {
    const bool isChoice = isMap(parts, "where");
    return isChoice && areOfOne(parts.inputs[1], parts.inputs[2]) && isOfPlaces(parts.inputs[0])
               ? chosen(parts.inputs[0], *parts.inputs[1], *parts.inputs[2])
               : program.nodes.make(std::move(parts));
  }

  static bool areOfOne(const Node *a, const Node *b) {
    return isAccess(*a) && a->kind == b->kind && a->buffer == b->buffer && hasPlainIndices(a) &&
           hasPlainIndices(b);
  }

  const Node *chosen(const Node *condition, const Node &a, const Node &b) {
    NodeParts access = a;
    for (size_t dim = 0; dim < access.indices.size(); ++dim) {
      if (a.indices[dim] != b.indices[dim]) {
        const Node *place = program.nodes.map(
            "where", DType::I64,
            {condition, placeOf(program, a.indices[dim]), placeOf(program, b.indices[dim])});
        access.indices[dim] = Affine::data(place, program.buffers[a.buffer].sizes[dim]);
      }
    }
    return program.nodes.make(std::move(access));
  }

  Program &program;
  std::map<const Node *, const Node *> done;
};

} // namespace

std::optional<std::vector<Store>> withChosenPlaces(Program &program,
                                                   const std::vector<Store> &stores) {
  std::vector<Store> result = stores;
  Chooser chooser(program);
  for (Store &store : result) {
    replaceIn(store, program.space, [&](const Node *node) { return chooser.chosenIn(node); });
  }
  const int64_t before = countAccesses(reachable(rootsOf(stores))),
                after = countAccesses(reachable(rootsOf(result)));
  return before - after >= fewestLoads - 1 ? std::optional(std::move(result)) : std::nullopt;
}

} // namespace nereid::generator
