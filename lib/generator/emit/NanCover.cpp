// SPDX-License-Identifier: Apache-2.0
// Extrema whose NaN is covered, see NanCover.h.
#include "lib/generator/emit/NanCover.h"

#include <algorithm>
#include <string_view>

namespace nereid::generator {
namespace {

/// NaN where an operand is, whatever the others are.
bool isStrict(const Node &node) {
  constexpr std::string_view names[] = {"add",   "sub",  "mul",   "div",   "neg",
                                        "abs",   "exp",  "exp2",  "log",   "log2",
                                        "log1p", "sqrt", "rsqrt", "expm1", "cast"};
  return node.kind == NodeKind::Map && isFloat(node.dtype) &&
         std::find(std::begin(names), std::end(names), node.name) != std::end(names) &&
         std::all_of(node.inputs.begin(), node.inputs.end(),
                     [](const Node *input) { return isFloat(input->dtype); });
}

/// The values whose NaN makes this one NaN, as far as the iterators are the same.
void collectStrict(const Node *node, std::set<const Node *> &into) {
  if (into.insert(node).second && isStrict(*node)) {
    for (const Node *input : node->inputs) {
      collectStrict(input, into);
    }
  }
}

std::set<const Node *> strictOf(const Node *node) {
  std::set<const Node *> values;
  collectStrict(node, values);
  return values;
}

/// Whether a sum over the extremum's own elements makes the value NaN where one of them is.
bool covers(const Node *value, const Node *extremum) {
  const std::set<const Node *> values = strictOf(value);
  return std::any_of(values.begin(), values.end(), [&](const Node *one) {
    const bool isOwnSum =
        one->kind == NodeKind::Pick && one->component == 1 && one->inputs[0] == extremum;
    return isOwnSum ||
           (one->kind == NodeKind::Reduce && one->name == "sum" && one->inputs.size() == 1 &&
            one->iterators == extremum->iterators && isFloat(one->dtype) &&
            strictOf(one->inputs[0]).contains(extremum->inputs[0]));
  });
}

} // namespace

std::set<const Node *> coveredExtrema(const std::vector<const Node *> &roots) {
  std::set<const Node *> covered;
  for (const Node *node : reachable(roots)) {
    const bool isExtremum =
        node->kind == NodeKind::Reduce && isFloat(node->dtype) &&
        (node->name == "max" || node->name == "min" || node->name == "logsumexp");
    const bool isCovered =
        isExtremum && std::all_of(roots.begin(), roots.end(), [&](const Node *root) {
          const std::vector<const Node *> used = reachable({root});
          return std::find(used.begin(), used.end(), node) == used.end() || covers(root, node);
        });
    if (isCovered) {
      covered.insert(node);
    }
  }
  return covered;
}

} // namespace nereid::generator
