// SPDX-License-Identifier: Apache-2.0
#include "lib/generator/fuse/OnlineReductions.h"

#include "lib/generator/fuse/Chain.h"
#include "lib/generator/fuse/split/Distances.h"
#include "lib/generator/index/NodeQueries.h"
#include "lib/generator/program/Replace.h"

#include <algorithm>
#include <limits>

namespace nereid::generator {
namespace {

constexpr double infinity = std::numeric_limits<double>::infinity();

using Replaced = std::map<const Node *, const Node *>;

/// How many of these reductions need one another at most.
size_t depthOf(const std::vector<Store> &stores) {
  std::map<const Node *, size_t> depths;
  size_t deepest = 0;
  for (const Node *each : reductionsOf(rootsOf(stores))) { // inputs first
    size_t depth = 0;
    for (const Node *needed : reductionsOf(each->inputs)) {
      depth = std::max(depth, depths[needed]);
    }
    depths[each] = depth + 1;
    deepest = std::max(deepest, depth + 1);
  }
  return deepest;
}

class Online {
public:
  explicit Online(Program &program) : program(program) {}

  /// Sums of exponentials among these.
  Replaced sums(const std::vector<const Node *> &all) {
    Replaced made;
    for (const Node *total : all) {
      const bool isSum = isReduction(total, "sum") && isMap(*total->inputs[0], "exp") &&
                         isMap(*total->inputs[0]->inputs[0], "sub");
      if (!isSum) {
        continue;
      }
      const std::vector<const Node *> &difference = total->inputs[0]->inputs[0]->inputs;
      const Node *top = difference[1];
      const bool isFinite = isWhereFinite(top);
      top = isFinite ? top->inputs[1] : top;
      const Node *scores = difference[0];
      if (!isReduction(top, "max") || !reductionsOf({scores}).empty() ||
          reducedAlong(program, total->iterators, *top) != scores) {
        continue;
      }
      const Node *pair = program.nodes.reduce("logsumexp", scores->dtype, total->iterators,
                                              {scores, number(1, scores)});
      const Node *largest = pick(pair, 0);
      made[top] = largest;
      made[total] = isFinite ? pick(pair, 1) : sumOffLargest(largest, pick(pair, 1));
      program.nodes.passWord(top, largest);
      program.nodes.passWord(total, made[total]);
    }
    return made;
  }

  /// Squared distances among these.
  Replaced distances(const std::vector<const Node *> &all) {
    Replaced made;
    for (const Node *each : all) {
      const std::optional<Distances> found =
          isReduction(each, "sum") ? distancesOf(*each) : std::nullopt;
      if (!found) {
        continue;
      }
      const Node *value = found->value;
      const Node *moments =
          program.nodes.reduce("welford", value->dtype, each->iterators,
                               {number(1, value), value, number(0, value), number(0, value)});
      const Node *away = map("sub", pick(moments, 1), found->centre);
      made[each] =
          movedSquares(program, pick(moments, 3), pick(moments, 2), pick(moments, 0), away);
      program.nodes.passWord(each, made[each]);
    }
    return made;
  }

private:
  static bool isReduction(const Node *node, const char *name) {
    return node->kind == NodeKind::Reduce && node->name == name && node->inputs.size() == 1 &&
           isFloat(node->dtype);
  }

  /// where(|top| < infinity, top, 0), off which a log-sum-exp takes its exponentials.
  static bool isWhereFinite(const Node *node) {
    if (!isMap(*node, "where") || !isNumber(*node->inputs[2], 0)) {
      return false;
    }
    const Node *condition = node->inputs[0];
    return isMap(*condition, "lt") && isMap(*condition->inputs[0], "abs") &&
           condition->inputs[0]->inputs[0] == node->inputs[1] &&
           isNumber(*condition->inputs[1], infinity);
  }

  const Node *number(double value, const Node *like) {
    return program.nodes.real(value, like->dtype);
  }
  const Node *map(const char *name, const Node *a, const Node *b) {
    return program.nodes.map(name, a->dtype, {a, b});
  }
  const Node *pick(const Node *reduction, size_t component) {
    return program.nodes.pick(reduction, component);
  }

  /// exp(s - top) is NaN where s is the largest element and infinite, and so is the sum; of the
  /// pair it is 0 or infinite.
  const Node *sumOffLargest(const Node *largest, const Node *total) {
    return map("add", total, map("sub", largest, largest));
  }

  Program &program;
};

} // namespace

OnlineStores withOnlineReductions(Program &program, const std::vector<Store> &stores) {
  const std::vector<const Node *> all = reductionsOf(rootsOf(stores));
  Online online(program);
  OnlineStores made{stores, stores};
  Replaced replaced = online.sums(all);
  replaceIn(made.inParts, program, replaced);
  replaced.merge(online.distances(all));
  replaceIn(made.inPieces, program, std::move(replaced));
  return depthOf(made.inPieces) < depthOf(stores) ? made : OnlineStores{stores, stores};
}

} // namespace nereid::generator
