// SPDX-License-Identifier: Apache-2.0
// The picture of a sweep: which amount it shows, and which rows it leaves out.
#include "lib/bench/SweepReport.h"

#include <gtest/gtest.h>

namespace nereid::bench {
namespace {

KernelRow row(const std::string &name, double seconds, double bytes = 0) {
  KernelRow one;
  one.caseName = name;
  one.bytes = bytes;
  one.kernel.summary.count = 20;
  one.kernel.summary.median = seconds;
  return one;
}

size_t count(const std::string &text, const std::string &what) {
  size_t found = 0;
  for (size_t at = text.find(what); at != std::string::npos; at = text.find(what, at + 1)) {
    ++found;
  }
  return found;
}

TEST(SweepReport, SizesAreReadFromNames) {
  EXPECT_EQ(sweptSize("n=4096"), 4096);
  EXPECT_FALSE(sweptSize("command line"));
  EXPECT_FALSE(sweptSize("n=4096 wide"));
}

TEST(SweepReport, ShowsBytesInTimeWhereAllRowsKnowThem) {
  const std::string rate =
      sweepPicture("add", {row("n=100", 1e-6, 1200), row("n=1000", 2e-6, 12000)});
  EXPECT_NE(rate.find("add: bytes in time"), std::string::npos);
  EXPECT_NE(rate.find("<title>1000: 6.00 GB/s</title>"), std::string::npos) << rate;
  const std::string time = sweepPicture("add", {row("n=100", 1e-6), row("n=1000", 2e-6, 12000)});
  EXPECT_NE(time.find("add: time"), std::string::npos);
  EXPECT_NE(time.find("<title>100: 1.00 µs</title>"), std::string::npos) << time;
}

TEST(SweepReport, LeavesOutWhatWasNotTimed) {
  KernelRow wrong = row("n=10", 1e-6);
  wrong.failure = "wrong";
  const std::string two = sweepPicture("add", {wrong, row("n=100", 1e-6), row("n=1000", 1e-6)});
  EXPECT_EQ(count(two, "<circle"), 2u);
  EXPECT_EQ(two.find("nan"), std::string::npos);
  EXPECT_EQ(sweepPicture("add", {wrong, row("n=100", 1e-6)}), "");
}

} // namespace
} // namespace nereid::bench
