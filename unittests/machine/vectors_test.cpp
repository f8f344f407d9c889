// SPDX-License-Identifier: Apache-2.0
// How long vectors are, from what processors say of themselves.
#include "lib/machine/Machine.h"

#include <gtest/gtest.h>

namespace nereid {
namespace {

TEST(VectorBytes, AreThoseOfTheLongestExtension) {
  const std::pair<std::vector<std::string>, int> processors[] = {
      {{}, 16},
      {{"sse4_2", "avx"}, 16},
      {{"avx", "avx2"}, 32},
      {{"avx2", "avx512f"}, 32}, // without vectors of other lengths
      {{"avx2", "avx512f", "avx512vl"}, 64},
      {{"neon", "fp-armv8"}, 16},
      {{"sve", "sve2"}, 16}, // at least
      {{"sve", "sve256"}, 32},
      {{"sve512", "sve256", "sve"}, 64},
      {{"sve", "sve2048", "svebitperm", "sve2p1"}, 256},
      {{"v", "zvl128b"}, 16},
      {{"v", "zvl128b", "zvl256b", "zvl512b", "zvl1024b"}, 128},
      {{"zvl65536b"}, 8192},
      {{"zve64x", "svelte"}, 16},
  };
  for (const auto &[features, bytes] : processors) {
    EXPECT_EQ(vectorBytesOf(features), bytes) << (features.empty() ? "" : features.back());
  }
}

TEST(VectorBytes, OfThisMachineArePowersOfTwo) {
  const Machine machine = detectMachine();
  EXPECT_GE(machine.vectorBytes, 16);
  EXPECT_EQ(machine.vectorBytes & (machine.vectorBytes - 1), 0);
}

} // namespace
} // namespace nereid
