// SPDX-License-Identifier: Apache-2.0
#include "lib/develop/OperatorLaunches.h"

#include "lib/generator/Project.h"
#include "lib/generator/call/CallPlan.h"
#include "lib/support/FirstError.h"
#include "lib/verify/KeptCase.h"

#include <fmt/format.h>

#include <algorithm>

namespace nereid::develop {

namespace {

/// Of one case in one type.
Status addLaunches(generator::Generation &generation, const definition::Case &one, DType dtype,
                   const Machine &chip, const std::string &file,
                   std::vector<launch::KernelCase> &all) {
  const auto schedule = generation.scheduleFor(one.binding, dtype, chip);
  const auto plan = generator::planCall(generation, schedule, one.binding, dtype);
  if (!plan) {
    return plan.error();
  }
  for (size_t i = 0; i < plan->launches.size(); ++i) {
    const generator::LaunchPlan &step = plan->launches[i];
    launch::KernelCase made;
    made.name = fmt::format("{} {}", one.name, torchName(dtype));
    if (plan->launches.size() > 1) {
      made.name += fmt::format(", {} of {}", i + 1, plan->launches.size());
    }
    made.kernel = file + ":" + step.function;
    made.signature = step.signature;
    made.grid = fmt::format("{}", fmt::join(step.grid, ", "));
    all.push_back(std::move(made));
  }
  return Done{};
}

} // namespace

bool isOperatorFolder(const std::string &folder) { return generator::Project::isProject(folder); }

Result<std::vector<launch::KernelCase>> operatorLaunches(const std::string &folder, Machine chip,
                                                         const std::string &onlyCase) {
  auto project = generator::Project::open(folder);
  if (!project) {
    return project.error();
  }
  const generator::Manifest &manifest = project->manifest;
  Diagnostics diags;
  auto op = definition::parseOperator(manifest.definitionPath, manifest.definitionText, diags);
  if (!op) {
    return firstError(diags);
  }
  chip.isDevice = true;
  auto generation = generator::generate(*op, chip, nullptr, manifest.start);
  if (!generation) {
    return generation.error();
  }
  if (manifest.chip == chip.fingerprint) {
    generation->table = manifest.table;
  }
  const std::string file = project->path(op->name + "_triton.py");
  std::vector<launch::KernelCase> all;
  std::vector<std::string> names;
  for (const definition::Case &one : op->performanceCases) {
    names.push_back(one.name);
    for (const DType dtype : op->dtypes) {
      if (!onlyCase.empty() && one.name != onlyCase) {
        continue;
      }
      if (Status added = addLaunches(*generation, one, dtype, chip, file, all); !added) {
        return added.error();
      }
    }
  }
  if (all.empty() && !onlyCase.empty()) {
    return verify::unknownCase(op->name, onlyCase, names);
  }
  return all;
}

} // namespace nereid::develop
