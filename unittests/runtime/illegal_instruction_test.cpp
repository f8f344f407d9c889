// SPDX-License-Identifier: Apache-2.0
// Trying instructions that the processor may refuse.
#include "runtime/core/features/IllegalInstruction.h"

#include <gtest/gtest.h>

#include <csignal>
#include <thread>
#include <vector>

namespace nereid::runtime {
namespace {

void illegal(void *reached) {
#if defined(__x86_64__)
  asm volatile("ud2");
#elif defined(__aarch64__)
  asm volatile("udf #0");
#else
  asm volatile("unimp");
#endif
  *static_cast<bool *>(reached) = true;
}

void legal(void *reached) { *static_cast<bool *>(reached) = true; }

TEST(IllegalInstruction, IsNoticedAndEndsTheAttempt) {
  bool reached = false;
  EXPECT_FALSE(isExecuted(illegal, &reached));
  EXPECT_FALSE(reached);
  EXPECT_TRUE(isExecuted(legal, &reached));
  EXPECT_TRUE(reached);
  EXPECT_FALSE(isExecuted(illegal, &reached)) << "a second time";
}

TEST(IllegalInstruction, TheHandlerThatWasThereComesBack) {
  void (*const own)(int) = [](int) {};
  ::signal(SIGILL, own);
  bool reached = false;
  EXPECT_FALSE(isExecuted(illegal, &reached));
  EXPECT_EQ(::signal(SIGILL, SIG_DFL), own);
}

TEST(IllegalInstruction, ThreadsTryOneAfterTheOther) {
  std::vector<std::thread> threads;
  std::vector<int> refused(4, 0);
  for (size_t i = 0; i < refused.size(); ++i) {
    threads.emplace_back([&, i] {
      for (int k = 0; k < 100; ++k) {
        bool reached = false;
        refused[i] += !isExecuted(illegal, &reached) && !reached;
      }
    });
  }
  for (std::thread &thread : threads) {
    thread.join();
  }
  EXPECT_EQ(refused, std::vector<int>(4, 100));
}

} // namespace
} // namespace nereid::runtime
