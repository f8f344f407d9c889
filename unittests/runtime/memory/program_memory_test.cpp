// SPDX-License-Identifier: Apache-2.0
// Memory of programs: what is kept, replaced and given back, and the area below a stack.
#include "runtime/core/ProgramMemory.h"

#include <gtest/gtest.h>

#include <atomic>
#include <csignal>
#include <cstring>
#include <sys/resource.h>
#include <sys/wait.h>
#include <thread>
#include <unistd.h>
#include <vector>

using namespace nereid::runtime;

namespace {

TEST(ProgramMemory, ScratchIsKeptAndReplaced) {
  releaseProgramMemory();
  const ProgramMemory first = takeScratch(1000);
  const ProgramMemory second = takeScratch(1000);
  ASSERT_TRUE(first && second);
  EXPECT_NE(first.mapping, second.mapping);
  EXPECT_EQ(reinterpret_cast<uintptr_t>(first.scratch()) % 64, 0u);
  giveBack(first);
  EXPECT_EQ(takeScratch(500).mapping, first.mapping);
  giveBack(first);
  giveBack(second);
  EXPECT_EQ(takeScratch(500).mapping, second.mapping) << "what was given back last";
  giveBack(second);
  const ProgramMemory large = takeScratch(1 << 20);
  ASSERT_TRUE(large);
  large.scratch()[(1 << 20) - 1] = 1;
  giveBack(large);
  EXPECT_EQ(takeScratch(500).mapping, large.mapping)
      << "in the place of the one that was too small";
  giveBack(large);
  EXPECT_EQ(takeScratch(uint64_t{1} << 60).mapping, nullptr);
  EXPECT_EQ(takeScratch(~uint64_t{0}).mapping, nullptr);
  releaseProgramMemory();
}

TEST(ProgramMemory, MoreThanTheSystemHasIsRefused) {
  releaseProgramMemory();
  const pid_t child = fork();
  if (child == 0) {
    const rlimit limit = {uint64_t{1} << 32, uint64_t{1} << 32};
    setrlimit(RLIMIT_AS, &limit);
    _exit(takeScratch(uint64_t{1} << 33) || takeStack(uint64_t{1} << 33) ? 1 : 0);
  }
  int status = -1;
  ASSERT_EQ(waitpid(child, &status, 0), child);
  EXPECT_EQ(status, 0);
}

TEST(ProgramMemory, StacksAreKeptUpToALimit) {
  releaseProgramMemory();
  std::vector<ProgramMemory> taken;
  for (int i = 0; i < 100; ++i) {
    taken.push_back(takeStack(1 << 20));
    ASSERT_TRUE(taken.back());
    std::memset(taken.back().stack(), i, ProgramMemory::stackBytes);
    std::memset(taken.back().scratch(), i, 1 << 20);
  }
  for (const ProgramMemory &memory : taken) {
    giveBack(memory);
  }
  // 64 MiB have room for 59 of 1 MiB and 80 KiB; the last of those is the next.
  EXPECT_EQ(takeStack(1 << 20).mapping, taken[58].mapping);
  EXPECT_EQ(takeStack(1 << 20).mapping, taken[57].mapping);
  giveBack(taken[57]);
  giveBack(taken[58]);
  EXPECT_EQ(bytesWithStack(1), uint64_t{(64 << 10) + 4096});
  releaseProgramMemory();
}

TEST(ProgramMemory, AStackThatOverflowsFaults) {
  const ProgramMemory memory = takeStack(64);
  ASSERT_TRUE(memory);
  const pid_t child = fork();
  if (child == 0) {
    std::signal(SIGSEGV, SIG_DFL);
    volatile uint8_t *bottom = memory.stack();
    bottom[0] = 1;
    bottom[-int64_t{ProgramMemory::guardBytes}] = 1;
    _exit(0);
  }
  int status = 0;
  ASSERT_EQ(waitpid(child, &status, 0), child);
  EXPECT_TRUE(WIFSIGNALED(status) && WTERMSIG(status) == SIGSEGV) << status;
  giveBack(memory);
}

TEST(ProgramMemory, ThreadsNeverShareAPiece) {
  std::atomic<int> shared{0};
  std::vector<std::thread> threads;
  for (int id = 0; id < 8; ++id) {
    threads.emplace_back([&, id] {
      for (int round = 0; round < 3000; ++round) {
        const ProgramMemory memory = round % 3 ? takeScratch(256) : takeStack(256);
        std::memset(memory.scratch(), id, 256);
        for (int i = 0; i < 256; ++i) {
          shared += memory.scratch()[i] != id;
        }
        giveBack(memory);
      }
    });
  }
  for (std::thread &thread : threads) {
    thread.join();
  }
  EXPECT_EQ(shared.load(), 0);
  releaseProgramMemory();
}

} // namespace
