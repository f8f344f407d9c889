// SPDX-License-Identifier: Apache-2.0
// Map kernels, see Map.h.
#include "lib/generator/template/Map.h"

#include "lib/definition/operations/Operations.h"
#include "lib/generator/emit/AccessMask.h"
#include "lib/generator/template/Blocks.h"
#include "lib/generator/template/Contiguity.h"

#include <fmt/format.h>

#include <algorithm>

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

} // namespace

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
  if (std::optional<std::string> found = unsupported(stores, false)) {
    return makeError("E0607", fmt::format("a pointwise kernel has no {}", *found));
  }
  KernelWriting writing(program, name, stores, std::move(dims));
  if (onDevices) {
    writing.storeOtherwise(*onDevices);
  } else {
    writing.values.store(stores);
  }
  StageKernel made = writing.take();
  if (made.dims.size() > 1 && made.dims[0].blockAtMost == vectorsTogether) {
    made.options.emplace_back("num_warps", warpsOfVectors);
  }
  return made;
}

} // namespace nereid::generator
