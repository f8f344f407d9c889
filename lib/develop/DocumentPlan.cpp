// SPDX-License-Identifier: Apache-2.0
#include "lib/develop/DocumentPlan.h"

#include "lib/generator/call/CallPlan.h"
#include "lib/generator/launch/Choices.h"

#include <fmt/format.h>

#include <algorithm>

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

std::vector<document::CallOutline> documentCalls(generator::Generation generation, DType dtype,
                                                 const Machine &chip) {
  std::vector<document::CallOutline> calls;
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
    }
    for (const generator::CallPlan::Scratch &memory : plan->workspaces) {
      outline.workspaceBytes +=
          static_cast<double>(memory.elements) * static_cast<double>(sizeInBytes(memory.dtype));
    }
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
