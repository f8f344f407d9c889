// SPDX-License-Identifier: Apache-2.0
#include "lib/develop/accuracy/FormCases.h"

#include "lib/generator/call/CallPlan.h"

#include <fmt/format.h>

#include <algorithm>

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
/// More of them need not be.
constexpr double enoughOperations = 1e6;

class FormFinder {
public:
  FormFinder(generator::Generation &generation, const Machine &chip, DType dtype,
             std::set<std::string> &launched)
      : generation(generation), chip(chip), dtype(dtype), launched(launched) {}

  /// Notes what a call of these sizes launches.
  void note(const GridCase &one) {
    if (auto plan = planOf(one)) {
      note(*plan);
    }
  }

  /// Adds cases of those until they launch nothing that none before has launched: first the ones
  /// whose programs have most to do, as with a long line that each takes in turns, and not those of
  /// so many short lines, for which the interpreter runs thousands of programs.
  void addNew(std::vector<GridCase> wanted, std::vector<GridCase> &added) {
    std::vector<std::pair<GridCase, CallPlan>> left;
    for (GridCase &one : wanted) {
      if (auto plan = isSmall(one.binding) ? planOf(one) : Result<CallPlan>(CallPlan())) {
        left.emplace_back(std::move(one), std::move(*plan));
      }
    }
    std::stable_sort(left.begin(), left.end(), [&](const auto &a, const auto &b) {
      return workOfProgram(a.first, a.second) > workOfProgram(b.first, b.second);
    });
    for (auto &[one, plan] : left) {
      if (note(plan)) {
        added.push_back(std::move(one));
      }
    }
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
  using CallPlan = generator::CallPlan;

  Result<CallPlan> planOf(const GridCase &one) {
    return generator::planCall(generation, scheduleOf(one, generation, chip, dtype), one.binding,
                               dtype);
  }

  /// Whether one of the kernels is new, or has programs that take turns for the first time.
  bool note(const CallPlan &plan) {
    bool isNew = false;
    for (const generator::LaunchPlan &launch : plan.launches) {
      isNew |= launched.insert(launch.function + (launch.hasTurns ? " in turns" : "")).second;
    }
    return isNew;
  }

  bool isSmall(const Binding &binding) const {
    const definition::Operator &op = generation.op();
    return definition::tensorBytes(op, binding, dtype) <= mostBytes &&
           definition::countUnfusedWork(op, binding, dtype).flops <= mostOperations;
  }

  double workOfProgram(const GridCase &one, const CallPlan &plan) const {
    const double work = definition::countUnfusedWork(generation.op(), one.binding, dtype).flops;
    return std::min(work, enoughOperations) /
           static_cast<double>(std::max<int64_t>(plan.programs(), 1));
  }

  generator::Generation &generation;
  const Machine &chip;
  DType dtype;
  std::set<std::string> &launched;
};

/// Each size in turn, the others being `other`, and the leading ones together.
std::vector<Binding> longOnes(const Binding &any, int64_t length, int64_t other) {
  std::vector<Binding> list;
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
  return list;
}

} // namespace

void addFormCases(std::vector<GridCase> &grid, generator::Generation &generation,
                  const Machine &chip, DType dtype, std::set<std::string> &launched) {
  FormFinder finder(generation, chip, dtype, launched);
  const GridCase *any = nullptr;
  for (const GridCase &one : grid) {
    if (one.unmet.empty()) {
      finder.note(one);
      any = any == nullptr || !one.binding.rest.empty() ? &one : any;
    }
  }
  if (any == nullptr) {
    return;
  }
  std::vector<GridCase> added;
  auto add = [&](int64_t length, const std::string &name, const Choices &choices) {
    for (const int64_t other : {2, 1}) { // 1 where a constraint or the time wants it
      std::vector<GridCase> cases;
      for (const Binding &wanted : longOnes(any->binding, length, other)) {
        if (auto one = definition::caseOfSizes(generation.op(), name, wanted, dtype)) {
          one->choices = choices;
          cases.push_back(std::move(*one));
        }
      }
      finder.addNew(std::move(cases), added);
    }
  };
  for (const Choices &choices : finder.otherForms()) {
    add(sizeOfChosen, fmt::format("{}={}", choices[0].first, choices[0].second), choices);
  }
  for (int64_t length : longSizes) {
    add(length, "long", {});
  }
  for (GridCase &one : added) {
    one.seed = grid.front().seed + grid.size() + static_cast<size_t>(&one - added.data());
    one.isOfForms = true;
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
