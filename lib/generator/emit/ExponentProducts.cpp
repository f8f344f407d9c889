// SPDX-License-Identifier: Apache-2.0
// Products of exponents, see ExponentProducts.h.
#include "lib/generator/emit/ExponentProducts.h"

#include "lib/generator/index/NodeQueries.h"

#include <algorithm>

namespace nereid::generator {
namespace {

using Users = std::map<const Node *, std::vector<const Node *>>;

/// As the kernel language writes it.
bool isProduct(const Node &node) {
  const bool isPower = isMap(node, "pow") && node.inputs[1]->kind == NodeKind::Const &&
                       (node.inputs[1]->real == 2 || node.inputs[1]->real == 3);
  return (node.dtype == DType::F32 || node.dtype == DType::F64) && (isMap(node, "mul") || isPower);
}

bool isExtremum(const Node &node) {
  return node.kind == NodeKind::Reduce && (node.name == "max" || node.name == "min");
}

const Node *withoutSign(const Node *node) { return isMap(*node, "neg") ? node->inputs[0] : node; }

/// Whether all that needs the value, of the other sign or not, is a difference among `some`, or an
/// extremum.
bool isOnlyFor(const std::set<const Node *> &some, const Node *value, const Users &users,
               const std::vector<const Node *> &roots) {
  if (std::find(roots.begin(), roots.end(), value) != roots.end()) {
    return false;
  }
  const std::vector<const Node *> &all = users.at(value);
  return std::all_of(all.begin(), all.end(), [&](const Node *user) {
    return some.contains(user) || isExtremum(*user) ||
           (isMap(*user, "neg") && isOnlyFor(some, user, users, roots));
  });
}

} // namespace

ExponentProducts exponentProducts(const std::vector<const Node *> &roots) {
  ExponentProducts found;
  Users users;
  for (const Node *node : reachable(roots)) {
    for (const Node *input : node->inputs) {
      users[input].push_back(node);
    }
    for (const Affine &index : node->indices) { // a number that is a place is none of these
      index.forEachAtom([&](const Atom &atom) {
        if (atom.node) {
          users[atom.node].push_back(node);
        }
      });
    }
    if (isMap(*node, "exp") && isMap(*node->inputs[0], "sub") &&
        isProduct(*withoutSign(node->inputs[0]->inputs[0]))) {
      found.differences.insert(node->inputs[0]);
    }
  }
  for (const Node *difference : std::set(found.differences)) {
    const Node *product = withoutSign(difference->inputs[0]);
    if (isOnlyFor(found.differences, product, users, roots)) {
      found.rounded.insert(product);
    }
  }
  std::erase_if(found.differences, [&](const Node *difference) {
    return found.rounded.contains(withoutSign(difference->inputs[0]));
  });
  return found;
}

} // namespace nereid::generator
