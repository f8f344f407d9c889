// SPDX-License-Identifier: Apache-2.0
// The CPU feature table against what the kernel lists in /proc/cpuinfo, which has its own decoder.
#include "runtime/cpu/CpuFeatures.h"

#include <fstream>
#include <gtest/gtest.h>
#include <iterator>
#include <set>
#include <sstream>

using namespace nereid::runtime;

namespace {

std::set<std::string> kernelFlags() {
  std::ifstream info("/proc/cpuinfo");
  for (std::string line; std::getline(info, line);) {
    if (line.starts_with("flags")) {
      std::istringstream words(line.substr(line.find(':') + 1));
      return {std::istream_iterator<std::string>(words), {}};
    }
  }
  return {};
}

TEST(CpuFeatures, AgreesWithTheKernel) {
  const std::set<std::string> flags = kernelFlags();
  if (flags.empty()) {
    GTEST_SKIP() << "/proc/cpuinfo lists no flags on this machine";
  }
  const std::pair<const char *, const char *> names[] = {
      {"sse2", "sse2"},
      {"sse4.1", "sse4_1"},
      {"sse4.2", "sse4_2"},
      {"avx", "avx"},
      {"avx2", "avx2"},
      {"fma", "fma"},
      {"f16c", "f16c"},
      {"bmi", "bmi1"},
      {"bmi2", "bmi2"},
      {"lzcnt", "abm"},
      {"avx512f", "avx512f"},
      {"avx512bw", "avx512bw"},
      {"avx512dq", "avx512dq"},
      {"avx512vl", "avx512vl"},
      {"avx512cd", "avx512cd"},
      {"avx512vnni", "avx512_vnni"},
      {"avx512bf16", "avx512_bf16"},
      {"avx512fp16", "avx512_fp16"},
      {"avxvnni", "avx_vnni"},
      {"amx-tile", "amx_tile"},
      {"popcnt", "popcnt"},
      {"cx16", "cx16"},
      {"gfni", "gfni"},
      {"vaes", "vaes"},
      {"movbe", "movbe"},
      {"sha", "sha_ni"},
  };
  for (const auto &[llvm, kernel] : names) {
    EXPECT_EQ(hasCpuFeature(llvm), flags.contains(kernel)) << llvm;
  }
}

TEST(CpuFeatures, MissingOnesAreListedInOrder) {
  EXPECT_EQ(missingCpuFeatures("+nonexistent,-avx2,+sse2,+another"),
            (std::vector<std::string>{"nonexistent", "another"}));
  EXPECT_TRUE(missingCpuFeatures("").empty());
  EXPECT_TRUE(missingCpuFeatures("+sse2,+x87").empty());
}

} // namespace
