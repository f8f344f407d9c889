// SPDX-License-Identifier: Apache-2.0
// What an operator's measurement is held against, each with its figure: the definition's speed-up,
// the share of the bandwidth, and hits of caches, which no target counts.
#pragma once

#include "lib/develop/performance/Performance.h"

namespace nereid::develop {

struct Criterion {
  std::string name;              ///< "bandwidth at least 60 %"
  std::string figure;            ///< "72 % in 2 cases from memory"
  std::optional<bool> isReached; ///< none: not measured, and why stands in `figure`

  std::string text() const; ///< "bandwidth at least 60 %: reached, 72 % …"
};

/// `targetSpeedup`: the definition's. Failed rows reach nothing.
std::vector<Criterion> criteriaOf(const std::vector<PerformanceRow> &rows, double targetSpeedup);

} // namespace nereid::develop
