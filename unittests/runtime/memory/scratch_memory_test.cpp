// SPDX-License-Identifier: Apache-2.0
#include "runtime/ScratchMemory.h"

#include "runtime/Device.h"

#include <gtest/gtest.h>

#include <cstring>
#include <set>
#include <thread>
#include <vector>

namespace nereid::test {
namespace {

using runtime::ScratchMemory;

TEST(ScratchMemory, WhatWentBackIsGivenAgain) {
  ScratchMemory scratch(runtime::cpuDevice());
  void *first = scratch.take(10000).get();
  ASSERT_NE(first, nullptr);
  auto again = scratch.take(9000);
  EXPECT_EQ(again.get(), first);
  auto other = scratch.take(9000); // the first one is held
  EXPECT_NE(other.get(), first);
}

TEST(ScratchMemory, ABlockIsAtMostTwiceAsLarge) {
  ScratchMemory scratch(runtime::cpuDevice());
  const auto keepsOld = scratch.take(64 << 20);
  void *large = keepsOld.get();
  {
    const auto goes = scratch.take(32 << 20);
  }
  auto small = scratch.take(4096);
  EXPECT_NE(small.get(), large);
  const auto whole = scratch.take(20 << 20);
  std::memset(whole.get(), 1, 20 << 20);
  const auto next = scratch.take(40 << 20); // the block of 32 MiB is too small, and held
  std::memset(next.get(), 2, 40 << 20);
  EXPECT_EQ(static_cast<char *>(whole.get())[(20 << 20) - 1], 1);
}

TEST(ScratchMemory, AHolderMayOutliveIt) {
  std::shared_ptr<void> held;
  {
    ScratchMemory scratch(runtime::cpuDevice());
    held = scratch.take(100);
  }
  std::memset(held.get(), 3, 100);
  held.reset();
}

TEST(ScratchMemory, ClearLeavesWhatIsHeld) {
  ScratchMemory scratch(runtime::cpuDevice());
  const auto held = scratch.take(8192);
  {
    const auto idle = scratch.take(8192);
  }
  scratch.clear();
  std::memset(held.get(), 4, 8192);
}

TEST(ScratchMemory, ThreadsNeverShareABlock) {
  ScratchMemory scratch(runtime::cpuDevice());
  std::vector<std::thread> threads;
  std::vector<int> mistakes(4, 0);
  for (size_t number = 0; number < mistakes.size(); ++number) {
    threads.emplace_back([&, number] {
      for (int turn = 0; turn < 2000; ++turn) {
        const auto block = scratch.take(256);
        auto *words = static_cast<volatile size_t *>(block.get());
        words[0] = words[31] = number;
        mistakes[number] += words[0] != number || words[31] != number;
      }
    });
  }
  for (std::thread &one : threads) {
    one.join();
  }
  EXPECT_EQ(mistakes, std::vector<int>(4, 0));
}

} // namespace
} // namespace nereid::test
