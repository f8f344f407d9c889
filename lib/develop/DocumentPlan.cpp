// SPDX-License-Identifier: Apache-2.0
#include "lib/develop/DocumentPlan.h"

#include "lib/definition/Graph.h"
#include "lib/definition/operations/Lowering.h"
#include "lib/definition/operations/Operations.h"
#include "lib/generator/call/CallPlan.h"
#include "lib/generator/launch/Choices.h"
#include "lib/generator/programs/Account.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>

namespace nereid::develop {
namespace {

/// What a measurement might say, and by which words the document calls it.
struct Finding {
  const char *words;
  generator::Diagnosis diagnosis;
};

std::vector<Finding> findings(int64_t programs) {
  return {
      {"memory waits: half of a copy's rate",
       {.bandwidthFraction = 0.5, .isBeyondCache = true, .programs = programs}},
      {"handing out programs takes a third of the time",
       {.launchFraction = 1.0 / 3, .programs = programs}},
      {"processors are idle for a third of the time",
       {.idleFraction = 1.0 / 3, .programs = programs}},
  };
}

} // namespace

document::LaunchOutline outlineOf(const generator::Generation &generation,
                                  const generator::Schedule &schedule,
                                  const definition::Binding &binding, DType dtype,
                                  const Machine &chip) {
  document::LaunchOutline outline;
  const auto plan = generator::planCall(generation, schedule, binding, dtype);
  const auto figures =
      generator::figuresOf(generation.program.tables.at(dtype), generator::launchSymbols(binding),
                           generation.site, generator::chosenBy(schedule));
  if (!plan || plan->isEmpty() || !figures) {
    return outline;
  }
  size_t widest = 0;
  for (size_t i = 0; i < figures->size(); ++i) {
    const generator::LaunchFigures &one = (*figures)[i];
    outline.elements += one.elements;
    outline.tiledElements += one.tiledElements;
    widest = one.elements > (*figures)[widest].elements ? i : widest;
  }
  const generator::LaunchFigures &main = (*figures)[widest];
  outline.kernel = plan->launches[widest].function;
  outline.schedule = plan->launches[widest].schedule.text();
  outline.grid = {plan->programs(), 1, 1};
  outline.tile = static_cast<int64_t>(main.tile);
  // The compiler of hosts has stores bypass a cache that they do not fit.
  outline.isStreaming =
      !chip.isDevice &&
      document::isBeyondCache(chip,
                              definition::countWork(generation.op(), binding, dtype).bytesWritten);
  outline.warps = !chip.isDevice ? 0 : main.warps > 0 ? main.warps : 4;
  outline.stages = main.stages;
  return outline;
}

std::vector<document::CasePlan> documentPlans(generator::Generation generation, DType dtype,
                                              const Machine &chip) {
  std::vector<document::CasePlan> plans;
  const auto cases = generation.op().performanceCases;
  const generator::Schedule draft = generator::naiveSchedule(generation.program.tables.at(dtype));
  const definition::Binding &sizes = cases.front().binding;
  const auto first =
      generator::planCall(generation, generation.scheduleFor(sizes, dtype, chip), sizes, dtype);
  for (const definition::Case &one : cases) {
    const auto outlined = [&](const generator::Schedule &schedule) {
      return outlineOf(generation, schedule, one.binding, dtype, chip);
    };
    document::CasePlan plan;
    plan.chosen = outlined(generation.scheduleFor(one.binding, dtype, chip));
    plan.draft = outlined(draft);
    plan.shared = first ? outlined(first->schedule) : plan.draft;
    if (plan.chosen.kernel.empty() || plan.draft.kernel.empty() || plan.shared.kernel.empty()) {
      return {};
    }
    plans.push_back(std::move(plan));
  }
  return plans;
}

namespace {

/// What kernels compute, in the words of the body, and what is between them.
class FusionTeller {
public:
  FusionTeller(const generator::Generation &generation, DType dtype)
      : generation(generation), op(definition::decomposed(generation.op())), dtype(dtype),
        dtypes(definition::nodeDtypes(op, dtype)) {
    if (auto made = generator::fusionAccount(generation.op(), dtype)) {
      account = std::move(*made);
    }
  }

  void tell(const generator::LaunchPlan &launch, const definition::Binding &binding,
            const generator::CallPlan &plan, document::CallOutline::Launch &told) const {
    const auto &kernels = generation.program.tables.at(dtype).kernels;
    auto isIt = [&](const generator::LaunchEntry &entry) {
      return entry.function == launch.function;
    };
    const auto at =
        static_cast<size_t>(std::find_if(kernels.begin(), kernels.end(), isIt) - kernels.begin());
    const std::set<size_t> none;
    for (size_t number : at < account.operations.size() ? account.operations[at] : none) {
      const definition::Node &node = op.nodes.at(number);
      told.computes += told.computes.empty() ? "" : ", ";
      told.computes += (node.name.empty() ? "" : node.name + " = ") + node.op;
      told.unfusedBytes += bytesOf(number, binding);
      for (int input : std::set<int>(node.inputs.begin(), node.inputs.end())) {
        told.unfusedBytes += bytesOf(static_cast<size_t>(input), binding);
      }
    }
    told.isOnline = at < account.areOnline.size() && account.areOnline[at];
    const auto &operands = generation.called().operands;
    for (const generator::LaunchPlan::Argument &argument : launch.arguments) {
      const int *tensor = std::get_if<int>(&argument.value);
      if (!tensor) {
        continue;
      }
      const auto place = static_cast<size_t>(*tensor);
      told.bytes += place < operands.size() ? bytesOf(operands[place], binding)
                                            : bytesOf(plan.workspaces[place - operands.size()]);
    }
  }

  void tellBoundaries(const generator::CallPlan &plan, document::CallOutline &outline) const {
    const size_t operands = generation.called().operands.size();
    for (size_t memory = 0; memory < plan.workspaces.size(); ++memory) {
      const std::string *from = nullptr;
      for (const generator::LaunchPlan &launch : plan.launches) {
        const auto &all = launch.arguments;
        const bool has = std::any_of(all.begin(), all.end(), [&](const auto &argument) {
          const int *tensor = std::get_if<int>(&argument.value);
          return tensor && static_cast<size_t>(*tensor) == operands + memory;
        });
        if (has && from) {
          const auto why = account.reasons.find(plan.workspaces[memory].name);
          outline.boundaries.push_back({*from, launch.function, plan.workspaces[memory].name,
                                        why == account.reasons.end() ? "" : why->second,
                                        bytesOf(plan.workspaces[memory])});
        }
        from = has && !from ? &launch.function : from;
      }
    }
  }

private:
  double elementsOf(const definition::SymbolicShape &shape,
                    const definition::Binding &binding) const {
    const auto sizes = definition::bind(shape, binding);
    double elements = sizes ? 1 : 0;
    for (size_t i = 0; sizes && i < sizes->size(); ++i) {
      elements *= static_cast<double>((*sizes)[i]);
    }
    return elements;
  }
  /// Of an operation's result; numbers are in no memory.
  double bytesOf(size_t number, const definition::Binding &binding) const {
    const definition::Node &node = op.nodes.at(number);
    return definition::isNumber(node) ? 0
                                      : elementsOf(node.shape, binding) *
                                            static_cast<double>(sizeInBytes(dtypes.at(number)));
  }
  double bytesOf(const generator::Operand &operand, const definition::Binding &binding) const {
    return elementsOf(operand.shape, binding) *
           static_cast<double>(sizeInBytes(operand.fixedDtype.value_or(dtype)));
  }
  static double bytesOf(const generator::CallPlan::Scratch &memory) {
    return static_cast<double>(memory.elements) * static_cast<double>(sizeInBytes(memory.dtype));
  }

  const generator::Generation &generation;
  const definition::Operator op;
  const DType dtype;
  const std::vector<DType> dtypes;
  generator::FusionAccount account;
};

} // namespace

std::vector<document::CallOutline> documentCalls(generator::Generation generation, DType dtype,
                                                 const Machine &chip) {
  std::vector<document::CallOutline> calls;
  const FusionTeller accounts(generation, dtype);
  const auto cases = generation.op().performanceCases;
  for (const definition::Case &one : cases) {
    const auto schedule = generation.scheduleFor(one.binding, dtype, chip);
    auto plan = generator::planCall(generation, schedule, one.binding, dtype);
    if (!plan) {
      return {};
    }
    document::CallOutline &outline = calls.emplace_back();
    for (const generator::LaunchPlan &launch : plan->launches) {
      outline.launches.push_back({launch.function, launch.schedule.text(),
                                  launch.grid[0] * launch.grid[1] * launch.grid[2]});
      accounts.tell(launch, one.binding, *plan, outline.launches.back());
    }
    accounts.tellBoundaries(*plan, outline);
  }
  return calls;
}

std::vector<document::Remedy> documentRemedies(generator::Generation generation, DType dtype,
                                               const Machine &chip) {
  constexpr size_t most = 2;
  std::vector<document::Remedy> remedies;
  const auto cases = generation.op().performanceCases;
  for (const definition::Case &one : cases) {
    const auto schedule = generation.scheduleFor(one.binding, dtype, chip);
    const auto plan = generator::planCall(generation, schedule, one.binding, dtype);
    const auto around = generation.neighbourhood(schedule, one.binding, dtype, chip, {});
    for (const Finding &finding : findings(plan ? plan->programs() : 0)) {
      generator::Diagnosis diagnosis = finding.diagnosis;
      generation.describe(schedule, one.binding, dtype, chip, diagnosis);
      const auto next = around.of(diagnosis, nullptr);
      for (size_t i = 0; i < std::min(next.size(), most); ++i) {
        remedies.push_back(
            {finding.words, one.name, next[i].change, next[i].reason, next[i].expectedGain});
      }
    }
  }
  return remedies;
}

} // namespace nereid::develop
