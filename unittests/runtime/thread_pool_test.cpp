// SPDX-License-Identifier: Apache-2.0
// The pool: coverage of ranges, nesting, callers in parallel, exceptions, fork.
#include "runtime/ThreadPool.h"

#include <algorithm>
#include <atomic>
#include <gtest/gtest.h>
#include <mutex>
#include <numeric>
#include <sys/wait.h>
#include <thread>
#include <time.h>
#include <unistd.h>
#include <vector>

using namespace nereid::runtime;

namespace {

void expectEveryIndexOnce(ThreadPool &pool, int64_t count, int64_t grain) {
  std::vector<std::atomic<int>> hits(static_cast<size_t>(count));
  pool.parallelFor(count, grain, [&](int64_t begin, int64_t end, int worker) {
    EXPECT_LT(begin, end);
    EXPECT_TRUE(worker >= 0 && worker < pool.threadCount());
    for (int64_t i = begin; i < end; ++i) {
      hits[static_cast<size_t>(i)].fetch_add(1);
    }
  });
  for (auto &hit : hits) {
    ASSERT_EQ(hit.load(), 1);
  }
}

TEST(ThreadPool, CoversEveryIndexOnce) {
  for (int threads : {1, 2, 5}) {
    ThreadPool pool(threads);
    EXPECT_EQ(pool.threadCount(), threads);
    for (int64_t count : {0, 1, 2, 3, 63, 1000, 100001}) {
      for (int64_t grain : {0, 1, 7, 1000000}) {
        expectEveryIndexOnce(pool, count, grain);
      }
    }
  }
}

TEST(ThreadPool, ManySmallJobsInARow) {
  ThreadPool pool(4);
  for (int round = 0; round < 20000; ++round) {
    std::atomic<int64_t> sum{0};
    pool.parallelFor(8, 1, [&](int64_t begin, int64_t end, int) {
      for (int64_t i = begin; i < end; ++i) {
        sum.fetch_add(i + 1);
      }
    });
    ASSERT_EQ(sum.load(), 36);
  }
}

TEST(ThreadPool, SleepingWorkersAreWoken) {
  ThreadPool pool(2);
  for (int round = 0; round < 5; ++round) {
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
    // Each range waits for the other, so this ends only if a second thread joins.
    std::atomic<int> arrived{0};
    pool.parallelFor(2, 1, [&](int64_t, int64_t, int) {
      arrived.fetch_add(1);
      while (arrived.load() < 2) {
        std::this_thread::yield();
      }
    });
    EXPECT_EQ(arrived.load(), 2);
  }
}

TEST(ThreadPool, RangesShrinkToTheGrain) {
  ThreadPool pool(2);
  std::mutex lock;
  std::vector<std::pair<int64_t, int64_t>> ranges;
  pool.parallelFor(1000, 10, [&](int64_t begin, int64_t end, int) {
    const std::lock_guard guard(lock);
    ranges.push_back({begin, end});
  });
  std::sort(ranges.begin(), ranges.end());
  // 1000 items, 2 threads, 4 ranges each: the first takes 1000 / 8, the next 875 / 8.
  EXPECT_EQ(ranges[0], (std::pair<int64_t, int64_t>{0, 125}));
  EXPECT_EQ(ranges[1], (std::pair<int64_t, int64_t>{125, 234}));
  for (size_t i = 1; i < ranges.size(); ++i) {
    const int64_t size = ranges[i].second - ranges[i].first;
    EXPECT_EQ(ranges[i].first, ranges[i - 1].second);
    EXPECT_LE(size, ranges[i - 1].second - ranges[i - 1].first);
    EXPECT_GE(size, i + 1 < ranges.size() ? 10 : 1);
  }
  EXPECT_EQ(ranges.back().second, 1000);
}

TEST(ThreadPool, TakesTheLargestCount) {
  ThreadPool pool(3);
  std::atomic<int64_t> sum{0};
  pool.parallelFor(INT64_MAX, INT64_MAX / 5,
                   [&](int64_t begin, int64_t end, int) { sum.fetch_add(end - begin); });
  EXPECT_EQ(sum.load(), INT64_MAX);
}

TEST(ThreadPool, IdleWorkersUseNoCpu) {
  ThreadPool pool(2);
  pool.parallelFor(2, 1, [](int64_t, int64_t, int) {});
  std::this_thread::sleep_for(std::chrono::milliseconds(20));
  const auto cpuNanos = [] {
    timespec now{};
    ::clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
    return int64_t{now.tv_sec} * 1'000'000'000 + now.tv_nsec;
  };
  const int64_t before = cpuNanos();
  std::this_thread::sleep_for(std::chrono::milliseconds(200));
  EXPECT_LT(cpuNanos() - before, 10'000'000);
}

TEST(ThreadPool, NestedCallsRunOnTheCallingThread) {
  ThreadPool pool(3);
  std::atomic<int> inner{0};
  pool.parallelFor(10, 1, [&](int64_t, int64_t, int outerWorker) {
    const std::thread::id self = std::this_thread::get_id();
    pool.parallelFor(100, 1, [&](int64_t begin, int64_t end, int worker) {
      EXPECT_EQ(std::this_thread::get_id(), self);
      EXPECT_EQ(worker, outerWorker);
      inner.fetch_add(static_cast<int>(end - begin));
    });
  });
  EXPECT_EQ(inner.load(), 1000);
}

TEST(ThreadPool, SeveralCallersTakeTurns) {
  ThreadPool pool(2);
  std::atomic<int64_t> total{0};
  std::vector<std::thread> callers;
  for (int caller = 0; caller < 4; ++caller) {
    callers.emplace_back([&] {
      for (int round = 0; round < 500; ++round) {
        pool.parallelFor(16, 1,
                         [&](int64_t begin, int64_t end, int) { total.fetch_add(end - begin); });
      }
    });
  }
  for (std::thread &caller : callers) {
    caller.join();
  }
  EXPECT_EQ(total.load(), 4 * 500 * 16);
}

TEST(ThreadPool, ExceptionReachesTheCallerAndThePoolGoesOn) {
  ThreadPool pool(3);
  for (int round = 0; round < 100; ++round) {
    EXPECT_THROW(pool.parallelFor(1000, 1,
                                  [](int64_t begin, int64_t end, int) {
                                    if (begin <= 500 && 500 < end) {
                                      throw std::runtime_error("stop");
                                    }
                                  }),
                 std::runtime_error);
  }
  std::atomic<int64_t> sum{0};
  pool.parallelFor(10, 1, [&](int64_t begin, int64_t end, int) { sum += end - begin; });
  EXPECT_EQ(sum.load(), 10);
}

TEST(ThreadPool, ChildOfAForkCanWork) {
  ThreadPool pool(3);
  pool.parallelFor(100, 1, [](int64_t, int64_t, int) {});
  const pid_t child = ::fork();
  ASSERT_GE(child, 0);
  if (child == 0) {
    ::alarm(20);
    std::atomic<int64_t> sum{0};
    for (int round = 0; round < 100; ++round) {
      pool.parallelFor(100, 1, [&](int64_t begin, int64_t end, int) { sum += end - begin; });
    }
    ::_exit(sum.load() == 10000 ? 0 : 1);
  }
  int status = 0;
  ASSERT_EQ(::waitpid(child, &status, 0), child);
  EXPECT_TRUE(WIFEXITED(status) && WEXITSTATUS(status) == 0) << status;
}

} // namespace
