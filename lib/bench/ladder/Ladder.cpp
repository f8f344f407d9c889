// SPDX-License-Identifier: Apache-2.0
#include "lib/bench/ladder/Ladder.h"

#include "lib/bench/profile/CaseProfile.h"
#include "lib/bench/tuning/ConfigSearch.h"
#include "lib/measure/statistics/Statistics.h"
#include "lib/pipeline/Target.h"
#include "lib/support/FirstError.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>

namespace nereid::bench {
namespace {

using launch::KernelCase;

/// "nvidia:sm_90a": code can be made for it, and nothing is launched.
bool isArchitecture(const std::string &target) {
  return pipeline::runsOnDevice(target) && !pipeline::namesDevice(target) &&
         target.find(':') != std::string::npos;
}

std::string failureText(const Diagnostics &diags) {
  if (diags.all().empty()) {
    return "interrupted";
  }
  const Diagnostic &error = firstError(diags);
  return fmt::format("{} [{}]", error.message, error.code);
}

CodeTaken codeTaken(const runtime::FunctionResources &resources, const runtime::KernelInfo &info,
                    pipeline::Occupation occupation) {
  return {.resources = resources,
          .sharedBytes = resources.sharedBytes + static_cast<int64_t>(info.scratchBytes),
          .occupation = std::move(occupation)};
}

/// Of a kernel that ran on a device.
std::optional<CodeTaken> codeOnDevice(const KernelRow &row, const launch::Execution &execution) {
  if (!row.onDevice || !row.onDevice->resources) {
    return std::nullopt;
  }
  auto target = pipeline::findTarget(execution.target, execution.chip);
  if (!target) {
    return std::nullopt;
  }
  auto occupation = (*target)->occupation(*row.onDevice->resources, row.onDevice->info);
  return occupation ? std::optional(codeTaken(*row.onDevice->resources, row.onDevice->info,
                                              std::move(*occupation)))
                    : std::nullopt;
}

RungLaunch launchOfCase(const KernelCase &one) {
  return {.caseName = one.name, .file = std::filesystem::path(one.kernel).filename().string()};
}

/// For an architecture.
RungLaunch describe(const KernelCase &one, const KernelMeasurement &how) {
  RungLaunch launch = launchOfCase(one);
  Diagnostics diags;
  if (auto profile = profileKernel(one, how, diags)) {
    launch.code = codeTaken(profile->resources, profile->info, std::move(profile->occupation));
  } else {
    launch.failure = failureText(diags);
  }
  return launch;
}

class Climb {
public:
  Climb(const std::vector<KernelCase> &cases, const KernelMeasurement &how, const Machine &chip)
      : cases(cases), how(how), chip(chip) {}

  Ladder run(const LadderPlan &plan);

private:
  /// Chooses configs, and leaves out what cannot be asked for.
  void add(size_t number, RungLaunch &launch);
  void measure();

  const std::vector<KernelCase> &cases;
  const KernelMeasurement &how;
  const Machine &chip;
  std::vector<KernelCase> asked;
  std::vector<std::string> configs;
  std::vector<RungLaunch *> launches; ///< of those that are asked
};

void Climb::add(size_t number, RungLaunch &launch) {
  launch = launchOfCase(cases[number]);
  Diagnostics diags;
  auto chosen = chooseConfig(cases[number], how, chip, diags);
  if (!chosen) {
    launch.failure = failureText(diags);
    return;
  }
  asked.push_back(std::move(chosen->asked));
  configs.push_back(std::move(chosen->config));
  launches.push_back(&launch);
}

void Climb::measure() {
  std::vector<MeasuredCase> measured = measureTogether(asked, how, chip);
  for (size_t i = 0; i < measured.size(); ++i) {
    RungLaunch &launch = *launches[i];
    launch.row = std::move(measured[i].row);
    if (!launch.row) {
      launch.failure = failureText(measured[i].diags);
      continue;
    }
    launch.row->config = configs[i];
    launch.code = codeOnDevice(*launch.row, how.execution);
  }
}

Ladder Climb::run(const LadderPlan &plan) {
  Ladder ladder{.name = plan.name, .rungs = {}};
  for (const LadderPlan::Step &step : plan.steps) {
    ladder.rungs.push_back({step.name, std::vector<RungLaunch>(step.cases.size())});
  }
  const bool isDescribed = isArchitecture(how.execution.target);
  for (size_t rung = 0; rung < plan.steps.size(); ++rung) {
    for (size_t i = 0; i < plan.steps[rung].cases.size(); ++i) {
      const size_t number = plan.steps[rung].cases[i];
      RungLaunch &launch = ladder.rungs[rung].launches[i];
      if (isDescribed) {
        launch = describe(cases[number], how);
      } else {
        add(number, launch);
      }
    }
  }
  if (!asked.empty()) {
    measure();
  }
  return ladder;
}

} // namespace

bool Rung::isTimed() const {
  return std::all_of(launches.begin(), launches.end(),
                     [](const RungLaunch &launch) { return launch.isTimed(); });
}

std::string Rung::failure() const {
  for (const RungLaunch &launch : launches) {
    if (!launch.failure.empty()) {
      return launch.failure;
    }
    if (launch.row && !launch.row->failure.empty()) {
      return launch.row->failure;
    }
  }
  return "";
}

std::vector<double> Rung::samples() const {
  std::vector<double> sums;
  if (!isTimed()) {
    return sums;
  }
  for (const RungLaunch &launch : launches) {
    const std::vector<double> &own = launch.row->kernel.samples;
    if (sums.empty()) {
      sums = own;
      continue;
    }
    sums.resize(std::min(sums.size(), own.size()));
    for (size_t i = 0; i < sums.size(); ++i) {
      sums[i] += own[i];
    }
  }
  return sums;
}

double Rung::median() const { return measure::percentile(samples(), 0.5); }

static double sumOf(const Rung &rung, double Row::*what) {
  double sum = 0;
  for (const RungLaunch &launch : rung.launches) {
    if (!launch.row || (*launch.row).*what <= 0) {
      return 0;
    }
    sum += (*launch.row).*what;
  }
  return sum;
}

double Rung::bytes() const { return sumOf(*this, &Row::bytes); }
double Rung::flops() const { return sumOf(*this, &Row::flops); }

double Ladder::gain(size_t from, size_t to) const {
  return measure::medianRatio(rungs[from].samples(), rungs[to].samples());
}

double Ladder::gainOverLast(size_t rung) const {
  for (size_t last = rung; last-- > 0;) {
    if (rungs[last].isTimed()) {
      return gain(last, rung);
    }
  }
  return 0;
}

Result<std::vector<LadderPlan>> ladderPlans(const std::string &folder,
                                            const std::vector<KernelCase> &cases) {
  std::vector<LadderPlan> plans;
  for (size_t i = 0; i < cases.size(); ++i) {
    if (cases[i].ladder.empty()) {
      continue;
    }
    auto plan = std::find_if(plans.begin(), plans.end(),
                             [&](const LadderPlan &one) { return one.name == cases[i].ladder; });
    if (plan == plans.end()) {
      plan = plans.insert(plans.end(), {cases[i].ladder, {}});
    }
    auto step = std::find_if(plan->steps.begin(), plan->steps.end(),
                             [&](const auto &one) { return one.name == cases[i].rung; });
    if (step == plan->steps.end()) {
      step = plan->steps.insert(plan->steps.end(), {cases[i].rung, {}});
    }
    step->cases.push_back(i);
  }
  if (plans.empty()) {
    return makeError("E0016", fmt::format("'{}' has no case that is a rung of a ladder", folder))
        .withHelp("cases of one ladder have the same text for the key 'ladder', and each rung its "
                  "own for 'rung'; kernels/README.md has the format");
  }
  return plans;
}

std::optional<Ladder> measureLadder(const LadderPlan &plan, const std::vector<KernelCase> &cases,
                                    const KernelMeasurement &how, const Machine &chip,
                                    Diagnostics &diags) {
  if (auto target = pipeline::findTarget(how.execution.target, how.execution.chip); !target) {
    diags.add(target.error());
    return std::nullopt;
  }
  return Climb(cases, how, chip).run(plan);
}

} // namespace nereid::bench
