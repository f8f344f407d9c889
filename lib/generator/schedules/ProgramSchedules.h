// SPDX-License-Identifier: Apache-2.0
// What launch tables leave open, as first choices and as spaces for a search; neighbours for
// optimisation rounds are Neighbourhood.h's. Knows no template: a choice, its range and its tile
// are data (launch/Table.h).
#pragma once

#include "lib/generator/Patterns.h"
#include "lib/generator/schedules/ProgramFigures.h"

namespace nereid::generator {

/// One case of an operator: its table at these sizes.
struct ProgramCase {
  const LaunchTable *table = nullptr;
  std::map<std::string, int64_t> symbols;
  LaunchSite site;
  DType dtype{};
  double bytes = 0; ///< of all operands
};

/// Those of the whole launch and of each kernel.
std::vector<const LaunchChoice *> choicesOf(const LaunchTable &table);
/// What a launch with this schedule is made by, rules' values included; see CallPlan::schedule.
Schedule shownSchedule(const ProgramCase &one, const Schedule &schedule);
/// The same of launches that are bound by these choices already.
Schedule shownSchedule(const ProgramCase &one, const std::vector<BoundLaunch> &launches,
                       const ChosenValues &chosen);
/// Of a shown schedule, what the rules would not have said.
Schedule chosenPart(const ProgramCase &one, const Schedule &shown);

/// Where --start naive begins.
Schedule naiveSchedule(const LaunchTable &table);
/// The rules, then what patterns.json says worked for the templates.
FirstChoice firstSchedule(const ProgramCase &one, const Machine &chip, const Patterns *patterns);

/// Sizes of the kernel of this role, as patterns.json files them: columns are the last dimension.
CaseSizes sizesOf(const ProgramCase &one, const std::string &role);
/// "contract" of "contract.BLOCK_M=128".
std::string roleOfChange(const std::string &key);

/// Schedules that a search tries: the first choice, and its neighbours' values combined by two of
/// one kernel, as kernels of one call hardly slow each other.
std::vector<Schedule> scheduleSpace(const ProgramCase &one, const Machine &chip);

} // namespace nereid::generator
