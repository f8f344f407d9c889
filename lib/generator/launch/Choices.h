// SPDX-License-Identifier: Apache-2.0
// A table's choices as whoever writes its expressions into files takes them: rules, and for classes
// of sizes the values that a schedule has for them.
//
//   tuned = (M > 512)*(M <= 1024)
//   BLOCK_M = min(128 if tuned else 64, …)
#pragma once

#include "lib/generator/Schedule.h"
#include "lib/generator/launch/Table.h"

namespace nereid::generator {

/// What a launch with these symbols has for its class: each rounded up to a power of two.
std::map<std::string, int64_t> sizeClass(const LaunchTable &table,
                                         const std::map<std::string, int64_t> &symbols);

/// The schedule's values of choices.
ChosenValues chosenBy(const Schedule &schedule);

/// The table without choices: with their rules, and the values of `schedules` for this type where
/// the sizes are of their class.
LaunchTable withSchedules(LaunchTable table, DType dtype, const ScheduleTable &schedules);

} // namespace nereid::generator
