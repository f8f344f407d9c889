// SPDX-License-Identifier: Apache-2.0
// `optimization_log.md`: what was tried in each round, why, what came of it, and what remains.
// Rewritten from the manifest after every round, so that it is complete at any interruption.
#pragma once

#include "lib/generator/Project.h"

#include <string>

namespace nereid::generator {

/// What stands in the summary besides the rounds.
struct LogSummary {
  double targetSpeedup = 1;
  std::optional<double> speedup; ///< average over the cases; none = not told
  std::string stopReason;        ///< "target reached", "no neighbour left", …; empty while running
  std::vector<std::string> next; ///< what to try, a sentence each
  std::vector<std::string> criteria = {}; ///< each with its figure, reached or not
  std::string fusion = {}; ///< what is one kernel and why not, Markdown; "": not told
};
std::string writeOptimizationLog(const Manifest &manifest, const LogSummary &summary);

/// Lines that differ, as a fenced diff block with a little context; "" when equal.
std::string diffSnippet(const std::string &before, const std::string &after);

} // namespace nereid::generator
