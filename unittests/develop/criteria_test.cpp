// SPDX-License-Identifier: Apache-2.0
// Criteria of an operator against rows that are written out here.
#include "lib/develop/performance/Criteria.h"

#include <gtest/gtest.h>

namespace nereid::develop {
namespace {

PerformanceRow rowOf(double share, bool isNoisy) {
  PerformanceRow row;
  row.isBeyondCache = true;
  row.speedup = 2;
  row.floor.memorySeconds = share * 1e-3;
  row.kernel.summary.median = 1e-3;
  row.kernel.summary.count = row.peer.summary.count = 20;
  row.kernel.isNoisy = isNoisy;
  return row;
}

std::string bandwidthOf(const std::vector<PerformanceRow> &rows) {
  return criteriaOf(rows, 1.5).at(1).text();
}

TEST(Criteria, TheWorstCaseFromMemoryCounts) {
  EXPECT_EQ(bandwidthOf({rowOf(0.9, false), rowOf(0.7, false)}),
            "bandwidth, or arithmetic, at least 60 %: reached, 70 % in the worst of 2 cases from "
            "memory");
  EXPECT_EQ(bandwidthOf({rowOf(0.5, false)}),
            "bandwidth, or arithmetic, at least 60 %: not reached, 50 % in the worst of 1 case "
            "from memory");
}

TEST(Criteria, TimesThatScatterTellNoBandwidth) {
  EXPECT_EQ(bandwidthOf({rowOf(0.9, true)}), "bandwidth, or arithmetic, at least 60 %: not told, "
                                             "no case from memory was measured steadily");
  EXPECT_EQ(bandwidthOf({rowOf(0.7, false), rowOf(0.2, true)}),
            "bandwidth, or arithmetic, at least 60 %: reached, 70 % in the worst of 1 case from "
            "memory, 1 more not steadily");
  PerformanceRow wrong = rowOf(0.9, true);
  wrong.failure = "3 elements differ";
  EXPECT_EQ(bandwidthOf({wrong}), "bandwidth, or arithmetic, at least 60 %: not reached, 0 % in "
                                  "the worst of 1 case from memory");
}

} // namespace
} // namespace nereid::develop
