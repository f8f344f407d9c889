// SPDX-License-Identifier: Apache-2.0
// Programs of one grid that wait for each other: locks, flags of lower and higher programs, what is
// said when nothing can get on. The kernels are written by hand to the entry contract.
#include "runtime/Kernel.h"
#include "runtime/ThreadPool.h"
#include "runtime/core/KernelSupport.h"
#include "runtime/core/coroutines/ContextSwitch.h"
#include "runtime/core/coroutines/Coroutines.h"
#include "runtime/core/coroutines/StallWatch.h"

#include <atomic>
#include <chrono>
#include <cstdlib>
#include <cstring>
#include <gtest/gtest.h>
#include <string>
#include <vector>

using namespace nereid;
using namespace nereid::runtime;

namespace {

Kernel waitingKernel(KernelEntry entry, uint64_t scratch = 0) {
  Kernel kernel;
  kernel.info.name = "sample";
  kernel.info.isBlocking = true;
  kernel.info.scratchBytes = scratch;
  kernel.entry = entry;
  return kernel;
}

/// The memory that all programs of a test share.
struct Shared {
  std::atomic<int32_t> lock{0};
  int64_t plain = 0; ///< guarded by the lock
  std::vector<std::atomic<int32_t>> flags;
  std::vector<int32_t> order;
  explicit Shared(size_t programs = 0) : flags(programs), order(programs) {}
};

Shared &sharedOf(const uint64_t *slots) { return *reinterpret_cast<Shared *>(slots[0]); }

template <class Read> void waitUntil(int32_t wanted, Read read) {
  int32_t seen;
  while ((seen = read()) != wanted) {
    nereid_rt_yield(static_cast<uint64_t>(seen), "sample.py:7");
  }
}

void addUnderLock(const uint64_t *slots, const int32_t *id, const int32_t *, uint8_t *) {
  Shared &shared = sharedOf(slots);
  waitUntil(0, [&] { return shared.lock.exchange(1); });
  shared.plain += id[0];
  shared.lock.store(0);
}

void waitForHigher(const uint64_t *slots, const int32_t *id, const int32_t *count, uint8_t *) {
  Shared &shared = sharedOf(slots);
  if (id[0] + 1 < count[0]) {
    waitUntil(1, [&] { return shared.flags[static_cast<size_t>(id[0] + 1)].load(); });
  }
  shared.order[static_cast<size_t>(id[0])] = static_cast<int32_t>(shared.plain++);
  shared.flags[static_cast<size_t>(id[0])].store(1);
}

void waitForAll(const uint64_t *slots, const int32_t *, const int32_t *count, uint8_t *) {
  Shared &shared = sharedOf(slots);
  shared.lock.fetch_add(1);
  waitUntil(count[0] * count[1] * count[2], [&] { return shared.lock.load(); });
}

void waitForEver(const uint64_t *slots, const int32_t *id, const int32_t *, uint8_t *) {
  Shared &shared = sharedOf(slots);
  if (id[0] != 2) {
    waitUntil(1, [&] { return shared.lock.load(); });
  }
}

LaunchError run(KernelEntry entry, Shared &shared, Grid grid, int threads, uint64_t scratch = 0) {
  ThreadPool pool(threads);
  const uint64_t slots[] = {reinterpret_cast<uint64_t>(&shared)};
  return launchPacked(waitingKernel(entry, scratch), grid, slots, pool);
}

class Coroutines : public testing::TestWithParam<int> {};
INSTANTIATE_TEST_SUITE_P(Threads, Coroutines, testing::Values(1, 2, 8));

TEST_P(Coroutines, ALockIsTakenByOneAtATime) {
  for (int repeat = 0; repeat < 20; ++repeat) {
    Shared shared;
    ASSERT_FALSE(run(addUnderLock, shared, {200, 1, 1}, GetParam()));
    EXPECT_EQ(shared.plain, 199 * 200 / 2);
  }
}

TEST_P(Coroutines, AProgramWaitsForAHigherOne) {
  for (int32_t programs : {1, 2, 40, 3000}) {
    Shared shared(static_cast<size_t>(programs));
    LaunchError error = run(waitForHigher, shared, {programs, 1, 1}, GetParam());
    ASSERT_FALSE(error) << error.message;
    for (int32_t i = 0; i < programs; ++i) {
      ASSERT_EQ(shared.order[static_cast<size_t>(i)], programs - 1 - i);
    }
  }
}

TEST_P(Coroutines, ProgramsThatCountTheirPollsWaitToo) {
  // Each poll looks like a change, so nobody ever seems to wait; all the same the last program, for
  // which everybody waits, must be started.
  Shared shared;
  auto entry = [](const uint64_t *slots, const int32_t *id, const int32_t *count, uint8_t *) {
    Shared &all = sharedOf(slots);
    uint64_t polls = 0;
    while (id[0] + 1 < count[0] && all.lock.load() == 0) {
      nereid_rt_yield(++polls, "sample.py:9");
    }
    all.lock.store(1);
  };
  LaunchError error = run(entry, shared, {50, 1, 1}, GetParam());
  EXPECT_FALSE(error) << error.message;
}

TEST_P(Coroutines, AllProgramsMeet) {
  Shared shared;
  LaunchError error = run(waitForAll, shared, {7, 11, 5}, GetParam());
  EXPECT_FALSE(error) << error.message;
  EXPECT_EQ(shared.lock.load(), 7 * 11 * 5);
}

TEST_P(Coroutines, EveryIdRunsOnce) {
  static std::atomic<int32_t> seen[3][4][5];
  std::memset(static_cast<void *>(seen), 0, sizeof seen);
  Shared shared;
  ASSERT_FALSE(run([](const uint64_t *, const int32_t *id, const int32_t *,
                      uint8_t *) { seen[id[2]][id[1]][id[0]].fetch_add(1); },
                   shared, {5, 4, 3}, GetParam()));
  for (auto &plane : seen) {
    for (auto &row : plane) {
      for (auto &one : row) {
        EXPECT_EQ(one.load(), 1);
      }
    }
  }
}

TEST_P(Coroutines, ScratchMemoryBelongsToTheProgram) {
  Shared shared;
  static std::atomic<int> wrong;
  wrong = 0;
  auto entry = [](const uint64_t *slots, const int32_t *id, const int32_t *count,
                  uint8_t *scratch) {
    Shared &all = sharedOf(slots);
    wrong += reinterpret_cast<uintptr_t>(scratch) % 64 != 0;
    std::memset(scratch, id[0], 10000);
    all.lock.fetch_add(1);
    waitUntil(count[0], [&] { return all.lock.load(); });
    for (int i = 0; i < 10000; ++i) {
      wrong += scratch[i] != static_cast<uint8_t>(id[0]);
    }
  };
  ASSERT_FALSE(run(entry, shared, {100, 1, 1}, GetParam(), 10000));
  EXPECT_EQ(wrong.load(), 0);
}

TEST_P(Coroutines, ADeadlockIsAnError) {
  ::setenv("NEREID_DEADLOCK_SECONDS", "0.2", 1);
  Shared shared;
  LaunchError error = run(waitForEver, shared, {40, 1, 1}, GetParam());
  ::unsetenv("NEREID_DEADLOCK_SECONDS");
  EXPECT_EQ(error.code, "E0413");
  EXPECT_NE(error.message.find("all 39 programs that have not finished have waited in loops for "
                               "0.2 seconds, and nothing that they read has changed; they wait at "
                               "sample.py:7"),
            std::string::npos)
      << error.message;
}

TEST_P(Coroutines, SlowProgressIsNoDeadlock) {
  ::setenv("NEREID_DEADLOCK_SECONDS", "0.1", 1);
  Shared shared;
  // Nobody finishes for half a second, and most only wait, but one value changes all the time.
  auto entry = [](const uint64_t *slots, const int32_t *id, const int32_t *, uint8_t *) {
    Shared &all = sharedOf(slots);
    if (id[0] == 0) {
      const auto end = std::chrono::steady_clock::now() + std::chrono::milliseconds(500);
      uint64_t step = 0;
      while (std::chrono::steady_clock::now() < end) {
        nereid_rt_yield(++step, "sample.py:3");
      }
      all.lock.store(1);
    } else if (id[0] == 1) {
      // A long step without giving way at all.
      const auto end = std::chrono::steady_clock::now() + std::chrono::milliseconds(300);
      while (std::chrono::steady_clock::now() < end) {
      }
    }
    waitUntil(1, [&] { return all.lock.load(); });
  };
  LaunchError error = run(entry, shared, {20, 1, 1}, GetParam());
  ::unsetenv("NEREID_DEADLOCK_SECONDS");
  EXPECT_FALSE(error) << error.message;
}

TEST_P(Coroutines, TooManyWaitingProgramsAreAnError) {
  Shared shared(300);
  // 8 MiB of scratch memory each: the limit has room for fewer than 128.
  LaunchError error = run(waitForHigher, shared, {300, 1, 1}, GetParam(), 8u << 20);
  EXPECT_EQ(error.code, "E0507");
  EXPECT_NE(error.message.find("has 127 programs that wait for others"), std::string::npos)
      << error.message;
  EXPECT_NE(error.message.find("and 173 that have not started"), std::string::npos);
  // As many that do not wait are no problem.
  Shared calm;
  EXPECT_FALSE(run(addUnderLock, calm, {300, 1, 1}, GetParam(), 8u << 20));
  EXPECT_EQ(calm.plain, 299 * 300 / 2);
}

TEST_P(Coroutines, NoMemoryIsAnError) {
  Shared shared;
  EXPECT_EQ(run(addUnderLock, shared, {3, 1, 1}, GetParam(), uint64_t{1} << 50).code, "E0505");
}

TEST_P(Coroutines, AFailedAssertionEndsTheWaitingOnes) {
  Shared shared;
  auto entry = [](const uint64_t *slots, const int32_t *id, const int32_t *, uint8_t *) {
    if (id[0] == 9) {
      nereid_rt_assert_fail("broken", id);
    }
    waitUntil(1, [&] { return sharedOf(slots).lock.load(); });
  };
  LaunchError error = run(entry, shared, {30, 1, 1}, GetParam());
  EXPECT_EQ(error.code, "E0407");
  EXPECT_NE(error.message.find("program (9, 0, 0): broken"), std::string::npos) << error.message;
}

TEST(Coroutine, TheFirstPlacesOfTheAlphabetAreNamed) {
  GridRun grid{.entry = nullptr,
               .slots = nullptr,
               .count = {1, 1, 1},
               .programs = 1,
               .takesRanges = false,
               .scratchBytes = 0};
  CoroutineRun launch(grid, 1);
  for (const char *place : {"f", "b", "k", "a", "f", "c", "j", "e", "i", "d", "h", "g", "a"}) {
    launch.notePlace(place);
  }
  const std::vector<std::string> named(launch.places, launch.places + CoroutineRun::placeLimit);
  EXPECT_EQ(named, (std::vector<std::string>{"a", "b", "c", "d", "e", "f", "g", "h"}));
}

TEST(Coroutine, YieldOutsideALaunchDoesNothing) { nereid_rt_yield(1, "sample.py:1"); }

TEST(Coroutine, OnlyWaitingOfAllForTheWholeTimeIsAStall) {
  StallWatch watch(3);
  watch.enter(0);
  watch.enter(1);
  watch.stalled(0, 1000);
  watch.stalled(1, 1100);
  EXPECT_FALSE(watch.isStalled(0, 1050, 100)); // too short
  watch.stalled(0, 1150);
  watch.stalled(1, 1150);
  EXPECT_FALSE(watch.isStalled(0, 1150, 100)); // worker 1 too short
  watch.stalled(0, 1210);
  watch.stalled(1, 1210);
  EXPECT_TRUE(watch.isStalled(0, 1210, 100));
  watch.stalled(0, 1290);
  EXPECT_FALSE(watch.isStalled(0, 1290, 100)); // worker 1 is in a long step
  watch.moved(1);
  watch.stalled(0, 1400);
  EXPECT_FALSE(watch.isStalled(0, 1400, 100)); // and has got on
  watch.leave(1, 1390);
  EXPECT_FALSE(watch.isStalled(0, 1400, 100)); // what it did last may help
  watch.stalled(0, 1500);
  EXPECT_TRUE(watch.isStalled(0, 1500, 100));
}

struct PingPong {
  StackContext main, other;
  std::vector<int> steps;
};

TEST(ContextSwitch, GoesBackAndForth) {
  PingPong game;
  std::vector<uint8_t> stack(256 << 10);
  prepareContext(
      game.other, stack.data(), stack.size(),
      [](void *argument) {
        auto &own = *static_cast<PingPong *>(argument);
        enteredContext(own.other, own.main);
        // Enough live values that some are in callee-saved registers.
        int a = 1, b = 2, c = 3, d = 5, e = 7, f = 11;
        while (true) {
          own.steps.push_back(a + b + c + d + e + f);
          switchContext(own.other, own.main);
          a += b, b += c, c += d, d += e, e += f, f += 1;
        }
      },
      &game);
  for (int turn = 0; turn < 3; ++turn) {
    game.steps.push_back(-turn);
    switchContext(game.main, game.other);
  }
  EXPECT_EQ(game.steps, (std::vector<int>{0, 29, -1, 58, -2, 114}));
  dropContext(game.other);
}

} // namespace
