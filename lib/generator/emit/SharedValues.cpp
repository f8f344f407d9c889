// SPDX-License-Identifier: Apache-2.0
// From the last value to the first: all uses of one are known before it passes its own on.
#include "lib/generator/emit/SharedValues.h"

#include "lib/generator/emit/DataReads.h"
#include "lib/generator/index/NodeQueries.h"

#include <algorithm>

namespace nereid::generator {
namespace {

/// Those that read at an index from memory, or need a value that does.
std::set<const Node *> readingAtData(const std::vector<const Node *> &nodes) {
  std::set<const Node *> result;
  for (const Node *node : nodes) { // inputs first
    bool reads = readsAtData(*node);
    for (const Node *input : node->inputs) {
      reads |= result.contains(input);
    }
    for (const Affine &index : node->indices) {
      index.forEachAtom(
          [&](const Atom &atom) { reads |= atom.node && result.contains(atom.node); });
    }
    if (reads) {
      result.insert(node);
    }
  }
  return result;
}

std::set<Condition> asSet(const Conditions &conditions) {
  return {conditions.begin(), conditions.end()};
}

} // namespace

SharedValues::SharedValues(const std::vector<const Node *> &roots) {
  std::vector<const Node *> nodes = reachable(roots);
  const std::set<const Node *> concerned = readingAtData(nodes);
  std::erase_if(nodes, [&](const Node *node) { return !concerned.contains(node); });
  for (const Node *node : nodes) {
    found[node];
  }
  for (const Node *root : roots) {
    add(root, {}, false, root);
  }
  for (size_t i = nodes.size(); i-- > 0;) {
    const Node *node = nodes[i];
    Uses &uses = found[node];
    const bool isOfOne = uses.all == uses.common || uses.root != nullptr;
    uses.isOpen =
        !isOfOne || std::find(uses.own.begin(), uses.own.end(), uses.common) == uses.own.end();
    uses.own.clear();
    pass(*node, uses);
  }
}

void SharedValues::add(const Node *node, const std::set<Condition> &conditions, bool isOpen,
                       const Node *root) {
  auto place = found.find(node);
  if (place == found.end()) {
    return;
  }
  Uses &uses = place->second;
  const bool isFirst = uses.own.empty() && !uses.isOpen;
  if (isFirst) {
    uses.all = uses.common = conditions;
    uses.root = root;
  } else {
    uses.all.insert(conditions.begin(), conditions.end());
    std::erase_if(uses.common, [&](const Condition &each) { return !conditions.contains(each); });
    uses.root = uses.root == root ? root : nullptr;
  }
  if (isOpen) {
    uses.isOpen = true; // so far: that of some use
  } else {
    uses.own.push_back(conditions);
  }
}

/// What a node uses is needed under the conditions that it is computed under itself.
void SharedValues::pass(const Node &node, const Uses &uses) {
  const Conditions around(uses.common.begin(), uses.common.end());
  for (const Affine &index : node.indices) {
    index.forEachAtom([&](const Atom &atom) {
      if (atom.node) {
        add(atom.node, uses.common, uses.isOpen, uses.root);
      }
    });
  }
  const Conditions own = apartFrom(node.iterators, around);
  for (size_t i = 0; i < node.inputs.size(); ++i) {
    Conditions inner = own;
    if (isMap(node, "where") && i > 0) {
      addConditions(node.inputs[0], i == 1, inner);
    }
    add(node.inputs[i], asSet(inner), uses.isOpen, uses.root);
  }
}

Conditions SharedValues::kept(const Node *node, const Conditions &around) const {
  auto place = found.find(node);
  if (place == found.end() || place->second.all == place->second.common) {
    return around;
  }
  const Uses &uses = place->second;
  Conditions result = around;
  std::erase_if(result, [&](const Condition &each) {
    return uses.all.contains(each) && !uses.common.contains(each);
  });
  return result;
}

bool SharedValues::isOpen(const Node *node) const {
  auto place = found.find(node);
  return place != found.end() && place->second.isOpen;
}

} // namespace nereid::generator
