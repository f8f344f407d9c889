// SPDX-License-Identifier: Apache-2.0
// How many CPUs a process may use: texts of cgroups, folders made here, the knob.
#include "runtime/core/CpuCount.h"

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <gtest/gtest.h>
#include <unistd.h>

using namespace nereid::runtime;

namespace {

TEST(CpuCount, ReadsQuotas) {
  EXPECT_EQ(cpusFromQuota("150000 100000"), 2);
  EXPECT_EQ(cpusFromQuota("200000 100000\n"), 2);
  EXPECT_EQ(cpusFromQuota("1000 100000"), 1);
  EXPECT_EQ(cpusFromQuota("max 100000"), 0);
  EXPECT_EQ(cpusFromQuota("-1 100000"), 0);
  EXPECT_EQ(cpusFromQuota("100000 0"), 0);
  EXPECT_EQ(cpusFromQuota(""), 0);
  EXPECT_EQ(cpusFromQuota("100000"), 0);
  EXPECT_EQ(cpusFromQuota("100000 100000 1"), 0);
  EXPECT_EQ(cpusFromQuota("99999999999999999999 1"), 0) << "more than can be counted";
  EXPECT_EQ(cpusFromQuota("922337203685477579 1"), 1 << 20);
}

TEST(CpuCount, TakesTheSmallestQuotaOnTheWayUp) {
  const std::filesystem::path mount =
      std::filesystem::temp_directory_path() / ("nereid_quota_" + std::to_string(::getpid()));
  std::filesystem::create_directories(mount / "a" / "b");
  std::ofstream(mount / "cpu.max") << "max 100000\n";
  std::ofstream(mount / "a" / "cpu.max") << "300000 100000\n";
  std::ofstream(mount / "a" / "b" / "cpu.max") << "500000 100000\n";
  EXPECT_EQ(smallestQuota(mount.c_str(), "/a/b"), 3);
  EXPECT_EQ(smallestQuota(mount.c_str(), "/"), 0);
  std::filesystem::remove_all(mount);
}

TEST(CpuCount, IsAtLeastOne) { EXPECT_GE(usableCpuCount(), 1); }

TEST(CpuCount, ReadsTheKnob) {
  ::setenv("NEREID_THREADS", "3", 1);
  EXPECT_EQ(threadCountFromEnvironment(), 3);
  for (const char *bad : {"", "0", "-2", "4x", "99999999"}) {
    ::setenv("NEREID_THREADS", bad, 1);
    EXPECT_EQ(threadCountFromEnvironment(), 0) << bad;
  }
  ::unsetenv("NEREID_THREADS");
}

} // namespace
