// SPDX-License-Identifier: Apache-2.0
// Optimisation rounds: diagnose the slowest case, change one thing that should gain, verify,
// measure both versions in turns, keep what is quicker twice and still right everywhere, write down
// all of it. Ends when every case is where it should be, or nothing is left that should gain.
#pragma once

#include "lib/develop/performance/Duel.h"
#include "lib/generator/OptimizationLog.h"
#include "lib/generator/Project.h"

#include <functional>

namespace nereid::develop {

struct OptimizationOptions {
  PerformanceOptions performance;
  int rounds = 5; ///< of the operator in all, those of earlier runs included
  /// A case beyond the caches is done at this fraction of its roofline (and the target speed-up).
  double goodFraction = 0.85;
  /// One parameter at a time, and none that gives the kernel another form or another grid.
  bool isConservative = false;
  std::string fusion = {}; ///< what is one kernel and why not, for the log
  /// Compares two schedules; tests bring their own.
  std::function<decltype(duel)> compare = duel;
  /// Verifies the whole grid with the files as they are: the first failure, or "".
  std::function<std::string()> verifyAll;
  std::function<void(const std::string &)> progress = [](const std::string &) {};
};

struct OptimizationResult {
  std::vector<generator::RoundRecord> rounds; ///< of this run
  int earlier = 0;                            ///< those of runs before it
  int most = 0;                               ///< of all runs together
  std::string stopReason;
  std::vector<std::string> next; ///< what to try in another run, a sentence each
  bool isInterrupted = false;
};

/// Works on the rows of the last measurement, which are updated. Kept changes are entered into the
/// generation's table and the project's files; every round is saved in the manifest at once.
Result<OptimizationResult> optimize(generator::Project &project, generator::Generation &generation,
                                    std::vector<PerformanceRow> &rows, const Machine &chip,
                                    generator::Patterns &patterns,
                                    const OptimizationOptions &options);

/// Whether rounds take a comparison for a gain: 2 % at least, and significantly more than noise.
bool isGain(const measure::Evidence &evidence);

/// True when the row needs no more work: fails nothing, meets the speed-up in times that are steady
/// enough to say so, near its roofline.
bool isGoodEnough(const PerformanceRow &row, double targetSpeedup, double goodFraction);

} // namespace nereid::develop
