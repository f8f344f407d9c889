// SPDX-License-Identifier: Apache-2.0
#include "lib/develop/performance/Criteria.h"

#include "lib/report/Table.h"

#include <fmt/format.h>

#include <algorithm>

namespace nereid::develop {
namespace {

/// Of what a copy moves; a case that is bound by arithmetic owes that share of the peak instead.
constexpr double leastShare = 0.6;

Criterion speedupOf(const std::vector<PerformanceRow> &rows, double target) {
  Criterion criterion{fmt::format("speed-up at least {}", report::formatRatio(target)), "", {}};
  const std::optional<double> speedup = overallSpeedup(rows);
  criterion.figure = speedup ? report::formatRatio(*speedup) : "no case was measured steadily";
  criterion.isReached = speedup ? std::optional(*speedup >= target) : std::nullopt;
  return criterion;
}

/// The worst case beyond the caches counts: within them there is no bandwidth of memory. Times that
/// scatter tell no share.
Criterion shareOf(const std::vector<PerformanceRow> &rows) {
  Criterion criterion{fmt::format("bandwidth, or arithmetic, at least {:.0f} %", 100 * leastShare),
                      "no case from memory was measured",
                      {}};
  int count = 0, unsteady = 0;
  double least = 1;
  for (const PerformanceRow &row : rows) {
    const bool isTold = row.skipped.empty() && row.isBeyondCache && row.kernel.summary.count > 0;
    const double share = std::max(row.bandwidthShare(), row.computeShare());
    const bool isSteady = !row.kernel.isNoisy && !row.kernel.isShort;
    if (!isTold || (share <= 0 && row.failure.empty())) {
      continue;
    }
    if (!isSteady && row.failure.empty()) {
      ++unsteady;
      continue;
    }
    ++count;
    least = std::min(least, row.failure.empty() ? share : 0.0);
  }
  if (count > 0) {
    criterion.figure = fmt::format("{:.0f} % in the worst of {} case{} from memory", 100 * least,
                                   count, count == 1 ? "" : "s");
    criterion.isReached = least >= leastShare;
  }
  if (unsteady > 0) {
    criterion.figure = count == 0
                           ? "no case from memory was measured steadily"
                           : fmt::format("{}, {} more not steadily", criterion.figure, unsteady);
  }
  return criterion;
}

} // namespace

std::string Criterion::text() const {
  return fmt::format("{}: {}, {}", name,
                     !isReached   ? "not told"
                     : *isReached ? "reached"
                                  : "not reached",
                     figure);
}

std::vector<Criterion> criteriaOf(const std::vector<PerformanceRow> &rows, double targetSpeedup) {
  return {speedupOf(rows, targetSpeedup),
          shareOf(rows),
          {"cache hits at least 80 %", "no counters of caches are read on this target", {}}};
}

} // namespace nereid::develop
