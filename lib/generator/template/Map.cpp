// SPDX-License-Identifier: Apache-2.0
// Map kernels, see Map.h.
#include "lib/generator/template/Map.h"

#include "lib/generator/template/Blocks.h"
#include "lib/generator/template/Contiguity.h"

#include <fmt/format.h>

#include <algorithm>

namespace nereid::generator {
namespace {

/// So many operations are worth computing for several elements together, and for how many.
constexpr int64_t manyOperations = 16, elementsTogether = 8;

/// The iterator of `outer` on which most of what is computed for each element does not depend:
/// neighbours along it have that in common, as channels have the place of a pixel. What depends on
/// `inner` alone, or not at all, has no other axis in a tile and is no reason.
std::optional<IteratorId> sharedAlong(const std::vector<Store> &stores,
                                      const std::vector<IteratorId> &outer, IteratorId inner) {
  std::map<IteratorId, int64_t> counts;
  for (const Node *node : reachable(rootsOf(stores))) {
    auto dependsOn = [&](IteratorId each) { return node->free.contains(each); };
    const bool isFull = dependsOn(inner) && std::any_of(outer.begin(), outer.end(), dependsOn);
    for (IteratorId each : outer) {
      counts[each] += node->kind == NodeKind::Map && isFull && !dependsOn(each);
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
  if (!rest.empty()) {
    dims.push_back({"row", "BLOCK_X", rest});
  }
  if (second) {
    dims.push_back(rest.empty() ? TileDim{"row", "BLOCK_X", {*second}}
                                : TileDim{"mid", "BLOCK_Z", {*second}});
  }
  if (shared) {
    dims.push_back({"mid", "BLOCK_Z", {*shared}});
    dims.back().blockAtMost = elementsTogether;
  }
  dims.push_back({"col", "BLOCK_Y", {inner}});
  if (second) {
    setTransposedBlocks(dims, program);
  }
  return dims;
}

Result<StageKernel> emitMap(const Program &program, const std::string &name,
                            const std::vector<Store> &stores, std::vector<TileDim> dims) {
  if (std::optional<std::string> found = unsupported(stores, false)) {
    return makeError("E0607", fmt::format("a pointwise kernel has no {}", *found));
  }
  KernelWriting writing(program, name, stores, std::move(dims));
  writing.values.store(stores);
  return writing.take();
}

} // namespace nereid::generator
