// SPDX-License-Identifier: Apache-2.0
// How far a reduction's kernel goes on, see Epilogues.h.
#include "lib/generator/fuse/saved/Epilogues.h"

#include "lib/generator/emit/DataReads.h"
#include "lib/generator/fuse/Contraction.h"
#include "lib/generator/fuse/saved/JoinedIterators.h"
#include "lib/generator/index/NodeQueries.h"
#include "lib/generator/template/StageKernel.h"

#include <algorithm>

namespace nereid::generator {
namespace {

using NodeSet = std::set<const Node *>;

/// Numbers, and elements that are read at indices without data, of buffers that the stage leaves
/// as they are.
bool isPlainLeaf(const Node &node, const Program &program, const std::set<BufferId> &written) {
  return node.kind == NodeKind::Const || node.kind == NodeKind::Param ||
         (isAccess(node) && !readsAtData(node) && !written.contains(program.baseOf(node.buffer)));
}

/// What is computed of `values` alone, and of plain leaves, at their points, as far as others than
/// such need it: where nothing is, the values themselves.
std::vector<const Node *> lastComputed(const Program &program, const std::vector<Store> &group,
                                       const NodeSet &values) {
  std::set<BufferId> written;
  for (const Store &store : group) {
    written.insert(program.baseOf(store.buffer));
  }
  const std::vector<const Node *> roots = rootsOf(group);
  NodeSet plain, computed = values;
  NodeSet needed(roots.begin(), roots.end());
  for (const Node *node : reachable(roots)) {
    auto isComputed = [&](const Node *input) { return computed.contains(input); };
    auto isPlain = [&](const Node *input) { return plain.contains(input); };
    const bool isMap = node->kind == NodeKind::Map;
    if (isPlainLeaf(*node, program, written) ||
        (isMap && std::all_of(node->inputs.begin(), node->inputs.end(), isPlain))) {
      plain.insert(node);
    } else if (isMap && node->free == (*values.begin())->free &&
               std::any_of(node->inputs.begin(), node->inputs.end(), isComputed) &&
               std::all_of(node->inputs.begin(), node->inputs.end(), [&](const Node *input) {
                 return isComputed(input) || isPlain(input);
               })) {
      computed.insert(node);
    }
    if (!computed.contains(node)) {
      needed.insert(node->inputs.begin(), node->inputs.end());
    }
    for (const Affine &index : node->indices) {
      index.forEachAtom([&](const Atom &atom) { needed.insert(atom.node); });
    }
  }
  std::vector<const Node *> result;
  std::copy_if(computed.begin(), computed.end(), std::back_inserter(result),
               [&](const Node *node) { return needed.contains(node); });
  std::sort(result.begin(), result.end(),
            [](const Node *a, const Node *b) { return a->number < b->number; });
  return result;
}

/// Arithmetic and choices, which cost less than reading what they are computed of.
bool isCheap(const Node &node) {
  static const std::set<std::string> cheap = {
      "add",  "sub", "mul", "neg", "abs", "max", "min", "maximum",     "minimum",    "where",
      "cast", "eq",  "ne",  "lt",  "le",  "gt",  "ge",  "logical_and", "logical_or", "logical_not"};
  return node.kind != NodeKind::Map || cheap.contains(node.name);
}

/// Whether something that is computed of the values costs more than reading it.
bool isWorthIt(const std::vector<const Node *> &left, const NodeSet &values) {
  std::vector<const Node *> work = left;
  NodeSet seen = values;
  while (!work.empty()) {
    const Node *node = work.back();
    work.pop_back();
    if (seen.insert(node).second) {
      if (!isCheap(*node)) {
        return true;
      }
      work.insert(work.end(), node->inputs.begin(), node->inputs.end());
    }
  }
  return false;
}

size_t bytesOf(const std::vector<const Node *> &values) {
  size_t bytes = 0;
  for (const Node *value : values) {
    bytes += sizeInBytes(value->dtype);
  }
  return bytes;
}

/// Whether the group reduces something besides the values, so that it needs them more than once.
bool reducesMore(const std::vector<Store> &group, const NodeSet &values) {
  for (const Node *node : reductionsOf(rootsOf(group))) {
    const std::vector<const Node *> inside = reachable(node->inputs);
    if (!values.contains(node) && std::any_of(inside.begin(), inside.end(), [&](const Node *each) {
          return values.contains(each);
        })) {
      return true;
    }
  }
  return false;
}

Polynomial elementsOf(const Node *value, const Program &program) {
  Polynomial all = 1;
  for (IteratorId iterator : value->free) {
    all = all * program.space.iterators[iterator].extent;
  }
  return all;
}

bool haveAsManyElements(const Node *one, const Node *other, const Program &program) {
  return elementsOf(one, program) == elementsOf(other, program);
}

} // namespace

std::vector<const Node *> Epilogues::joined(const std::vector<const Node *> &values,
                                            const std::vector<Store> &stores) {
  std::vector<const Node *> result;
  for (const Node *value : values) {
    result.push_back(joinIterators(program, value, conditionsAround(stores, value)).value);
  }
  return result;
}

/// Whether others that need the values, in this group at other points or in another one, need them
/// for `left` alone.
bool Epilogues::areNeededAlike(const std::vector<const Node *> &values,
                               const std::vector<const Node *> &left, size_t number,
                               const std::vector<Store> &group) {
  const std::vector<const Node *> own = joined(values, group), ownLeft = joined(left, group);
  auto isAmong = [&](const std::vector<const Node *> &all, const Node *value) {
    return std::any_of(all.begin(), all.end(),
                       [&](const Node *each) { return names.areAlike(each, value); });
  };
  for (size_t stage = 0; stage < program.stages.size(); ++stage) {
    for (const std::vector<Store> &other : groupsOf(program, program.stages[stage])) {
      std::map<std::set<IteratorId>, NodeSet> found; // by the points at which they are needed
      for (const Node *node : reductionsOf(rootsOf(other))) {
        const bool isOwn = stage == number && other[0].buffer == group[0].buffer &&
                           std::find(values.begin(), values.end(), node) != values.end();
        const bool mayBe = std::any_of(values.begin(), values.end(), [&](const Node *value) {
          return value->name == node->name && value->dtype == node->dtype &&
                 value->iterators.size() == node->iterators.size() &&
                 value->inputs.size() == node->inputs.size();
        });
        if (!isOwn && mayBe && isAmong(own, joined({node}, other)[0])) {
          found[node->free].insert(node);
        }
      }
      for (const auto &[points, nodes] : found) {
        const std::vector<const Node *> needed = joined(lastComputed(program, other, nodes), other);
        if (!std::all_of(needed.begin(), needed.end(),
                         [&](const Node *each) { return isAmong(ownLeft, each); })) {
          return false;
        }
      }
    }
  }
  return true;
}

bool Epilogues::isLeft(const Node *value, size_t number, const std::vector<Store> &group,
                       BufferId owner, const std::set<BufferId> &apart) {
  for (const std::vector<const Node *> &asked :
       {std::vector<const Node *>{value}, lastComputed(program, group, {value})}) {
    const std::vector<const Node *> whole = joined(asked, group);
    if (std::all_of(whole.begin(), whole.end(),
                    [&](const Node *each) { return known.find(each, owner, apart) != nullptr; })) {
      return true;
    }
  }
  return false;
}

std::vector<const Node *> Epilogues::of(const std::vector<const Node *> &values, size_t number,
                                        const std::vector<Store> &group, BufferId owner,
                                        const std::set<BufferId> &apart) {
  const NodeSet set(values.begin(), values.end());
  const bool areReductions = std::all_of(values.begin(), values.end(), [&](const Node *value) {
    return value->kind == NodeKind::Reduce && value->free == values[0]->free;
  });
  if (!areReductions) {
    return values;
  }
  const std::vector<const Node *> left = lastComputed(program, group, set);
  auto areKnown = [&](const std::vector<const Node *> &all) {
    return std::all_of(all.begin(), all.end(), [&](const Node *value) {
      return known.find(value, owner, apart) != nullptr;
    });
  };
  const size_t before = bytesOf(values), after = bytesOf(left);
  if (left != values && areKnown(joined(left, group))) {
    return left;
  }
  if (left == values || after > before || (after == before && !reducesMore(group, set))) {
    return values;
  }
  const std::vector<const Node *> whole = joined(values, group), wholeLeft = joined(left, group);
  const bool areInWindows = !haveAsManyElements(values[0], whole[0], program);
  const bool isOfProducts = contractionOf(*values[0]).has_value();
  if (after == before && !areInWindows && !(isOfProducts && isWorthIt(left, set))) {
    return values;
  }
  auto isElementOfEach = [&](const Node *value) {
    return haveAsManyElements(value, whole[0], program);
  };
  return !areKnown(whole) && std::all_of(wholeLeft.begin(), wholeLeft.end(), isElementOfEach) &&
                 areNeededAlike(values, left, number, group)
             ? left
             : values;
}

} // namespace nereid::generator
