// SPDX-License-Identifier: Apache-2.0
// Map kernels, see Map.h.
#include "lib/generator/template/Map.h"

#include "lib/generator/template/Blocks.h"
#include "lib/generator/template/Contiguity.h"

#include <fmt/format.h>

#include <algorithm>

namespace nereid::generator {

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
