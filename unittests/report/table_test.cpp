// SPDX-License-Identifier: Apache-2.0
#include "lib/report/Table.h"

#include <gtest/gtest.h>

using namespace nereid::report;

TEST(Table, AlignsByDisplayedColumns) {
  Table table({"name", ">time"});
  table.add({"a", "1 µs"});
  table.add({"longer", "12 ms"});
  EXPECT_EQ(table.text(), "name     time\n"
                          "-------------\n"
                          "a        1 µs\n"
                          "longer  12 ms\n");
  EXPECT_EQ(table.markdown(), "| name | time |\n|---|---:|\n| a | 1 µs |\n| longer | 12 ms |\n");
}

TEST(Format, ThreeDigitsAndUnits) {
  EXPECT_EQ(formatSeconds(0.0123), "12.3 ms");
  EXPECT_EQ(formatSeconds(4.5e-6), "4.50 µs");
  EXPECT_EQ(formatBytes(268435456), "256 MiB");
  EXPECT_EQ(formatBytes(1536), "1.50 KiB");
  EXPECT_EQ(formatRate(38.24e9), "38.2 GB/s");
  EXPECT_EQ(formatRatio(1.534), "1.53x");
  EXPECT_EQ(formatPercent(0.874), "87 %");
  EXPECT_EQ(formatCount(1.25e6), "1.25 M");
}
