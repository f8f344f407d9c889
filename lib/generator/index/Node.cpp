// SPDX-License-Identifier: Apache-2.0
// The table of nodes and substitution in them, see Node.h.
#include "lib/generator/index/Node.h"

#include "lib/generator/index/NodeQueries.h"

#include <algorithm>
#include <bit>
#include <functional>
#include <memory>

namespace nereid::generator {
namespace {

auto flags(const Node &node) {
  return std::tuple(node.kind, node.dtype, node.integer, std::bit_cast<uint64_t>(node.real),
                    node.buffer, node.component, node.isReverse, node.isExclusive,
                    node.isDescending, node.isStable);
}

bool isTuple(const Node &node) { return node.kind == NodeKind::Reduce && node.inputs.size() > 1; }

} // namespace

bool NodeTable::ByParts::operator()(const Node *a, const Node *b) const {
  if (auto x = flags(*a), y = flags(*b); x != y) {
    return x < y;
  }
  if (a->name != b->name) {
    return a->name < b->name;
  }
  if (a->iterators != b->iterators) {
    return a->iterators < b->iterators;
  }
  auto byNumber = [](const Node *x, const Node *y) { return x->number <=> y->number; };
  auto inputs = std::lexicographical_compare_three_way(
      a->inputs.begin(), a->inputs.end(), b->inputs.begin(), b->inputs.end(), byNumber);
  return inputs != 0 ? inputs < 0
                     : std::lexicographical_compare(a->indices.begin(), a->indices.end(),
                                                    b->indices.begin(), b->indices.end());
}

const Node *NodeTable::make(NodeParts parts) {
  if (parts.kind == NodeKind::Reduce && parts.iterators.empty() && parts.inputs.size() == 1) {
    return parts.inputs[0];
  }
  if (parts.kind == NodeKind::Pick && isTuple(*parts.inputs[0]) &&
      parts.inputs[0]->iterators.empty()) {
    return parts.inputs[0]->inputs[parts.component];
  }
  Node node{std::move(parts)};
  if (auto found = known.find(&node); found != known.end()) {
    return *found;
  }
  // What is bound is bound in the inputs alone: positions lie outside.
  for (const Node *input : node.inputs) {
    node.free.insert(input->free.begin(), input->free.end());
  }
  for (IteratorId bound : node.iterators) {
    node.free.erase(bound);
  }
  for (const Affine &index : node.indices) {
    index.collect(node.free);
  }
  node.number = static_cast<uint32_t>(nodes.size());
  nodes.push_back(std::move(node));
  known.insert(&nodes.back());
  return &nodes.back();
}

const Node *NodeTable::real(double value, DType dtype) {
  NodeParts parts{NodeKind::Const, dtype};
  parts.real = value;
  return make(std::move(parts));
}

const Node *NodeTable::integer(int64_t value, DType dtype) {
  NodeParts parts{NodeKind::Const, dtype};
  parts.integer = value;
  return make(std::move(parts));
}

const Node *NodeTable::parameter(const std::string &name, DType dtype) {
  NodeParts parts{NodeKind::Param, dtype};
  parts.name = name;
  return make(std::move(parts));
}

const Node *NodeTable::index(Affine value) {
  return make({NodeKind::Index, DType::I64, {}, {std::move(value)}});
}

const Node *NodeTable::load(BufferId buffer, DType dtype, std::vector<Affine> indices) {
  NodeParts parts{NodeKind::Load, dtype, {}, std::move(indices)};
  parts.buffer = buffer;
  return make(std::move(parts));
}

const Node *NodeTable::map(const std::string &name, DType dtype, std::vector<const Node *> inputs) {
  return make({NodeKind::Map, dtype, std::move(inputs), {}, {}, name});
}

const Node *NodeTable::reduce(const std::string &monoid, DType dtype,
                              std::vector<IteratorId> iterators, std::vector<const Node *> inputs) {
  return make({NodeKind::Reduce, dtype, std::move(inputs), {}, std::move(iterators), monoid});
}

const Node *NodeTable::pick(const Node *reduction, size_t component) {
  NodeParts parts{NodeKind::Pick, reduction->inputs[component]->dtype, {reduction}};
  parts.component = static_cast<uint32_t>(component);
  return make(std::move(parts));
}

// ---- the body's words ----

void NodeTable::call(const Node *node, const std::string &word) { words.emplace(node, word); }

const std::string &NodeTable::wordFor(const Node *node) const {
  static const std::string none;
  auto found = words.find(node);
  return found == words.end() ? none : found->second;
}

void NodeTable::passWord(const Node *from, const Node *to) {
  if (auto found = words.find(from); from != to && found != words.end()) {
    words.emplace(to, found->second);
  }
}

// ---- substitution ----

class NodeTable::Substitution {
public:
  Substitution(NodeTable &table, const IndexMap &map, IndexSpace &space)
      : table(table), map(map), space(space) {
    for (const auto &[from, to] : map) {
      to.collect(brought);
    }
  }

  const Node *run(const Node *root) {
    if (auto found = done.find(root); found != done.end()) {
      return found->second;
    }
    for (const Node *node : reachable({root})) {
      if (!done.contains(node)) {
        done[node] = isConcerned(*node) ? make(node) : node;
        table.passWord(node, done[node]);
      }
    }
    return done.at(root);
  }
  Affine run(const Affine &index) {
    return index.substitute(map, space, [&](const Node *node) { return run(node); });
  }

private:
  bool isConcerned(const Node &node) const {
    auto isMapped = [&](IteratorId iterator) { return map.contains(iterator); };
    bool result = std::any_of(node.free.begin(), node.free.end(), isMapped) ||
                  std::any_of(node.iterators.begin(), node.iterators.end(), isMapped);
    forEachUsed(node, [&](const Node *used) { result |= done.at(used) != used; });
    return result;
  }

  const Node *make(const Node *node) {
    IndexMap renamed;
    for (IteratorId bound : node->iterators) {
      if (brought.contains(bound) && !map.contains(bound)) {
        Iterator old = space.iterators[bound];
        renamed[bound] = Affine::iterator(space.iterators.add(old.extent, old.name));
      }
    }
    NodeParts parts = *node;
    if (!renamed.empty()) {
      for (const Node *&input : parts.inputs) {
        input = table.substitute(input, renamed, space);
      }
    }
    parts.iterators.clear();
    for (IteratorId bound : node->iterators) {
      auto other = renamed.find(bound);
      auto mapped = map.find(bound);
      if (other != renamed.end()) {
        parts.iterators.push_back(*other->second.asIterator());
      } else if (mapped == map.end()) {
        parts.iterators.push_back(bound);
      } else {
        std::set<IteratorId> parted;
        mapped->second.collect(parted);
        parts.iterators.insert(parts.iterators.end(), parted.begin(), parted.end());
      }
    }
    for (const Node *&input : parts.inputs) {
      input = run(input);
    }
    for (Affine &index : parts.indices) {
      index = run(index);
    }
    return table.make(std::move(parts));
  }

  NodeTable &table;
  const IndexMap &map;
  IndexSpace &space;
  std::set<IteratorId> brought; ///< iterators of the new expressions
  std::map<const Node *, const Node *> done;
};

const Node *NodeTable::substitute(const Node *node, const IndexMap &map, IndexSpace &space) {
  return Substitution(*this, map, space).run(node);
}

NodeMap NodeTable::substitution(const IndexMap &map, IndexSpace &space) {
  return [one = std::make_shared<Substitution>(*this, map, space)](const Node *node) {
    return one->run(node);
  };
}

const Node *NodeTable::rebuild(const Node *root, const IndexSpace &space, const Rebuild &made,
                               std::map<const Node *, const Node *> &done) {
  for (const Node *node : reachable({root})) {
    if (done.contains(node)) {
      continue;
    }
    NodeParts parts = *node;
    for (const Node *&input : parts.inputs) {
      input = done.at(input);
    }
    for (Affine &index : parts.indices) {
      index = index.substitute({}, space, [&](const Node *inner) { return done.at(inner); });
    }
    done[node] = made(std::move(parts));
    passWord(node, done[node]);
  }
  return done.at(root);
}

std::vector<const Node *> reachable(const std::vector<const Node *> &roots) {
  std::set<const Node *> seen;
  std::vector<const Node *> work = roots, order;
  while (!work.empty()) {
    const Node *node = work.back();
    work.pop_back();
    if (seen.insert(node).second) {
      order.push_back(node);
      forEachUsed(*node, [&](const Node *used) { work.push_back(used); });
    }
  }
  std::sort(order.begin(), order.end(),
            [](const Node *a, const Node *b) { return a->number < b->number; });
  return order;
}

} // namespace nereid::generator
