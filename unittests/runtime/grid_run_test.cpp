// SPDX-License-Identifier: Apache-2.0
// A grid run as tasks: every program once, whoever runs the tasks and however late.
#include "runtime/core/GridRun.h"

#include "runtime/core/KernelSupport.h"

#include <gtest/gtest.h>

#include <thread>
#include <vector>

using namespace nereid::runtime;

namespace {

/// Counts its runs at its place; slots[0] is the counters' address, slots[1] a program that fails.
void count(const uint64_t *slots, const int32_t *id, const int32_t *grid, uint8_t *) {
  const int64_t program = id[0] + int64_t{grid[0]} * (id[1] + int64_t{grid[1]} * id[2]);
  if (program == static_cast<int64_t>(slots[1])) {
    nereid_rt_assert_fail("wrong", id);
  }
  reinterpret_cast<std::atomic<int> *>(slots[0])[program].fetch_add(1);
}

struct Sample {
  std::vector<std::atomic<int>> runs = std::vector<std::atomic<int>>(60);
  uint64_t slots[2] = {reinterpret_cast<uint64_t>(runs.data()), ~uint64_t{0}};
  Part parts[GridRun::partLimit];
  GridRun run{.entry = count,
              .slots = slots,
              .count = {5, 4, 3},
              .programs = 60,
              .takesRanges = false,
              .scratchBytes = 64};
  int total() const {
    int sum = 0;
    for (const auto &one : runs) {
      EXPECT_LE(one.load(), 1);
      sum += one.load();
    }
    return sum;
  }
};

TEST(GridRun, OneTaskRunsAll) {
  Sample sample;
  sample.run.runTask(0);
  EXPECT_TRUE(sample.run.finish());
  EXPECT_EQ(sample.total(), 60);
  EXPECT_EQ(sample.run.samplePrograms, 60);
  EXPECT_GT(sample.run.sampleNanos, 0);
}

TEST(GridRun, TasksShareThePrograms) {
  for (bool inParts : {false, true}) {
    for (int tasks : {2, 3, 7}) {
      Sample sample;
      sample.run.divide(tasks, 2, inParts, sample.parts);
      std::vector<std::thread> threads;
      for (int task = 0; task < tasks; ++task) {
        threads.emplace_back([&, task] { sample.run.runTask(task); });
      }
      for (std::thread &thread : threads) {
        thread.join();
      }
      EXPECT_TRUE(sample.run.finish());
      EXPECT_EQ(sample.total(), 60);
    }
  }
}

TEST(GridRun, TheFirstTaskAloneFinishesToo) {
  Sample sample;
  sample.run.divide(4, 1, true, sample.parts);
  sample.run.runTask(0);
  EXPECT_TRUE(sample.run.finish()) << "others' parts as well";
  EXPECT_EQ(sample.total(), 60);
}

TEST(GridRun, ATaskBeginsInAPartOfItsOwn) {
  Sample sample;
  sample.slots[1] = 30; // the first program of the second part
  sample.run.divide(2, 60, true, sample.parts);
  sample.run.runTask(1);
  EXPECT_EQ(sample.run.failure.id[1], 2);
  EXPECT_EQ(sample.total(), 0);
}

TEST(GridRun, AFailureEndsTheOthers) {
  Sample sample;
  sample.slots[1] = 17;
  sample.run.divide(2, 1, false, sample.parts);
  sample.run.runTask(0);
  sample.run.runTask(1);
  EXPECT_EQ(sample.run.failure.hasFailed.load(), 1);
  EXPECT_STREQ(sample.run.failure.message, "wrong");
  EXPECT_EQ(sample.total(), 17);
}

TEST(GridRun, WithoutMemoryATaskRunsNothing) {
  Sample sample;
  sample.run.scratchBytes = uint64_t{1} << 60;
  sample.run.runTask(0);
  EXPECT_TRUE(sample.run.lacksMemory.load());
  EXPECT_FALSE(sample.run.finish());
  EXPECT_EQ(sample.total(), 0);
}

TEST(GridRun, FromTheLastToTheFirst) {
  static std::vector<int> order;
  order.clear();
  GridRun run{.entry = [](const uint64_t *, const int32_t *id, const int32_t *,
                          uint8_t *) { order.push_back(id[0]); },
              .slots = nullptr,
              .count = {4, 1, 1},
              .programs = 4,
              .takesRanges = false,
              .scratchBytes = 0,
              .isDescending = true};
  run.runTask(0);
  EXPECT_EQ(order, (std::vector<int>{3, 2, 1, 0}));
}

} // namespace
