// SPDX-License-Identifier: Apache-2.0
// The pool of both runtimes: who runs a job, under which number, and what a fork leaves of it.
#include "runtime/core/WorkerPool.h"

#include <gtest/gtest.h>

#include <sys/wait.h>
#include <thread>
#include <unistd.h>
#include <vector>

using namespace nereid::runtime;

namespace {

using WhenBusy = WorkerPool::WhenBusy;

struct Pool {
  WorkerPool *pool;
  explicit Pool(int threads) : pool(WorkerPool::create(threads)) {}
  ~Pool() { WorkerPool::destroy(pool); }
  template <class Body>
  void share(int wanted, const Body &body, WhenBusy whenBusy = WhenBusy::Wait) {
    pool->share(
        wanted, [](void *data, int worker) { (*static_cast<const Body *>(data))(worker); },
        const_cast<Body *>(&body), whenBusy);
  }
};

/// True when it did within 10 seconds.
template <class Condition> bool becomes(const Condition &condition) {
  for (int i = 0; i < 10'000 && !condition(); ++i) {
    usleep(1000);
  }
  return condition();
}

TEST(WorkerPool, EachThreadHasANumberOfItsOwn) {
  Pool pool(4);
  std::atomic<int> arrived{0}, numbers{0};
  const std::thread::id caller = std::this_thread::get_id();
  pool.share(4, [&](int worker) {
    EXPECT_EQ(worker == 0, std::this_thread::get_id() == caller);
    EXPECT_EQ(pool.pool->workerHere(), worker);
    numbers.fetch_or(1 << worker);
    arrived.fetch_add(1);
    becomes([&] { return arrived.load() == 4; });
  });
  EXPECT_EQ(numbers.load(), 15);
  EXPECT_EQ(pool.pool->workerHere(), -1);
}

TEST(WorkerPool, KnowsWhetherAWorkerIsAwake) {
  Pool alone(1), pool(2);
  alone.share(1, [](int) {});
  EXPECT_FALSE(alone.pool->hasAwakeWorker());
  EXPECT_FALSE(pool.pool->hasAwakeWorker()) << "none has been started";
  std::atomic<int> arrived{0};
  pool.share(2, [&](int worker) {
    EXPECT_TRUE(worker == 0 || pool.pool->hasAwakeWorker());
    arrived.fetch_add(1);
    becomes([&] { return arrived.load() == 2; });
  });
  EXPECT_EQ(arrived.load(), 2);
  EXPECT_TRUE(becomes([&] { return !pool.pool->hasAwakeWorker(); }));
}

TEST(WorkerPool, ABusyPoolIsWaitedForOrNot) {
  Pool pool(2);
  std::atomic<bool> isBusy{false}, mayEnd{false};
  std::thread other([&] {
    pool.share(2, [&](int worker) {
      isBusy = true;
      becomes([&] { return worker != 0 || mayEnd.load(); });
    });
  });
  ASSERT_TRUE(becomes([&] { return isBusy.load(); }));
  int calls = 0;
  pool.share(2, [&](int worker) { calls += worker == 0 ? 1 : 100; }, WhenBusy::Alone);
  EXPECT_EQ(calls, 1);
  pool.share(1, [&](int worker) { calls += worker == 0 ? 1 : 100; });
  EXPECT_EQ(calls, 2) << "a job for one thread needs no turn";
  std::atomic<bool> isThrough{false};
  std::thread third([&] {
    pool.share(2, [](int) {});
    isThrough = true;
  });
  usleep(20'000);
  EXPECT_FALSE(isThrough.load());
  mayEnd = true;
  other.join();
  third.join();
}

TEST(WorkerPool, AJobWithinAJobIsDoneByItsThread) {
  Pool pool(3), further(2);
  std::atomic<int> inner{0};
  pool.share(3, [&](int) {
    const std::thread::id self = std::this_thread::get_id();
    further.share(1, [&](int) {
      pool.share(3, [&](int worker) {
        EXPECT_EQ(worker, 0);
        EXPECT_EQ(std::this_thread::get_id(), self);
        inner.fetch_add(1);
      });
    });
  });
  EXPECT_GE(inner.load(), 1);
  EXPECT_LE(inner.load(), 3);
}

int statusOfChild(pid_t child) {
  int status = -1;
  waitpid(child, &status, 0);
  return status;
}

/// The child's copy of the pool has workers that are not there, and one of the parent's threads has
/// its turn.
TEST(WorkerPool, AForkDuringAJobLeavesAPoolThatWorks) {
  Pool pool(3);
  std::atomic<bool> isBusy{false}, mayEnd{false};
  std::thread other([&] {
    pool.share(3, [&](int) {
      isBusy = true;
      becomes([&] { return mayEnd.load(); });
    });
  });
  ASSERT_TRUE(becomes([&] { return isBusy.load(); }));
  const pid_t child = fork();
  if (child == 0) {
    alarm(20);
    std::atomic<int> calls{0};
    for (int round = 0; round < 50; ++round) {
      pool.share(3, [&](int) { calls.fetch_add(1); });
    }
    WorkerPool::destroy(pool.pool);
    _exit(calls.load() >= 50 ? 0 : 1);
  }
  EXPECT_EQ(statusOfChild(child), 0);
  mayEnd = true;
  other.join();
}

TEST(WorkerPool, AForkWithinAJobComesToItsEnd) {
  Pool pool(2);
  pid_t child = -1;
  std::atomic<bool> isInside{false}, mayEnd{false};
  const pid_t parent = getpid();
  pool.share(2, [&](int worker) {
    if (worker != 0) { // never comes back in the child
      isInside = true;
      becomes([&] { return mayEnd.load(); });
      return;
    }
    ASSERT_TRUE(becomes([&] { return isInside.load(); }));
    child = fork();
    if (child == 0) {
      alarm(20);
    }
    mayEnd = true;
  });
  if (getpid() != parent) {
    std::atomic<int> calls{0};
    pool.share(2, [&](int) { calls.fetch_add(1); });
    _exit(calls.load() > 0 ? 0 : 1);
  }
  EXPECT_EQ(statusOfChild(child), 0);
}

} // namespace
