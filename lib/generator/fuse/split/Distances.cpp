// SPDX-License-Identifier: Apache-2.0
// Squared distances in parts, see Distances.h.
#include "lib/generator/fuse/split/Distances.h"

#include "lib/generator/fuse/split/Parts.h"
#include "lib/generator/index/NodeQueries.h"

#include <algorithm>

namespace nereid::generator {
namespace {

bool reducesInside(const Node *node) { return !reductionsOf({node}).empty(); }

/// 2 a
const Node *doubled(Program &program, const Node *a) {
  return program.nodes.map("add", a->dtype, {a, a});
}

} // namespace

std::optional<Distances> distancesOf(const Node &reduction) {
  const Node *square = reduction.inputs[0];
  const bool isSquare = reduction.name == "sum" && isMap(*square, "mul") &&
                        square->inputs[0] == square->inputs[1] &&
                        isMap(*square->inputs[0], "sub") && isFloat(square->dtype);
  if (!isSquare) {
    return std::nullopt;
  }
  const std::vector<const Node *> &sides = square->inputs[0]->inputs;
  auto varies = [&](const Node *node) {
    return std::any_of(reduction.iterators.begin(), reduction.iterators.end(),
                       [&](IteratorId each) { return node->free.contains(each); });
  };
  for (size_t value = 0; value < 2; ++value) {
    const Distances made{sides[value], sides[1 - value]};
    if (!varies(made.centre) && reducesInside(made.centre) && !reducesInside(made.value)) {
      return made;
    }
  }
  return std::nullopt;
}

std::vector<const Node *> distancesOfPart(Program &program, const PartOfLine &part,
                                          const Node *value) {
  const DType type = value->dtype;
  auto sum = [&](const Node *of) {
    return program.nodes.reduce("sum", type, part.iterators, {of});
  };
  const Node *divisor =
      program.nodes.map("maximum", DType::I64, {part.count, program.nodes.integer(1, DType::I64)});
  const Node *mean =
      program.nodes.map("div", type, {sum(value), program.nodes.map("cast", type, {divisor})});
  const Node *distance = program.nodes.map("sub", type, {value, mean});
  const Node *square = program.nodes.map("mul", type, {distance, distance});
  program.nodes.call(mean, "part_mean");
  program.nodes.call(distance, "apart");
  return {mean, sum(selectedInside(program, part.inside, distance, 0)),
          sum(selectedInside(program, part.inside, square, 0))};
}

const Node *movedSquares(Program &program, const Node *squares, const Node *distances,
                         const Node *count, const Node *away) {
  auto map = [&](const char *name, const Node *a, const Node *b) {
    return program.nodes.map(name, away->dtype, {a, b});
  };
  const Node *ofCount = map("mul", count, away);
  return map("add", squares, map("mul", away, map("add", doubled(program, distances), ofCount)));
}

const Node *joinedDistances(Program &program, IteratorId part,
                            const std::vector<const Node *> &parts, const Node *count,
                            const Node *centre) {
  const DType type = centre->dtype;
  const Node *away = program.nodes.map("sub", type, {parts[0], centre});
  program.nodes.call(away, "away");
  const Node *ofPart =
      movedSquares(program, parts[2], parts[1], program.nodes.map("cast", type, {count}), away);
  return program.nodes.reduce("sum", type, {part}, {ofPart});
}

} // namespace nereid::generator
