// SPDX-License-Identifier: Apache-2.0
#include "lib/develop/accuracy/FormCases.h"

#include "lib/generator/call/CallPlan.h"

namespace nereid::develop {
namespace {

using definition::Binding;
using definition::GridCase;

/// Beyond the longest line that a tile holds, and from where few lines are reduced in parts.
constexpr int64_t longSizes[] = {8209, (int64_t{1} << 20) + 7};
/// What the reference computes in about a second.
constexpr double mostBytes = 32 << 20, mostOperations = 2e8;

class FormFinder {
public:
  FormFinder(generator::Generation &generation, const Machine &chip, DType dtype,
             std::set<std::string> &launched)
      : generation(generation), chip(chip), dtype(dtype), launched(launched) {}

  /// Whether a call of these sizes launches a kernel that none before has launched.
  bool takes(const Binding &binding) {
    auto plan = generator::planCall(generation, generation.scheduleFor(binding, dtype, chip),
                                    binding, dtype);
    bool isNew = false;
    for (size_t i = 0; plan && i < plan->launches.size(); ++i) {
      isNew |= launched.insert(plan->launches[i].function).second;
    }
    return isNew;
  }

  bool isSmall(const Binding &binding) const {
    const definition::Operator &op = generation.op();
    return definition::tensorBytes(op, binding, dtype) <= mostBytes &&
           definition::countUnfusedWork(op, binding, dtype).flops <= mostOperations;
  }

private:
  generator::Generation &generation;
  const Machine &chip;
  DType dtype;
  std::set<std::string> &launched;
};

/// Each size in turn, the others being 1 or 2, and the leading ones together.
std::vector<Binding> longOnes(const Binding &any, int64_t length) {
  std::vector<Binding> list;
  for (int64_t other : {int64_t{2}, int64_t{1}}) {
    Binding base = any;
    for (auto &[symbol, size] : base.symbols) {
      size = other;
    }
    base.rest = any.rest.empty() ? std::vector<int64_t>() : std::vector<int64_t>{other};
    for (const auto &[symbol, size] : any.symbols) {
      list.push_back(base);
      list.back().symbols[symbol] = length;
    }
    if (!base.rest.empty()) {
      list.push_back(base);
      list.back().rest = {length};
    }
  }
  return list;
}

} // namespace

void addFormCases(std::vector<GridCase> &grid, generator::Generation &generation,
                  const Machine &chip, DType dtype, std::set<std::string> &launched) {
  FormFinder finder(generation, chip, dtype, launched);
  const GridCase *any = nullptr;
  for (const GridCase &one : grid) {
    if (one.unmet.empty()) {
      finder.takes(one.binding);
      any = any == nullptr || !one.binding.rest.empty() ? &one : any;
    }
  }
  if (any == nullptr) {
    return;
  }
  std::vector<GridCase> added;
  for (int64_t length : longSizes) {
    for (const Binding &wanted : longOnes(any->binding, length)) {
      auto one = definition::caseOfSizes(generation.op(), "long", wanted, dtype);
      if (one && finder.isSmall(one->binding) && finder.takes(one->binding)) {
        one->seed = grid.front().seed + grid.size() + added.size();
        one->isOfForms = true;
        added.push_back(std::move(*one));
      }
    }
  }
  grid.insert(grid.end(), std::make_move_iterator(added.begin()),
              std::make_move_iterator(added.end()));
}

} // namespace nereid::develop
