// SPDX-License-Identifier: Apache-2.0
// What is counted as work of threads: bodies, on every thread that runs one, and nothing else.
#include "runtime/BusyTime.h"
#include "runtime/ThreadPool.h"
#include "runtime/core/Clock.h"

#include <gtest/gtest.h>

using namespace nereid::runtime;

namespace {

constexpr int64_t millisecond = 1'000'000;

void spin(int64_t nanos) {
  const int64_t end = nowNanos() + nanos;
  while (nowNanos() < end) {
  }
}

TEST(BusyTime, CountsBodiesOfAllThreads) {
  ThreadPool pool(2);
  const BusyTime busy;
  pool.parallelFor(8, 1,
                   [](int64_t begin, int64_t end, int) { spin((end - begin) * millisecond); });
  EXPECT_GE(busy.nanos(), 8 * millisecond);
  const int64_t before = busy.nanos();
  spin(5 * millisecond);
  EXPECT_EQ(busy.nanos(), before) << "no body ran";
  pool.parallelFor(1, 1, [](int64_t, int64_t, int) { spin(millisecond); });
  EXPECT_GE(busy.nanos(), before + millisecond) << "on the calling thread";
}

TEST(BusyTime, CountsNestedCallsOnce) {
  ThreadPool pool(2);
  const BusyTime busy;
  const int64_t begin = nowNanos();
  pool.parallelFor(1, 1, [&](int64_t, int64_t, int) {
    pool.parallelFor(4, 1, [](int64_t, int64_t, int) { spin(millisecond); });
  });
  EXPECT_LE(busy.nanos(), nowNanos() - begin);
}

TEST(BusyTime, TheLatestCounts) {
  ThreadPool pool(1);
  const auto run = [&] { pool.parallelFor(1, 1, [](int64_t, int64_t, int) { spin(1000); }); };
  const BusyTime outer;
  {
    const BusyTime inner;
    run();
    EXPECT_GT(inner.nanos(), 0);
    EXPECT_EQ(outer.nanos(), 0);
  }
  run();
  EXPECT_GT(outer.nanos(), 0);
}

} // namespace
