// SPDX-License-Identifier: Apache-2.0
// Options of LLVM's that one emission has and others do not.
#include "lib/llvm/OptionScope.h"
#include "unittests/llvm/Machines.h"

#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <memory>
#include <string>
#include <thread>

namespace nereid::codegen::test {
namespace {

constexpr LlvmOption near[] = {{"grow-region-complexity-budget", 1}, {"cgpp-huge-func", 64}};
constexpr LlvmOption far[] = {{"grow-region-complexity-budget", 77}};

TEST(OptionScope, GivesTheValuesBack) {
  const unsigned budget = optionValue("grow-region-complexity-budget");
  const unsigned huge = optionValue("cgpp-huge-func");
  ASSERT_NE(budget, 1u);
  ASSERT_NE(huge, 64u);
  {
    const OptionScope scope(near);
    EXPECT_EQ(optionValue("grow-region-complexity-budget"), 1u);
    EXPECT_EQ(optionValue("cgpp-huge-func"), 64u);
  }
  EXPECT_EQ(optionValue("grow-region-complexity-budget"), budget);
  EXPECT_EQ(optionValue("cgpp-huge-func"), huge);
}

TEST(OptionScope, EqualOnesHoldAtOnce) {
  const OptionScope scope(near);
  std::thread([] { const OptionScope other(near); }).join(); // would wait for ever
  EXPECT_EQ(optionValue("cgpp-huge-func"), 64u) << "the first one still holds";
}

/// A scope may end before one of equal options, and take the list it was given along.
TEST(OptionScope, TheListNeedsToLiveForTheConstructorAlone) {
  std::string budget = "grow-region-complexity-budget";
  LlvmOption given[] = {{budget.c_str(), 1}};
  auto first = std::make_unique<OptionScope>(given);
  constexpr LlvmOption equal[] = {{"grow-region-complexity-budget", 1}};
  auto second = std::make_unique<OptionScope>(equal);
  first = nullptr;
  given[0].value = 77;
  std::atomic<unsigned> seen = 0;
  std::thread stranger([&] {
    const OptionScope other(far);
    seen = optionValue("grow-region-complexity-budget");
  });
  std::this_thread::sleep_for(std::chrono::milliseconds(50));
  EXPECT_EQ(seen, 0u);
  second = nullptr;
  stranger.join();
  EXPECT_EQ(seen, 77u);
}

TEST(OptionScope, OthersWaitUntilItEnds) {
  const unsigned budget = optionValue("grow-region-complexity-budget");
  auto scope = std::make_unique<OptionScope>(near);
  std::atomic<unsigned> seenFar = 0, seenDefault = 0;
  std::thread stranger([&] {
    const OptionScope other(far);
    seenFar = optionValue("grow-region-complexity-budget");
  });
  std::thread plain([&] {
    const OptionScope none({});
    seenDefault = optionValue("grow-region-complexity-budget");
  });
  std::this_thread::sleep_for(std::chrono::milliseconds(50));
  EXPECT_EQ(seenFar, 0u);
  EXPECT_EQ(seenDefault, 0u);
  EXPECT_EQ(optionValue("grow-region-complexity-budget"), 1u);
  scope = nullptr;
  stranger.join();
  plain.join();
  EXPECT_EQ(seenFar, 77u);
  EXPECT_EQ(seenDefault, budget);
}

TEST(OptionScope, ManyThreadsSeeTheirOwn) {
  std::atomic<int> wrong = 0;
  std::vector<std::thread> threads;
  for (int i = 0; i < 4; ++i) {
    threads.emplace_back([&, i] {
      for (int k = 0; k < 500; ++k) {
        const OptionScope scope(i % 2 == 0 ? std::span<const LlvmOption>(near)
                                           : std::span<const LlvmOption>(far));
        wrong += optionValue("grow-region-complexity-budget") != (i % 2 == 0 ? 1u : 77u);
      }
    });
  }
  for (std::thread &thread : threads) {
    thread.join();
  }
  EXPECT_EQ(wrong, 0);
}

} // namespace
} // namespace nereid::codegen::test
