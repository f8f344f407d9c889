// SPDX-License-Identifier: Apache-2.0
#include "lib/generator/template/access/LineWalks.h"

#include "lib/generator/index/NodeQueries.h"

#include <algorithm>

namespace nereid::generator {

LineWalks::LineWalks(const Program &program, const std::vector<Store> &stores,
                     const std::vector<TileDim> &dims) {
  for (const TileDim &dim : dims) {
    if (dim.form == DimForm::Looped) {
      lines.insert(dim.iterators.begin(), dim.iterators.end());
      if (dim.also) {
        lines.insert(*dim.also);
      }
    }
  }
  for (const Store &store : stores) {
    const auto iterators = program.iteratorsOf(store);
    const bool isAlong = std::any_of(iterators.begin(), iterators.end(),
                                     [&](IteratorId each) { return lines.contains(each); });
    const std::vector<Store> one = {store};
    for (const Node *root : rootsOf(one)) {
      visit(root, isAlong ? lastWalk : noWalk);
    }
  }
}

int64_t LineWalks::of(const std::vector<Affine> *indices) const {
  auto found = walks.find(indices);
  return found == walks.end() ? 1 : std::max<int64_t>(1, std::ssize(found->second));
}

bool LineWalks::isLine(const Node &node) const {
  return node.kind == NodeKind::Reduce &&
         std::any_of(node.iterators.begin(), node.iterators.end(),
                     [&](IteratorId each) { return lines.contains(each); });
}

int LineWalks::depthOf(const Node *node) {
  if (auto found = depths.find(node); found != depths.end()) {
    return found->second;
  }
  int depth = 0;
  forEachUsed(*node, [&](const Node *used) { depth = std::max(depth, depthOf(used)); });
  return depths[node] = depth + (isLine(*node) ? 1 : 0);
}

void LineWalks::visit(const Node *node, int walk) {
  if (!seen.insert({node, walk}).second) {
    return;
  }
  if (isAccess(*node) && walk != noWalk) {
    walks[&node->indices].insert(walk);
  }
  forEachUsed(*node, [&](const Node *used) { visit(used, isLine(*node) ? depthOf(node) : walk); });
}

} // namespace nereid::generator
