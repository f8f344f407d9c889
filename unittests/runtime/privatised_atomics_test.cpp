// SPDX-License-Identifier: Apache-2.0
// Additions summed up per thread: what reaches memory and when, with a C++ function in the place of
// generated code.
#include "runtime/Kernel.h"
#include "runtime/ThreadPool.h"
#include "runtime/core/KernelSupport.h"
#include "runtime/core/PrivatisedAtomics.h"

#include <gtest/gtest.h>

#include <sys/mman.h>

using namespace nereid;
using namespace nereid::runtime;

namespace {

constexpr int64_t tile = 1024;
/// Lines so many bytes apart have one place in the sums.
constexpr int64_t period = PrivatisedAtomics::lines * PrivatisedAtomics::lineBytes;

template <class T> constexpr AdditionKind kindOf = AdditionKind::I64;
template <> constexpr AdditionKind kindOf<int32_t> = AdditionKind::I32;
template <> constexpr AdditionKind kindOf<float> = AdditionKind::F32;
template <> constexpr AdditionKind kindOf<double> = AdditionKind::F64;

/// What generated code does, with one element.
template <class T> void add(void *sums, T *element, T value) {
  auto &own = *static_cast<PrivatisedAtomics *>(sums);
  const auto address = reinterpret_cast<uint64_t>(element);
  const uint64_t line = address / PrivatisedAtomics::lineBytes;
  if (own.tags[line % PrivatisedAtomics::lines] == line) {
    *reinterpret_cast<T *>(own.sums + address % sizeof own.sums) += value;
  } else {
    nereid_rt_add_private(sums, &address, &value, 1);
  }
}

/// slots: memory, number of places, atomic counter of privatised tiles. A program adds 1, 2 or 3 to
/// `tile` places by turns.
template <class T>
void addTile(const uint64_t *slots, const int32_t *id, const int32_t *, uint8_t *) {
  T *memory = reinterpret_cast<T *>(slots[0]);
  const auto places = static_cast<int64_t>(slots[1]);
  void *sums = nereid_rt_privatise(static_cast<int32_t>(kindOf<T>), tile);
  if (sums) {
    reinterpret_cast<std::atomic<int64_t> *>(slots[2])->fetch_add(1);
  }
  for (int64_t i = 0; i < tile; ++i) {
    const int64_t number = id[0] * tile + i;
    T *place = memory + number * 7 % places, value = static_cast<T>(number % 3 + 1);
    if (sums) {
      add(sums, place, value);
    } else {
      std::atomic_ref<T>(*place).fetch_add(value);
    }
  }
}

Kernel kernelOf(KernelEntry entry) {
  Kernel kernel;
  kernel.info.name = "additions";
  kernel.entry = entry;
  return kernel;
}

template <class T> int64_t checkSums(int64_t programs, int64_t places) {
  std::vector<T> memory(static_cast<size_t>(places), T{5}), expected = memory;
  std::atomic<int64_t> privatised{0};
  ThreadPool pool(4);
  const uint64_t slots[] = {reinterpret_cast<uint64_t>(memory.data()),
                            static_cast<uint64_t>(places), reinterpret_cast<uint64_t>(&privatised)};
  EXPECT_FALSE(launchPacked(kernelOf(addTile<T>), {programs, 1, 1}, slots, pool));
  for (int64_t number = 0; number < programs * tile; ++number) {
    expected[static_cast<size_t>(number * 7 % places)] += static_cast<T>(number % 3 + 1);
  }
  EXPECT_EQ(memory, expected) << programs << " programs, " << places << " places";
  return privatised;
}

TEST(PrivatisedAtomics, EverySumReachesMemory) {
  for (int64_t places : {1, 17, 4096, 30'000}) {
    EXPECT_EQ(checkSums<int32_t>(200, places), 200);
    EXPECT_EQ(checkSums<int64_t>(200, places), 200);
    EXPECT_EQ(checkSums<float>(200, places), 200); // small integers: exact in any order
    EXPECT_EQ(checkSums<double>(200, places), 200);
  }
}

TEST(PrivatisedAtomics, ManyMorePlacesThanFit) { checkSums<float>(500, 2'000'000); }

TEST(PrivatisedAtomics, SmallLaunchesAddDirectly) {
  EXPECT_EQ(checkSums<int32_t>(1, 10), 0);
  EXPECT_EQ(checkSums<int32_t>(32, 10), 0);
}

TEST(PrivatisedAtomics, NothingIsPrivatisedOutsideALaunch) {
  EXPECT_EQ(nereid_rt_privatise(0, tile), nullptr);
}

TEST(PrivatisedAtomics, LinesOfOnePlaceEvictEachOther) {
  std::vector<double> memory(static_cast<size_t>(3 * period) / sizeof(double));
  PrivatisedList list(1000);
  PrivatisedAtomics *sums = list.begin(0, AdditionKind::F64, tile);
  ASSERT_TRUE(sums);
  const size_t apart = period / sizeof(double);
  for (int round = 1; round <= 3; ++round) {
    for (size_t at : {size_t{3}, 3 + apart, 3 + 2 * apart}) {
      add(sums, &memory[at], double(round));
    }
  }
  // The last one is still in the sums.
  EXPECT_EQ(memory[3], 6);
  EXPECT_EQ(memory[3 + apart], 6);
  EXPECT_EQ(memory[3 + 2 * apart], 3);
  list.finish();
  EXPECT_EQ(memory[3 + 2 * apart], 6);
}

TEST(PrivatisedAtomics, AZeroDoesNotTouchMemory) {
  void *page = mmap(nullptr, 4096, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  ASSERT_NE(page, MAP_FAILED);
  PrivatisedList list(1000);
  add(list.begin(0, AdditionKind::F32, tile), static_cast<float *>(page) + 5, 0.0F);
  list.finish();
  munmap(page, 4096);
}

TEST(PrivatisedAtomics, OneTypeForEachLaunch) {
  PrivatisedList list(1000);
  EXPECT_TRUE(list.begin(0, AdditionKind::F32, tile));
  EXPECT_FALSE(list.begin(0, AdditionKind::I64, tile));
  EXPECT_TRUE(list.begin(1, AdditionKind::I64, tile));
}

TEST(PrivatisedAtomics, TilesThatHardlyMeetTheirLinesAreAddedDirectly) {
  std::vector<float> memory(static_cast<size_t>(2 * period) / sizeof(float));
  PrivatisedList list(1000);
  auto disturb = [&](PrivatisedAtomics *sums) {
    for (int64_t i = 0; i < tile; ++i) {
      add(sums, &memory[static_cast<size_t>(i % 2 * period) / sizeof(float)], 1.0F);
    }
  };
  int64_t direct = 0;
  for (int64_t expected : {63, 126}) {
    PrivatisedAtomics *sums = list.begin(0, AdditionKind::F32, tile);
    ASSERT_TRUE(sums);
    disturb(sums);
    for (direct = 0; direct < expected; ++direct) {
      ASSERT_FALSE(list.begin(0, AdditionKind::F32, tile)) << direct;
    }
  }
  EXPECT_TRUE(list.begin(0, AdditionKind::F32, tile));
  list.finish();
  EXPECT_EQ(memory[0] + memory[static_cast<size_t>(period) / sizeof(float)], 2 * tile);
}

} // namespace
