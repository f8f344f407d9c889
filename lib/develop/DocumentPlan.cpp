// SPDX-License-Identifier: Apache-2.0
#include "lib/develop/DocumentPlan.h"

#include "lib/generator/call/CallPlan.h"

#include <fmt/format.h>

#include <algorithm>

namespace nereid::develop {
namespace {

using generator::KernelVariant;

int64_t ceilDiv(int64_t a, int64_t b) { return b > 0 ? (a + b - 1) / b : 0; }

/// Elements of one program's blocks, those behind an end included.
double tiledOf(const generator::Schedule &schedule, const generator::CaseSizes &sizes) {
  const auto blocks = [&](const char *name) {
    return static_cast<double>(std::max<int64_t>(schedule.get(name, 1), 1));
  };
  switch (schedule.variant) {
  case KernelVariant::Flat:
    return blocks("BLOCK");
  case KernelVariant::Tiles:
    return blocks("BLOCK_M") * blocks("BLOCK_N");
  case KernelVariant::Rows:
    return blocks("ROWS") * blocks("BLOCK_N");
  case KernelVariant::LoopedRows:
    return blocks("ROWS") * blocks("BLOCK_N") *
           static_cast<double>(ceilDiv(sizes.columns, schedule.get("BLOCK_N", 1)));
  }
  return 0;
}

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

document::LaunchOutline outlineOf(const generator::FusedOperator &fused,
                                  const generator::Schedule &schedule,
                                  const definition::Binding &binding, DType dtype) {
  document::LaunchOutline outline;
  auto plan = generator::planLaunch(fused, schedule, binding, dtype);
  if (!plan || plan->isEmpty) {
    return outline;
  }
  const generator::Schedule &used = plan->schedule;
  const auto sizes = generator::sizesOf(fused, binding, dtype);
  outline.kernel = plan->function;
  outline.schedule = used.text();
  outline.grid = {static_cast<int64_t>(plan->grid[0]), static_cast<int64_t>(plan->grid[1]),
                  static_cast<int64_t>(plan->grid[2])};
  outline.elements = static_cast<double>(sizes.elements());
  outline.tiledElements =
      tiledOf(used, sizes) * static_cast<double>(std::max<int64_t>(outline.programs(), 1));
  for (const char *name : {"BLOCK", "BLOCK_M", "BLOCK_N"}) {
    if (used.get(name, 0) > 0) {
      outline.tile = std::max<int64_t>(outline.tile, 1) * used.get(name);
    }
  }
  outline.isStreaming = used.get("STREAMING") != 0;
  outline.warps = used.get("num_warps");
  outline.stages = used.get("num_stages");
  return outline;
}

std::vector<document::CasePlan> documentPlans(generator::Generation generation, DType dtype,
                                              const Machine &chip) {
  std::vector<document::CasePlan> plans;
  if (generation.program) { // has no other way to be compared with
    return plans;
  }
  const auto &fused = generation.fused;
  const auto cases = fused.op.performanceCases;
  const generator::Schedule draft = generator::naiveSchedule(fused);
  for (const definition::Case &one : cases) {
    document::CasePlan plan;
    const auto chosen = generation.scheduleFor(one.binding, dtype, chip);
    plan.chosen = outlineOf(fused, chosen, one.binding, dtype);
    plan.draft = outlineOf(fused, draft, one.binding, dtype);
    const auto first = generation.scheduleFor(cases.front().binding, dtype, chip);
    const bool fits =
        generator::isValid(first, fused, generator::sizesOf(fused, one.binding, dtype));
    plan.shared = fits ? outlineOf(fused, first, one.binding, dtype) : plan.draft;
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
  if (!generation.program) {
    return calls;
  }
  const auto cases = generation.op().performanceCases;
  for (const definition::Case &one : cases) {
    const auto schedule = generation.scheduleFor(one.binding, dtype, chip);
    auto plan = generator::planCall(generation, schedule, one.binding, dtype);
    if (!plan) {
      return {};
    }
    document::CallOutline &outline = calls.emplace_back();
    for (const generator::LaunchPlan &launch : plan->launches) {
      outline.launches.push_back({launch.function, launch.schedule.constantsText(),
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
    for (const Finding &finding : findings(plan ? plan->programs() : 0)) {
      generator::Diagnosis diagnosis = finding.diagnosis;
      generation.describe(schedule, one.binding, dtype, chip, diagnosis);
      const auto next =
          generation.neighboursOf(schedule, one.binding, dtype, chip, diagnosis, nullptr, {});
      for (size_t i = 0; i < std::min(next.size(), most); ++i) {
        remedies.push_back(
            {finding.words, one.name, next[i].change, next[i].reason, next[i].expectedGain});
      }
    }
  }
  return remedies;
}

} // namespace nereid::develop
