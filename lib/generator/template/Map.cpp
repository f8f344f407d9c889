// SPDX-License-Identifier: Apache-2.0
// Map kernels, see Map.h.
#include "lib/generator/template/Map.h"

#include "lib/generator/emit/Values.h"
#include "lib/generator/kernel/Printer.h"

#include <fmt/format.h>

#include <algorithm>

namespace nereid::generator {
namespace {

std::optional<std::string> unsupported(const std::vector<Store> &stores) {
  for (const Store &store : stores) {
    const bool isKnown = store.monoid.empty() || store.monoid == "sum" || store.monoid == "max" ||
                         store.monoid == "min" || store.monoid == "xor";
    if (!isKnown) {
      return "accumulation of '" + store.monoid + "'";
    }
  }
  for (const Node *node : reachable(rootsOf(stores))) {
    switch (node->kind) {
    case NodeKind::Reduce:
      return "reduction '" + node->name + "'";
    case NodeKind::Scan:
      return "scan '" + node->name + "'";
    case NodeKind::Order:
    case NodeKind::Pick:
      return "sorted line";
    case NodeKind::Random:
      return "random number";
    default:
      break;
    }
  }
  return std::nullopt;
}

// ---- the first tile ----

struct Access {
  const Buffer *buffer = nullptr;
  const std::vector<Affine> *index = nullptr;
  int64_t weight = 0; ///< bytes of an element; of a store twice as many
};

std::vector<Access> accessesOf(const Program &program, const std::vector<Store> &stores) {
  std::vector<Access> result;
  auto add = [&](BufferId id, const std::vector<Affine> &index, int64_t times) {
    const Buffer &buffer = program.buffers[id];
    result.push_back({&buffer, &index, times * static_cast<int64_t>(sizeInBytes(buffer.dtype))});
  };
  for (const Store &store : stores) {
    add(store.buffer, store.index, 2);
  }
  for (const Node *node : reachable(rootsOf(stores))) {
    if (node->kind == NodeKind::Load || node->kind == NodeKind::Ref) {
      add(node->buffer, node->indices, 1);
    }
  }
  return result;
}

/// How far the access steps along each of its iterators, where that is always as far.
std::map<IteratorId, Polynomial> stepsOf(const Access &access) {
  std::map<IteratorId, Polynomial> steps;
  for (size_t dim = 0; dim < access.index->size(); ++dim) {
    for (const auto &[atom, coefficient] : (*access.index)[dim].terms()) {
      if (atom.kind == Atom::Kind::Iterator) {
        steps[atom.iterator] = steps[atom.iterator] + coefficient * access.buffer->strides[dim];
      }
    }
  }
  return steps;
}

/// The iterator of `among` along which most bytes are contiguous, of those that accesses step along
/// `also`; the later one of equals, which lies further inside of the result. None without a vote.
std::optional<IteratorId> mostContiguous(const std::vector<Access> &accesses,
                                         const std::vector<IteratorId> &among,
                                         std::optional<IteratorId> also) {
  std::map<IteratorId, int64_t> votes;
  for (const Access &access : accesses) {
    const std::map<IteratorId, Polynomial> steps = stepsOf(access);
    for (const auto &[iterator, step] : steps) {
      const bool isContiguous = step.isOne() || (-step).isOne();
      votes[iterator] += isContiguous && (!also || steps.contains(*also)) ? access.weight : 0;
    }
  }
  std::optional<IteratorId> most;
  for (IteratorId iterator : among) {
    most = votes[iterator] > 0 && (!most || votes[iterator] >= votes[*most]) ? iterator : most;
  }
  return most;
}

/// In the order in which the first store's index names them.
std::vector<IteratorId> orderOf(const Program &program, const std::vector<Store> &stores) {
  std::vector<IteratorId> order;
  auto add = [&](IteratorId iterator) {
    if (std::find(order.begin(), order.end(), iterator) == order.end()) {
      order.push_back(iterator);
    }
  };
  for (const Affine &index : stores[0].index) {
    index.forEachAtom([&](const Atom &atom) {
      if (atom.kind == Atom::Kind::Iterator) {
        add(atom.iterator);
      }
    });
  }
  for (IteratorId iterator : program.iteratorsOf(stores[0])) {
    add(iterator);
  }
  return order;
}

} // namespace

std::vector<std::vector<Store>> groupsOf(const Program &program, const Stage &stage) {
  std::vector<std::vector<Store>> groups;
  for (const Store &store : stage.stores) {
    auto same = std::find_if(groups.begin(), groups.end(), [&](const std::vector<Store> &group) {
      return program.iteratorsOf(group[0]) == program.iteratorsOf(store);
    });
    if (same == groups.end()) {
      groups.emplace_back();
      same = groups.end() - 1;
    }
    same->push_back(store);
  }
  return groups;
}

std::vector<TileDim> firstTile(const Program &program, const std::vector<Store> &stores) {
  std::vector<IteratorId> rest = orderOf(program, stores);
  if (rest.empty()) {
    return {};
  }
  const std::vector<Access> accesses = accessesOf(program, stores);
  auto take = [&](IteratorId iterator) {
    rest.erase(std::find(rest.begin(), rest.end(), iterator));
    return iterator;
  };
  const IteratorId inner = take(mostContiguous(accesses, rest, {}).value_or(rest.back()));
  const std::optional<IteratorId> second = mostContiguous(accesses, rest, inner);
  if (second) {
    take(*second);
  }
  std::vector<TileDim> dims;
  if (!rest.empty()) {
    dims.push_back({"row", "BLOCK_X", rest});
  }
  if (second) {
    dims.push_back(rest.empty() ? TileDim{"row", "BLOCK_X", {*second}}
                                : TileDim{"mid", "BLOCK_Z", {*second}});
  }
  dims.push_back({"col", "BLOCK_Y", {inner}});
  return dims;
}

Result<StageKernel> emitMap(const Program &program, const std::string &name,
                            const std::vector<Store> &stores, std::vector<TileDim> dims) {
  if (std::optional<std::string> found = unsupported(stores)) {
    return makeError("E0607", fmt::format("a pointwise kernel has no {}", *found));
  }
  kernel::Body body;
  Arguments arguments(program);
  arguments.names.fresh("WIDE");
  Tile tile(program, std::move(dims), body, arguments);
  tile.bind();
  Values values(program, rootsOf(stores), tile, body, arguments);
  values.store(stores);
  StageKernel made;
  made.tree.name = name;
  made.arguments = arguments.take();
  for (const StageArgument &argument : made.arguments) {
    made.tree.parameters.push_back({argument.name, false});
  }
  made.dims = tile.dimensions();
  for (const TileDim &dim : made.dims) {
    made.tree.parameters.push_back({dim.block, true});
  }
  made.tree.parameters.push_back({"WIDE", true});
  made.tree.body = body.take();
  made.offsets = values.written();
  made.usesLibdevice = values.usesLibdevice();
  return made;
}

std::string moduleText(const std::vector<StageKernel> &kernels) {
  std::string text = "import triton\nimport triton.language as tl\n";
  const bool usesLibdevice = std::any_of(kernels.begin(), kernels.end(),
                                         [](const StageKernel &one) { return one.usesLibdevice; });
  text += usesLibdevice ? "from triton.language.extra import libdevice\n" : "";
  for (const StageKernel &one : kernels) {
    text += "\n\n" + kernel::text(one.tree);
  }
  return text;
}

} // namespace nereid::generator
