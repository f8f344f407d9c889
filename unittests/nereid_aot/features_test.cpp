// SPDX-License-Identifier: Apache-2.0
// What the runtime asks the processor itself agrees with what the operating system says about it.
#include "runtime/aot/CpuFeatures.h"
#include "runtime/core/features/CpuFeatures.h"
#include "runtime/core/features/FeatureNames.h"

#include <gtest/gtest.h>

#include <cstring>
#include <fstream>
#include <string>
#include <utility>

namespace nereid::aot {
namespace {

#if defined(__x86_64__)
TEST(AotFeatures, SameAsTheSystemSays) {
  std::ifstream file("/proc/cpuinfo");
  std::string flags;
  for (std::string line; flags.empty() && std::getline(file, line);) {
    flags = line.rfind("flags", 0) == 0 ? line.substr(line.find(':') + 1) + " " : "";
  }
  ASSERT_FALSE(flags.empty());
  // LLVM's names, which targets have, and Linux's.
  const std::pair<const char *, const char *> names[] = {{"cx16", "cx16"},
                                                         {"popcnt", "popcnt"},
                                                         {"sse3", "pni"},
                                                         {"ssse3", "ssse3"},
                                                         {"sse4.1", "sse4_1"},
                                                         {"sse4.2", "sse4_2"},
                                                         {"avx", "avx"},
                                                         {"avx2", "avx2"},
                                                         {"bmi", "bmi1"},
                                                         {"bmi2", "bmi2"},
                                                         {"f16c", "f16c"},
                                                         {"fma", "fma"},
                                                         {"lzcnt", "abm"},
                                                         {"movbe", "movbe"},
                                                         {"avx512f", "avx512f"},
                                                         {"avx512bw", "avx512bw"},
                                                         {"avx512cd", "avx512cd"},
                                                         {"avx512dq", "avx512dq"},
                                                         {"avx512vl", "avx512vl"},
                                                         {"avxvnni", "avx_vnni"},
                                                         {"avx512bf16", "avx512_bf16"},
                                                         {"gfni", "gfni"},
                                                         {"avx512vnni", "avx512_vnni"},
                                                         {"avx512vbmi", "avx512vbmi"},
                                                         {"avx512vbmi2", "avx512_vbmi2"}};
  for (const auto &[name, flag] : names) {
    const bool isThere = flags.find(" " + std::string(flag) + " ") != std::string::npos;
    EXPECT_EQ(runtime::machineHasFeature(name, std::strlen(name)), isThere) << name;
  }
  EXPECT_FALSE(runtime::machineHasFeature("nosuch", 6));
  EXPECT_FALSE(runtime::machineHasFeature("", 0));
}
#endif

TEST(AotFeatures, EveryNameThatIsListedIsFound) {
  runtime::visitCpuFeatures(
      [](void *, const char *name) {
        EXPECT_TRUE(runtime::machineHasFeature(name, std::strlen(name))) << name;
        EXPECT_FALSE(runtime::machineHasFeature(name, std::strlen(name) + 1)) << name;
      },
      nullptr);
}

TEST(AotFeatures, BitsOfANameThatEndsWithThem) {
  const auto bits = [](const std::string &name, const char *suffix = "") {
    return runtime::bitsIn(name.data(), name.size(), *suffix ? "zvl" : "sve", suffix);
  };
  EXPECT_EQ(bits("sve512"), 512u);
  EXPECT_EQ(bits("zvl256b", "b"), 256u);
  for (const char *name : {"sve", "sve2x", "svx512", "sve 512", "", "sve99999999999999999999"}) {
    EXPECT_EQ(bits(name), 0u) << name;
  }
  EXPECT_EQ(bits("zvl256", "b"), 0u);
  EXPECT_EQ(bits("zvlb", "b"), 0u);
}

TEST(AotFeatures, Restriction) {
  auto isLeft = [](const char *restriction, const char *name) {
    return isLeftBy(restriction, name, std::strlen(name));
  };
  EXPECT_TRUE(isLeft("", "avx2"));
  EXPECT_FALSE(isLeft("-avx2", "avx2"));
  EXPECT_TRUE(isLeft("-avx2", "avx"));
  EXPECT_FALSE(isLeft("-fma,-avx2", "avx2"));
  // What stands on AVX512F goes with it.
  EXPECT_FALSE(isLeft("-avx512f", "avx512bw"));
  EXPECT_TRUE(isLeft("-avx512bw", "avx512f"));
#if defined(__x86_64__)
  EXPECT_TRUE(isLeft("x86-64-v3", "avx2"));
  EXPECT_FALSE(isLeft("x86-64-v3", "avx512f"));
  EXPECT_FALSE(isLeft("x86-64-v4", "avx512bf16"));
  EXPECT_FALSE(isLeft("x86-64-v3,-fma", "fma"));
#endif
}

TEST(AotFeatures, Lists) {
  EXPECT_TRUE(hasCpuFeatures(""));
  EXPECT_TRUE(hasCpuFeatures("-nosuch"));
  EXPECT_FALSE(hasCpuFeatures("+nosuch"));
  EXPECT_FALSE(hasCpuFeatures("+popcnt,+nosuch,+sse3"));
}

} // namespace
} // namespace nereid::aot
