// SPDX-License-Identifier: Apache-2.0
// Optimisation rounds: diagnose the slowest case, change one thing, verify, measure both versions
// in turns, keep what is better, write down all of it. At most the definition's number of rounds;
// ends early when every case is where it should be.
#pragma once

#include "lib/develop/Performance.h"
#include "lib/generator/OptimizationLog.h"
#include "lib/generator/Project.h"

#include <functional>

namespace nereid::develop {

struct OptimizationOptions {
  PerformanceOptions performance;
  int rounds = 5;
  /// A case beyond the caches is done at this fraction of its roofline (and the target speed-up).
  double goodFraction = 0.85;
  std::function<void(const std::string &)> progress = [](const std::string &) {};
};

struct OptimizationResult {
  std::vector<generator::RoundRecord> rounds;
  std::string stopReason;
  bool isInterrupted = false;
};

/// Works on the rows of the last measurement, which are updated. Kept changes are entered into the
/// generation's table and the project's files; every round is saved in the manifest at once.
Result<OptimizationResult> optimize(generator::Project &project, generator::Generation &generation,
                                    std::vector<PerformanceRow> &rows, const measure::Chip &chip,
                                    generator::Patterns &patterns,
                                    const OptimizationOptions &options);

/// True when the row needs no more work: fails nothing, meets the speed-up, near its roofline.
bool isGoodEnough(const PerformanceRow &row, double targetSpeedup, double goodFraction);

} // namespace nereid::develop
