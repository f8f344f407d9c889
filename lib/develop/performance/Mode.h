// SPDX-License-Identifier: Apache-2.0
// How far the search for the quickest form of an operator goes, with the names that torch.compile
// gives its modes, and which form is to be used in the end: the compiled one only where it is
// quicker than the eager one by the threshold that the user sets.
#pragma once

#include "lib/generator/Schedule.h"
#include "lib/measure/Timer.h"
#include "lib/support/Diagnostics.h"

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace nereid::develop {

enum class Mode : uint8_t {
  Default,
  ReduceOverhead, ///< launches are recorded in a graph that is replayed
  MaxAutotune,    ///< every schedule of the space is tried, and the graph as well
  MaxAutotuneNoGraphs,
};

const std::vector<std::string> &modeNames();
std::string_view modeName(Mode mode);
/// E0013 with the names there are.
Result<Mode> parseMode(std::string_view name);

inline bool usesGraphs(Mode mode) {
  return mode == Mode::ReduceOverhead || mode == Mode::MaxAutotune;
}
inline bool searchesSchedules(Mode mode) {
  return mode == Mode::MaxAutotune || mode == Mode::MaxAutotuneNoGraphs;
}

inline constexpr double standardLeastSpeedup = 1.2;

/// Which form of an operator is quickest in one case.
struct Choice {
  Mode mode = Mode::Default;
  double leastSpeedup = standardLeastSpeedup;
  std::string clock;                          ///< what the times are of
  std::optional<measure::Timing> graph;       ///< of the compiled form, replayed
  double eagerSeconds = 0, launchSeconds = 0; ///< medians: of the eager form, of plain launches
  bool isNoisy = false; ///< one of the times deviates by more than a timing may
  std::string failure;  ///< why nothing is chosen

  /// The compiled form is replayed where that is the mode's, or quicker.
  bool isGraph() const;
  double compiledSeconds() const;
  double speedup() const; ///< of the compiled form over the eager one; 0 = not told
  bool isCompiled() const { return failure.empty() && speedup() >= leastSpeedup; }
  /// Unasked where nothing is chosen.
  generator::Form form() const;
  /// "compiled, replayed as a graph: 2.31x the eager form"
  std::string text() const;
};

} // namespace nereid::develop
