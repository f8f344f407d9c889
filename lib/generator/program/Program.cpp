// SPDX-License-Identifier: Apache-2.0
// What all passes over programs ask, see Program.h.
#include "lib/generator/program/Program.h"

#include "lib/generator/program/Replace.h"

namespace nereid::generator {

BufferId Program::add(Buffer buffer) {
  buffers.push_back(std::move(buffer));
  return static_cast<BufferId>(buffers.size() - 1);
}

std::optional<BufferId> Program::find(const std::string &name) const {
  for (size_t i = 0; i < buffers.size(); ++i) {
    if (buffers[i].name == name) {
      return static_cast<BufferId>(i);
    }
  }
  return std::nullopt;
}

void Program::replace(const IndexMap &map, const NodeMap &replaced) {
  for (Stage &stage : stages) {
    for (Store &store : stage.stores) {
      replaceIn(store, space, replaced, map);
    }
  }
}

void Program::substitute(const IndexMap &map) { replace(map, nodes.substitution(map, space)); }

void Program::rebuild(const NodeTable::Rebuild &made) {
  std::map<const Node *, const Node *> done;
  replace({}, [&](const Node *node) { return nodes.rebuild(node, space, made, done); });
}

std::vector<const Node *> rootsOf(std::span<const Store> stores) {
  std::vector<const Node *> roots;
  for (const Store &store : stores) {
    roots.push_back(store.value);
    if (store.guard) {
      roots.push_back(store.guard);
    }
    for (const Affine &index : store.index) {
      index.forEachAtom([&](const Atom &atom) {
        if (atom.node) {
          roots.push_back(atom.node);
        }
      });
    }
  }
  return roots;
}

std::vector<const Node *> Program::values(const Stage &stage) const {
  return reachable(rootsOf(stage.stores));
}

std::vector<const Node *> Program::values() const {
  std::vector<const Node *> all;
  for (const Stage &stage : stages) {
    std::vector<const Node *> some = values(stage);
    all.insert(all.end(), some.begin(), some.end());
  }
  return reachable(all);
}

std::set<IteratorId> Program::iteratorsOf(const Store &store) const {
  std::set<IteratorId> result = store.value->free;
  if (store.guard) {
    result.insert(store.guard->free.begin(), store.guard->free.end());
  }
  for (const Affine &index : store.index) {
    index.collect(result);
  }
  return result;
}

std::vector<Affine> Program::indices() const {
  std::vector<Affine> result;
  for (const Stage &stage : stages) {
    for (const Store &store : stage.stores) {
      result.insert(result.end(), store.index.begin(), store.index.end());
    }
  }
  for (const Node *node : values()) {
    result.insert(result.end(), node->indices.begin(), node->indices.end());
  }
  return result;
}

std::vector<Polynomial> contiguousStrides(const std::vector<Polynomial> &sizes) {
  std::vector<Polynomial> strides(sizes.size());
  Polynomial stride = 1;
  for (size_t dim = sizes.size(); dim-- > 0;) {
    strides[dim] = stride;
    stride = stride * sizes[dim];
  }
  return strides;
}

} // namespace nereid::generator
