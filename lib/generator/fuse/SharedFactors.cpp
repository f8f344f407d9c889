// SPDX-License-Identifier: Apache-2.0
// Which factors several products need, see SharedFactors.h.
#include "lib/generator/fuse/SharedFactors.h"

#include "lib/generator/fuse/Contraction.h"
#include "lib/generator/template/StageKernel.h"

#include <algorithm>

namespace nereid::generator {
namespace {

/// Whether the value is computed, and of a reduction that has an element for each of its own.
bool hasReductionOfItsPoints(const Node *value) {
  const std::vector<const Node *> nodes = reachable({value});
  return value->kind == NodeKind::Map && value->name != "cast" &&
         std::any_of(nodes.begin(), nodes.end(), [&](const Node *node) {
           return node->kind == NodeKind::Reduce && node->free == value->free;
         });
}

/// What products compute for each point of a factor.
struct Computed {
  std::set<const Node *> factors, parts; ///< parts: factors and what they are computed of

  void add(const Node *factor) {
    if (hasReductionOfItsPoints(factor)) {
      factors.insert(factor);
      addParts(factor);
    }
  }

private:
  /// Without what other products compute.
  void addParts(const Node *value) {
    if (parts.contains(value) || contractionOf(*value) || !hasReductionOfItsPoints(value)) {
      return;
    }
    parts.insert(value);
    for (const Node *input : value->inputs) {
      addParts(input);
    }
  }
};

Computed computedBy(const std::vector<Store> &group) {
  Computed result;
  for (const Node *node : reachable(rootsOf(group))) {
    if (const std::optional<Contraction> product = contractionOf(*node)) {
      result.add(product->a);
      result.add(product->b);
    }
  }
  return result;
}

} // namespace

SharedFactors::SharedFactors(const Program &program, BoundNames &names,
                             const std::function<bool(size_t)> &isAsked)
    : names(names) {
  std::vector<Computed> kernels;
  for (size_t stage = 0; stage < program.stages.size(); ++stage) {
    if (isAsked(stage)) {
      for (const std::vector<Store> &group : groupsOf(program, program.stages[stage])) {
        kernels.push_back(computedBy(group));
      }
    }
  }
  for (const Computed &kernel : kernels) {
    for (const Node *factor : kernel.factors) {
      int64_t count = 0;
      for (const Computed &each : kernels) {
        count += std::count_if(each.parts.begin(), each.parts.end(),
                               [&](const Node *part) { return names.areAlike(part, factor); });
      }
      if (count > 1) {
        shared.push_back(factor);
      }
    }
  }
}

std::vector<const Node *> SharedFactors::in(const std::vector<Store> &group) {
  std::vector<const Node *> result;
  if (shared.empty()) {
    return result;
  }
  for (const Node *part : computedBy(group).parts) {
    if (std::any_of(shared.begin(), shared.end(),
                    [&](const Node *factor) { return names.areAlike(part, factor); })) {
      result.push_back(part);
    }
  }
  std::sort(result.begin(), result.end(),
            [](const Node *a, const Node *b) { return a->number < b->number; });
  return result;
}

} // namespace nereid::generator
