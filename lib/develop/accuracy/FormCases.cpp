// SPDX-License-Identifier: Apache-2.0
#include "lib/develop/accuracy/FormCases.h"

#include "lib/generator/call/CallPlan.h"

#include <fmt/format.h>

namespace nereid::develop {
namespace {

using definition::Binding;
using definition::GridCase;

using Choices = std::vector<std::pair<std::string, int64_t>>;

/// More than two turns of what a loop takes of a row.
constexpr int64_t sizeOfChosen = 2053;
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
  bool takes(const GridCase &one) {
    auto plan = generator::planCall(generation, scheduleOf(one, generation, chip, dtype),
                                    one.binding, dtype);
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

  /// Each choice between forms, made either way; of lines that a tile holds, that it holds none.
  std::vector<Choices> otherForms() const {
    using Kind = generator::LaunchChoice::Kind;
    std::vector<Choices> list;
    for (const generator::LaunchChoice &one : generation.program.tables.at(dtype).choices) {
      if (one.kind == Kind::Held || one.kind == Kind::Form) {
        list.push_back({{one.name, 0}});
      }
      if (one.kind == Kind::Form) {
        list.push_back({{one.name, 1}});
      }
    }
    return list;
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
      finder.takes(one);
      any = any == nullptr || !one.binding.rest.empty() ? &one : any;
    }
  }
  if (any == nullptr) {
    return;
  }
  std::vector<GridCase> added;
  auto add = [&](int64_t length, const std::string &name, const Choices &choices) {
    for (const Binding &wanted : longOnes(any->binding, length)) {
      auto one = definition::caseOfSizes(generation.op(), name, wanted, dtype);
      if (!one || !finder.isSmall(one->binding)) {
        continue;
      }
      one->choices = choices;
      if (finder.takes(*one)) {
        one->seed = grid.front().seed + grid.size() + added.size();
        one->isOfForms = true;
        added.push_back(std::move(*one));
      }
    }
  };
  for (const Choices &choices : finder.otherForms()) {
    add(sizeOfChosen, fmt::format("{}={}", choices[0].first, choices[0].second), choices);
  }
  for (int64_t length : longSizes) {
    add(length, "long", {});
  }
  grid.insert(grid.end(), std::make_move_iterator(added.begin()),
              std::make_move_iterator(added.end()));
}

generator::Schedule scheduleOf(const GridCase &grid, generator::Generation &generation,
                               const Machine &chip, DType dtype) {
  generator::Schedule schedule = generation.scheduleFor(grid.binding, dtype, chip);
  for (const auto &[name, value] : grid.choices) {
    schedule = schedule.choosing(name, value);
  }
  return schedule;
}

} // namespace nereid::develop
