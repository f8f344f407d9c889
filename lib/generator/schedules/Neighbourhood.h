// SPDX-License-Identifier: Apache-2.0
// What is next to a schedule of programs: every choice of the kernels that the launch takes, one
// step larger and one smaller. Each change is bound and counted once; a diagnosis then says which
// figure has to become better, and the costs whether the change should gain.
#pragma once

#include "lib/generator/schedules/ProgramSchedules.h"

#include <span>

namespace nereid::generator {

/// All launches of one schedule together.
struct ScheduleTotal {
  double programs = 0, waves = 0, runs = 0, moved = 0, fetched = 0, pressure = 0, turns = 0,
         warps = 0;
};

/// A choice with another value, and what the launches then are.
struct ScheduleChange {
  Schedule schedule; ///< as it is shown
  const LaunchChoice *choice = nullptr;
  int64_t value = 0;
  ScheduleTotal total;
  ScheduleCost cost;
};

class Neighbourhood {
public:
  /// `tried` is left out; `chip` outlives this.
  Neighbourhood(ProgramCase of, const Schedule &schedule, const Machine &chip,
                std::span<const Schedule> tried);

  /// What the diagnosis asks for and should gain, best expectation first; what patterns.json knows
  /// counts instead of the model.
  std::vector<Neighbour> of(const Diagnosis &diagnosis, const Patterns *patterns) const;
  /// Whatever gains or not.
  std::vector<Neighbour> all(const Diagnosis &diagnosis) const;

private:
  struct Bound {
    Schedule shown;
    std::vector<BoundLaunch> launches;
    std::vector<int64_t> programs() const; ///< of each kernel
  };
  void forms(const LaunchChoice &choice);
  void steps(const LaunchChoice &choice);
  bool isTaken(const LaunchChoice &choice) const;
  void propose(const LaunchChoice &choice, int64_t value);
  void propose(const LaunchChoice &choice, int64_t value, Bound bound);
  Bound boundBy(const Schedule &schedule) const;
  Schedule withoutForms(Schedule schedule) const;
  std::optional<Neighbour> weigh(const ScheduleChange &change, const Diagnosis &diagnosis) const;

  ProgramCase one;
  const Machine &chip;
  Schedule shown, chosen; ///< chosen: what the rules do not say
  std::vector<Schedule> tried;
  std::vector<std::vector<int64_t>> extents;
  std::vector<int64_t> programs;
  ScheduleTotal before;
  ScheduleCost cost;
  std::vector<ScheduleChange> changes;
};

} // namespace nereid::generator
