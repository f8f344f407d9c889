// SPDX-License-Identifier: Apache-2.0
// The pool of the ahead-of-time runtime: every task once, whatever happens around it.
#include "nereid/aot.h"
#include "runtime/aot/Launch.h"
#include "runtime/core/ProgramMemory.h"

#include <gtest/gtest.h>

#include <atomic>
#include <set>
#include <sys/wait.h>
#include <thread>
#include <unistd.h>
#include <vector>

namespace nereid::aot {
namespace {

struct Counts {
  std::vector<std::atomic<int>> ofTask;
  explicit Counts(int tasks) : ofTask(static_cast<size_t>(tasks)) {}
  static void count(void *data, int index) {
    static_cast<Counts *>(data)->ofTask[static_cast<size_t>(index)].fetch_add(1);
  }
  bool isOnceEach() const {
    for (const auto &one : ofTask) {
      if (one.load() != 1) {
        return false;
      }
    }
    return true;
  }
};

bool runOnce(const nereid_aot_pool &pool, int tasks) {
  Counts counts(tasks);
  return runTasks(pool, tasks, Counts::count, &counts) && counts.isOnceEach();
}

TEST(AotPool, EveryTaskOnce) {
  nereid_aot_pool *pool = nereid_aot_pool_create(4);
  ASSERT_NE(pool, nullptr);
  EXPECT_EQ(pool->threads, 4);
  for (int round = 0; round < 500; ++round) {
    ASSERT_TRUE(runOnce(*pool, round % 9));
  }
  nereid_aot_pool_destroy(pool);
}

TEST(AotPool, WorkersSleepAndWake) {
  nereid_aot_pool *pool = nereid_aot_pool_create(3);
  for (int round = 0; round < 20; ++round) {
    ASSERT_TRUE(runOnce(*pool, 3));
    usleep(2000);
  }
  nereid_aot_pool_destroy(pool);
}

TEST(AotPool, CallerHasTheFirstTask) {
  nereid_aot_pool *pool = nereid_aot_pool_create(2);
  for (int round = 0; round < 200; ++round) {
    std::thread::id first;
    ASSERT_TRUE(runTasks(
        *pool, 2,
        [](void *data, int index) {
          if (index == 0) {
            *static_cast<std::thread::id *>(data) = std::this_thread::get_id();
          }
        },
        &first));
    ASSERT_EQ(first, std::this_thread::get_id()) << round;
  }
  nereid_aot_pool_destroy(pool);
}

TEST(AotPool, KnowsWhetherAWorkerIsAwake) {
  EXPECT_FALSE(hasAwakeWorker(*nereid_aot_no_pool()));
  nereid_aot_pool *pool = nereid_aot_pool_create(2);
  EXPECT_FALSE(hasAwakeWorker(*pool)) << "not started yet";
  auto turnsTo = [&](bool isAwake) {
    for (int round = 0; round < 2000 && hasAwakeWorker(*pool) != isAwake; ++round) {
      usleep(1000);
    }
    return hasAwakeWorker(*pool) == isAwake;
  };
  struct Job {
    nereid_aot_pool *pool;
    std::atomic<bool> isThere{false};
    bool wasAwake = false;
  } job{pool};
  EXPECT_TRUE(runTasks(
      *pool, 2,
      [](void *data, int index) {
        // The caller stays until the worker is there.
        Job &own = *static_cast<Job *>(data);
        for (int round = 0; index == 0 && round < 2000 && !own.isThere.load(); ++round) {
          usleep(1000);
        }
        if (index == 1) {
          own.wasAwake = hasAwakeWorker(*own.pool);
          own.isThere = true;
        }
      },
      &job));
  EXPECT_TRUE(job.wasAwake);
  EXPECT_TRUE(turnsTo(false)) << "asleep";
  nereid_aot_pool_destroy(pool);
}

TEST(AotPool, SharedByCallers) {
  nereid_aot_pool *pool = nereid_aot_pool_create(3);
  std::atomic<int> failures{0};
  std::vector<std::thread> callers;
  for (int i = 0; i < 4; ++i) {
    callers.emplace_back([&] {
      for (int round = 0; round < 500; ++round) {
        failures += runOnce(*pool, 5) ? 0 : 1;
      }
    });
  }
  for (std::thread &caller : callers) {
    caller.join();
  }
  EXPECT_EQ(failures.load(), 0);
  nereid_aot_pool_destroy(pool);
}

TEST(AotPool, NestedCallsFinish) {
  nereid_aot_pool *pool = nereid_aot_pool_create(2);
  struct Outer {
    nereid_aot_pool *pool;
    std::atomic<int> failures{0};
  } outer{pool};
  EXPECT_TRUE(runTasks(
      *pool, 4,
      [](void *data, int) {
        auto &own = *static_cast<Outer *>(data);
        own.failures += runOnce(*own.pool, 3) ? 0 : 1;
      },
      &outer));
  EXPECT_EQ(outer.failures.load(), 0);
  nereid_aot_pool_destroy(pool);
}

TEST(AotPool, ChildOfAForkWorksOn) {
  nereid_aot_pool *pool = nereid_aot_pool_create(3);
  ASSERT_TRUE(runOnce(*pool, 6));
  const pid_t child = fork();
  if (child == 0) {
    alarm(20);
    bool isRight = true;
    for (int round = 0; round < 50; ++round) {
      isRight &= runOnce(*pool, 6);
    }
    nereid_aot_pool_destroy(pool);
    _exit(isRight ? 0 : 1);
  }
  int status = -1;
  ASSERT_EQ(waitpid(child, &status, 0), child);
  EXPECT_EQ(status, 0);
  EXPECT_TRUE(runOnce(*pool, 6));
  nereid_aot_pool_destroy(pool);
}

/// Forks while other threads hold the locks of pools now and then, and have scratch memory.
TEST(AotPool, ForksAmongLaunches) {
  std::atomic<bool> isOver{false};
  std::vector<std::thread> busy;
  for (int i = 0; i < 2; ++i) {
    busy.emplace_back([&] {
      while (!isOver.load()) {
        runtime::giveBack(runtime::takeScratch(4096));
        runOnce(defaultPool(), 3);
      }
    });
  }
  for (int round = 0; round < 30; ++round) {
    const pid_t child = fork();
    if (child == 0) {
      alarm(20);
      runtime::giveBack(runtime::takeScratch(4096));
      _exit(runOnce(defaultPool(), 3) ? 0 : 1);
    }
    int status = -1;
    ASSERT_EQ(waitpid(child, &status, 0), child);
    ASSERT_EQ(status, 0);
  }
  isOver = true;
  for (std::thread &one : busy) {
    one.join();
  }
  nereid_aot_release();
}

TEST(AotPool, WithoutThreads) {
  EXPECT_TRUE(runOnce(*nereid_aot_no_pool(), 5));
  nereid_aot_pool *one = nereid_aot_pool_create(1);
  EXPECT_TRUE(runOnce(*one, 5));
  nereid_aot_pool_destroy(one);
  nereid_aot_pool_destroy(nullptr);
}

TEST(AotPool, DefaultComesBackAfterRelease) {
  EXPECT_TRUE(runOnce(defaultPool(), 4));
  nereid_aot_release();
  nereid_aot_release();
  EXPECT_TRUE(runOnce(defaultPool(), 4));
  nereid_aot_release();
}

} // namespace
} // namespace nereid::aot
