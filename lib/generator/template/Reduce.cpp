// SPDX-License-Identifier: Apache-2.0
// Reduction kernels, see Reduce.h.
#include "lib/generator/template/Reduce.h"

#include "lib/generator/fuse/Partition.h"
#include "lib/generator/template/Blocks.h"
#include "lib/generator/template/access/Contiguity.h"

#include <fmt/format.h>

#include <algorithm>

namespace nereid::generator {
namespace {

/// In the order in which the first reduction binds them.
std::vector<IteratorId> reducedIterators(const std::vector<Store> &stores) {
  for (const Node *node : reachable(rootsOf(stores))) {
    if (node->kind == NodeKind::Reduce) {
      return node->iterators;
    }
  }
  return {};
}

bool isAmong(IteratorId iterator, const std::vector<IteratorId> &list) {
  return std::find(list.begin(), list.end(), iterator) != list.end();
}

/// Longest reduction that is taken element after element.
constexpr int64_t longestSerial = 63;

/// Accesses along the reduction: a result for each row has no vote.
std::vector<Access> reducedAccesses(const Program &program, const std::vector<Store> &stores,
                                    const std::vector<IteratorId> &reduced) {
  std::vector<Access> accesses = accessesOf(program, stores);
  std::erase_if(accesses, [&](const Access &access) {
    const std::map<IteratorId, Polynomial> steps = stepsOf(access);
    return std::none_of(reduced.begin(), reduced.end(),
                        [&](IteratorId each) { return steps.contains(each); });
  });
  return accesses;
}

/// Longest step from one window to the next of which neighbours share sectors still.
constexpr int64_t longestStride = 4;

/// The iterators that are not reduced, in order.
std::vector<IteratorId> restOf(const Program &program, const std::vector<Store> &stores) {
  const std::vector<IteratorId> reduced = reducedIterators(stores);
  std::vector<IteratorId> rest = orderOf(program, stores);
  std::erase_if(rest, [&](IteratorId each) { return isAmong(each, reduced); });
  return rest;
}

/// Whether results that are neighbours reduce windows of several dimensions that are.
bool areWindows(const Program &program, const std::vector<Store> &stores,
                const std::vector<IteratorId> &reduced) {
  const std::vector<IteratorId> rest = restOf(program, stores);
  const std::vector<Access> accesses = reducedAccesses(program, stores, reduced);
  return reduced.size() > 1 &&
         std::any_of(accesses.begin(), accesses.end(), [&](const Access &one) {
           const std::map<IteratorId, Polynomial> steps = stepsOf(one);
           return std::any_of(steps.begin(), steps.end(), [&](const auto &step) {
             const std::optional<int64_t> length = step.second.constant();
             return isAmong(step.first, rest) && length && *length >= 1 && *length <= longestStride;
           });
         });
}

/// Whether some access steps along the reduction's iterators not as one that packs them does, such
/// as a weight for each channel of a group beside its pixels: elements of a packed row would need a
/// quotient each to find it.
bool isUneven(const Program &program, const std::vector<Access> &accesses,
              const std::vector<IteratorId> &reduced) {
  return std::any_of(accesses.begin(), accesses.end(), [&](const Access &access) {
    const std::map<IteratorId, Polynomial> steps = stepsOf(access);
    auto stepAlong = [&](IteratorId each) {
      auto found = steps.find(each);
      return found == steps.end() ? Polynomial() : found->second;
    };
    for (size_t i = 0; i + 1 < reduced.size(); ++i) {
      const IteratorId next = reduced[i + 1];
      if (stepAlong(reduced[i]) != stepAlong(next) * program.space.iterators[next].extent) {
        return true;
      }
    }
    return false;
  });
}

/// A row that is held whole, with its neighbours in memory along an axis of their own.
std::vector<TileDim> rowOfPlanes(const TileDim &reduced, IteratorId inner) {
  TileDim outer = reduced;
  std::erase(outer.iterators, inner);
  outer.index = "plane";
  outer.block = "BLOCK_P";
  outer.wholeAtMost = wholeAtMost;
  TileDim along = reduced;
  along.iterators = {inner};
  return {outer, along};
}

} // namespace

bool reduces(const std::vector<Store> &stores) { return !reducedIterators(stores).empty(); }

Polynomial reducedExtent(const Program &program, const std::vector<Store> &stores) {
  return extentOf({"", "", reducedIterators(stores)}, program);
}

bool isSerial(const Program &program, const std::vector<Store> &stores) {
  const std::vector<IteratorId> reduced = reducedIterators(stores);
  const bool isWrittenAlong = std::any_of(stores.begin(), stores.end(), [&](const Store &store) {
    const std::set<IteratorId> own = program.iteratorsOf(store);
    return std::any_of(reduced.begin(), reduced.end(),
                       [&](IteratorId each) { return own.contains(each); });
  });
  return !isWrittenAlong &&
         program.space.symbols.isAtMost(reducedExtent(program, stores), longestSerial) &&
         (mostContiguous(program, reducedAccesses(program, stores, reduced),
                         restOf(program, stores), {}) ||
          areWindows(program, stores, reduced));
}

std::vector<TileDim> firstReduceTile(const Program &program, const std::vector<Store> &stores,
                                     DimForm form) {
  TileDim reduced{"r", "BLOCK_R", reducedIterators(stores), form};
  std::vector<IteratorId> rest = restOf(program, stores);
  std::vector<IteratorId> all = rest;
  const bool isShort = isSerial(program, stores);
  if (isShort) {
    reduced.blockAtMost = 1;
  } else {
    all.insert(all.end(), reduced.iterators.begin(), reduced.iterators.end());
  }
  const std::vector<Access> accesses = reducedAccesses(program, stores, reduced.iterators);
  const std::optional<IteratorId> inner = mostContiguous(program, accesses, all, {});
  if (!inner || isAmong(*inner, reduced.iterators)) {
    std::vector<TileDim> dims;
    if (!rest.empty()) {
      dims.push_back({"row", "BLOCK_X", rest});
    }
    if (inner && form == DimForm::Whole && isUneven(program, accesses, reduced.iterators)) {
      const std::vector<TileDim> planes = rowOfPlanes(reduced, *inner);
      dims.insert(dims.end(), planes.begin(), planes.end());
    } else {
      dims.push_back(reduced);
    }
    return dims;
  }
  std::erase(rest, *inner);
  std::vector<TileDim> dims = {reduced, {"col", "BLOCK_Y", {*inner}}};
  if (!rest.empty()) {
    dims.insert(dims.begin(), {"row", "BLOCK_X", rest});
  }
  return dims;
}

std::string heldLength(const Program &program, const std::vector<Store> &stores) {
  std::vector<std::string> extents;
  for (const TileDim &dim : firstReduceTile(program, stores, DimForm::Whole)) {
    if (dim.form == DimForm::Whole) {
      extents.push_back(launchExtent(dim, program));
    }
  }
  return extents.size() > 1
             ? fmt::format("next_power_of_2({})", fmt::join(extents, ")*next_power_of_2("))
             : fmt::format("{}", fmt::join(extents, ""));
}

Result<StageKernel> emitReduce(const Program &program, const std::string &name,
                               const std::vector<Store> &stores, std::vector<TileDim> dims) {
  if (std::optional<std::string> found = unsupported(stores, true)) {
    return makeError("E0607", fmt::format("a reduction's kernel has no {}", *found));
  }
  KernelWriting writing(program, name, stores, std::move(dims));
  const TileDim &reduced = writing.tile.dimensions()[*writing.tile.reducedDim()];
  if (reduced.form == DimForm::Whole) {
    writing.values.store(stores);
    return writing.take();
  }
  writing.values.reduceInLoops(stores);
  if (program.iteratorsOf(stores[0]).contains(reduced.iterators[0])) {
    writing.values.loopOverValues([&] { writing.values.store(stores); });
  } else {
    writing.values.store(stores);
  }
  if (writing.values.lacksReduction()) {
    return makeError("E0607", "a reduction's kernel has no condition of an access that rests on a "
                              "reduction in a loop");
  }
  return writing.take();
}

} // namespace nereid::generator
