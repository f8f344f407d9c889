// SPDX-License-Identifier: Apache-2.0
// A table's choices as whoever writes its expressions into files takes them: each is asked of what
// was found for the sizes, with the rule's value for those that say nothing.
//
//   min(CHOICE_map_BLOCK_Y, …)   becomes   min(CHOICE_("map.BLOCK_Y", 1024), …)
//   which Spelling.h writes as             min(tuned.get("map.BLOCK_Y", 1024), …)
#pragma once

#include "lib/generator/Schedule.h"
#include "lib/generator/launch/Table.h"

namespace nereid::generator {

/// What a launch with these symbols has for its class: each rounded up to a power of two.
std::map<std::string, int64_t> sizeClass(const LaunchTable &table,
                                         const std::map<std::string, int64_t> &symbols);

/// The schedule's values of choices.
ChosenValues chosenBy(const Schedule &schedule);

/// What launches of the table are made by, as schedules show it: constants of those that are taken,
/// rules' values included, each once, and which forms were chosen.
Schedule scheduleOf(const LaunchTable &table, const std::vector<BoundLaunch> &launches,
                    const ChosenValues &chosen);
/// Whether it decides which kernels are launched.
bool isOfForms(const LaunchChoice &choice);

/// The table without choices, see above. Those of several kernels have names among the derived
/// expressions; options that the rules leave to the compiler are passed with its defaults.
LaunchTable withTuning(LaunchTable table);

} // namespace nereid::generator
