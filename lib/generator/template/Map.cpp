// SPDX-License-Identifier: Apache-2.0
// Map kernels, see Map.h.
#include "lib/generator/template/Map.h"

#include "lib/definition/operations/Operations.h"
#include "lib/generator/emit/DataReads.h"
#include "lib/generator/fuse/Frontier.h"
#include "lib/generator/index/NodeQueries.h"
#include "lib/generator/template/Blocks.h"
#include "lib/generator/template/access/Contiguity.h"

#include <fmt/format.h>

#include <algorithm>
#include <bit>

namespace nereid::generator {
namespace {

/// So many operations are worth computing for several elements together, and for how many: of
/// those at places from data, which are moved one by one, and of others.
constexpr double manyOperations = 16;
constexpr int64_t elementsTogether = 8, vectorsTogether = 4;
/// Threads that have all of the latter in their registers lie along the other dimensions.
constexpr const char *warpsOfVectors = "2";

/// Of one element, as the table of operations counts them.
double operationsOf(const Node &node) {
  const definition::Operation *known = definition::findOperation(node.name);
  return known ? std::max(known->flops, 1.0) : 1;
}

bool isAtData(const std::vector<Access> &accesses) {
  return std::any_of(accesses.begin(), accesses.end(),
                     [](const Access &access) { return readsIndex(*access.index); });
}

/// The iterator of `outer` on which most of what is computed for each element does not depend:
/// neighbours along it have that in common, as channels have the place of a pixel. What depends on
/// `inner` alone, or not at all, has no other axis in a tile and is no reason.
std::optional<IteratorId> sharedAlong(const std::vector<Store> &stores,
                                      const std::vector<IteratorId> &outer, IteratorId inner) {
  std::map<IteratorId, double> counts;
  for (const Node *node : reachable(rootsOf(stores))) {
    auto dependsOn = [&](IteratorId each) { return node->free.contains(each); };
    const bool isFull = dependsOn(inner) && std::any_of(outer.begin(), outer.end(), dependsOn);
    for (IteratorId each : outer) {
      const bool isShared = node->kind == NodeKind::Map && isFull && !dependsOn(each);
      counts[each] += isShared ? operationsOf(*node) : 0;
    }
  }
  std::optional<IteratorId> most;
  for (const auto &[iterator, count] : counts) {
    most = count >= manyOperations && (!most || count > counts[*most]) ? iterator : most;
  }
  return most;
}

/// Without those of parts, which no lane of the tile makes for itself.
std::vector<Access> accessesOfTile(const Program &program, const std::vector<Store> &stores,
                                   const std::vector<IteratorId> &order) {
  std::vector<Access> accesses = accessesOf(program, stores);
  std::erase_if(accesses, [&](const Access &access) {
    const std::map<IteratorId, Polynomial> steps = stepsOf(access);
    return std::any_of(steps.begin(), steps.end(), [&](const auto &step) {
      return std::find(order.begin(), order.end(), step.first) == order.end();
    });
  });
  return accesses;
}

/// What the stores need besides values of reductions and what these need, inputs first.
std::vector<const Node *> besideReductions(const std::vector<Store> &stores) {
  std::vector<const Node *> work = rootsOf(stores), result;
  std::set<const Node *> seen;
  while (!work.empty()) {
    const Node *node = work.back();
    work.pop_back();
    if (node->kind != NodeKind::Reduce && seen.insert(node).second) {
      result.push_back(node);
      work.insert(work.end(), node->inputs.begin(), node->inputs.end());
    }
  }
  std::sort(result.begin(), result.end(),
            [](const Node *a, const Node *b) { return a->number < b->number; });
  return result;
}

/// Asks for what the tile's lanes read before they join parts, so that they wait for both at once;
/// not where a condition may have to keep them from it.
void loadAhead(KernelWriting &writing) {
  const std::vector<const Node *> nodes = besideReductions(writing.stores);
  auto isConversion = [](const Node *node) {
    return isMap(*node, "cast") && isAccess(*node->inputs[0]);
  };
  const bool isConditional = std::any_of(nodes.begin(), nodes.end(), [&](const Node *node) {
    return isMap(*node, "where") || readsAtData(*node);
  });
  std::set<const Node *> converted; // loads stand in one line with their conversions
  for (const Node *node : nodes) {
    if (isConversion(node)) {
      converted.insert(node->inputs[0]);
    }
  }
  for (const Node *node : nodes) {
    const bool isAlone = isAccess(*node) && !converted.contains(node);
    if (!isConditional && (isConversion(node) || isAlone)) {
      writing.values.valueOf(node);
    }
  }
}

/// Joins the parts in a tile of their own, beside the rows of the kernel's; functions that it
/// calls.
std::vector<kernel::Kernel> joinParts(const Program &program, KernelWriting &writing,
                                      IteratorId part) {
  const std::vector<const Node *> all = reductionsOf(rootsOf(writing.stores));
  const std::vector<const Node *> joined =
      frontier(rootsOf(writing.stores), {all.begin(), all.end()});
  writing.bindMasks();
  loadAhead(writing);
  std::vector<TileDim> dims = writing.tile.dimensions();
  dims.back() = {
      "part", launchText(program.space.iterators[part].extent, program), {part}, DimForm::Whole};
  Tile tile(writing.tile, std::move(dims));
  tile.bindOwn();
  Values parts(program, joined, tile, writing.body, writing.arguments);
  for (const Node *node : joined) {
    writing.values.give(node, {parts.valueOf(node)});
  }
  writing.takeOffsets(parts);
  return parts.helpers();
}

} // namespace

std::optional<IteratorId> joinedParts(const Program &program, const std::vector<Store> &stores) {
  const std::vector<const Node *> all = reductionsOf(rootsOf(stores));
  if (all.empty() || orderOf(program, stores).empty()) {
    return std::nullopt;
  }
  const IteratorId part = all[0]->iterators[0];
  const std::optional<int64_t> count = program.space.iterators[part].extent.constant();
  const std::vector<IteratorId> along = firstTile(program, stores).back().iterators;
  const bool areOfRows = std::all_of(all.begin(), all.end(), [&](const Node *node) {
    return node->inputs.size() == 1 && node->iterators == std::vector<IteratorId>{part} &&
           std::none_of(along.begin(), along.end(),
                        [&](IteratorId each) { return node->free.contains(each); });
  });
  return areOfRows && count && std::has_single_bit(static_cast<uint64_t>(*count))
             ? std::optional(part)
             : std::nullopt;
}

std::vector<TileDim> firstTile(const Program &program, const std::vector<Store> &stores) {
  std::vector<IteratorId> rest = orderOf(program, stores);
  if (rest.empty()) {
    return {};
  }
  const std::vector<Access> accesses = accessesOfTile(program, stores, rest);
  auto take = [&](IteratorId iterator) {
    rest.erase(std::find(rest.begin(), rest.end(), iterator));
    return iterator;
  };
  const IteratorId inner = take(mostContiguous(program, accesses, rest, {}).value_or(rest.back()));
  const std::optional<IteratorId> second = mostContiguous(program, accesses, rest, inner);
  if (second) {
    take(*second);
  }
  const std::optional<IteratorId> shared = second ? std::nullopt : sharedAlong(stores, rest, inner);
  if (shared) {
    take(*shared);
  }
  std::vector<TileDim> dims;
  if (shared) { // the outermost one: a tile's last dimensions lie over threads first
    dims.push_back({"mid", "BLOCK_Z", {*shared}});
    dims.back().blockAtMost = isAtData(accesses) ? elementsTogether : vectorsTogether;
  }
  if (!rest.empty()) {
    dims.push_back({"row", "BLOCK_X", rest});
  }
  if (second) {
    dims.push_back(rest.empty() ? TileDim{"row", "BLOCK_X", {*second}}
                                : TileDim{"mid", "BLOCK_Z", {*second}});
  }
  dims.push_back({"col", "BLOCK_Y", {inner}});
  if (second) {
    setTransposedBlocks(dims, program);
  }
  return dims;
}

Result<StageKernel> emitMap(const Program &program, const std::string &name,
                            const std::vector<Store> &stores, std::vector<TileDim> dims,
                            const std::optional<std::vector<Store>> &onDevices) {
  const std::optional<IteratorId> part = joinedParts(program, stores);
  if (std::optional<std::string> found = unsupported(stores, part.has_value())) {
    return makeError("E0607", fmt::format("a pointwise kernel has no {}", *found));
  }
  KernelWriting writing(program, name, stores, std::move(dims));
  std::vector<kernel::Kernel> helpers;
  if (part) {
    helpers = joinParts(program, writing, *part);
  }
  if (onDevices) {
    writing.storeOtherwise(*onDevices);
  } else {
    writing.values.store(stores);
  }
  StageKernel made = writing.take();
  made.tree.helpers.insert(made.tree.helpers.end(), helpers.begin(), helpers.end());
  if (made.dims.size() > 1 && made.dims[0].blockAtMost == vectorsTogether) {
    made.options.emplace_back("num_warps", warpsOfVectors);
  }
  return made;
}

} // namespace nereid::generator
