// SPDX-License-Identifier: Apache-2.0
#include "lib/verify/GuardedMemory.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <vector>

namespace nereid::verify {
namespace {

GuardedMemory make(size_t bytes, Edge edge, size_t alignment = 1, size_t remainder = 0) {
  auto made = GuardedMemory::make(bytes, edge, {alignment, remainder}, 0xA5);
  EXPECT_TRUE(made) << made.error().message;
  return std::move(*made);
}

/// What compilers may not leave out or join.
uint8_t read(const uint8_t *address) { return *static_cast<const volatile uint8_t *>(address); }
void write(uint8_t *address, uint8_t value) { *static_cast<volatile uint8_t *>(address) = value; }

TEST(GuardedMemory, ItsOwnBytesAreNobodysConcern) {
  for (Edge edge : {Edge::Front, Edge::Back}) {
    for (size_t bytes : {size_t{1}, size_t{17}, size_t{4096}, size_t{5000}, size_t{70000}}) {
      GuardedMemory memory = make(bytes, edge);
      for (size_t i = 0; i < bytes; ++i) {
        EXPECT_EQ(read(memory.data() + i), 0xA5);
        write(memory.data() + i, 1);
      }
      EXPECT_FALSE(memory.outside()) << bytes;
      EXPECT_FALSE(memory.overwritten()) << bytes;
    }
  }
}

TEST(GuardedMemory, TheByteBehind) {
  GuardedMemory memory = make(5000, Edge::Back);
  read(memory.data() + 5000);
  ASSERT_TRUE(memory.outside());
  EXPECT_EQ(memory.outside()->offset, 5000);
#if defined(__x86_64__)
  EXPECT_EQ(memory.outside()->isWrite, false);
#endif
}

TEST(GuardedMemory, TheByteInFront) {
  GuardedMemory memory = make(5000, Edge::Front);
  write(memory.data() - 1, 7);
  write(memory.data() - 2, 7);
  ASSERT_TRUE(memory.outside());
  EXPECT_EQ(memory.outside()->offset, -1); // the first one, though both went through
#if defined(__x86_64__)
  EXPECT_EQ(memory.outside()->isWrite, true);
#endif
}

/// Memory of the same size as one that is gone: filled anew, and guarded on both sides again.
TEST(GuardedMemory, WhatWasUsedBefore) {
  for (int64_t step : {0, -1, 5000, 0, -1, 5000}) {
    GuardedMemory memory = make(5000, step < 0 ? Edge::Front : Edge::Back);
    EXPECT_FALSE(memory.outside());
    EXPECT_FALSE(memory.overwritten());
    EXPECT_EQ(read(memory.data() + 77), 0xA5);
    write(memory.data() + 77, 1);
    write(memory.data() + (step == 0 ? 78 : step), 1);
    ASSERT_EQ(bool(memory.outside()), step != 0);
    EXPECT_EQ(step != 0 ? memory.outside()->offset : 0, step);
  }
}

/// As far away as the memory is long, which a wrong stride reaches.
TEST(GuardedMemory, FarAway) {
  constexpr size_t bytes = size_t{8} << 20;
  GuardedMemory memory = make(bytes, Edge::Back);
  read(memory.data() + 2 * bytes - 1);
  ASSERT_TRUE(memory.outside());
  EXPECT_EQ(memory.outside()->offset, static_cast<int64_t>(2 * bytes - 1));
}

/// The far end of the last page is no forbidden page, but it is watched as well.
TEST(GuardedMemory, BytesThatAreOnlyWatched) {
  GuardedMemory front = make(100, Edge::Front);
  write(front.data() + 100, 1);
  EXPECT_FALSE(front.outside());
  EXPECT_EQ(front.overwritten(), 100);
  GuardedMemory back = make(100, Edge::Back);
  write(back.data() - 1, 1);
  EXPECT_FALSE(back.outside());
  EXPECT_EQ(back.overwritten(), -1);
}

TEST(GuardedMemory, Alignment) {
  for (Edge edge : {Edge::Front, Edge::Back}) {
    for (size_t alignment : {size_t{1}, size_t{4}, size_t{16}, size_t{64}}) {
      for (size_t remainder : {size_t{0}, alignment / 2}) {
        for (size_t bytes : {size_t{3}, size_t{100}, size_t{4096}, size_t{4097}}) {
          GuardedMemory memory = make(bytes, edge, alignment, remainder);
          EXPECT_EQ(reinterpret_cast<uintptr_t>(memory.data()) % alignment, remainder);
          EXPECT_FALSE(memory.outside());
          // Less than one alignment stands between the memory and the forbidden page.
          read(edge == Edge::Front ? memory.data() - remainder - 1
                                   : memory.data() + bytes + alignment - 1);
          EXPECT_TRUE(memory.outside()) << bytes << " " << alignment << " " << remainder;
        }
      }
    }
  }
}

TEST(GuardedMemory, EmptyOnesHaveGuardsToo) {
  GuardedMemory memory = make(0, Edge::Back);
  read(memory.data());
  EXPECT_TRUE(memory.outside());
}

TEST(GuardedMemory, ManyAtOnce) {
  std::vector<GuardedMemory> all;
  for (int i = 0; i < 100; ++i) {
    all.push_back(make(64, i % 2 == 0 ? Edge::Front : Edge::Back));
  }
  write(all[41].data() + 64, 1);
  for (int i = 0; i < 100; ++i) {
    EXPECT_EQ(all[static_cast<size_t>(i)].outside().has_value(), i == 41) << i;
  }
}

TEST(GuardedMemory, TooMuch) {
  EXPECT_EQ(GuardedMemory::make(SIZE_MAX / 2, Edge::Back, {}, 0).error().code, "E0506");
  EXPECT_EQ(GuardedMemory::make(size_t{1} << 60, Edge::Back, {}, 0).error().code, "E0506");
}

/// What is no guard still ends the process, by whatever handled it before.
TEST(GuardedMemoryDeathTest, OtherFaults) {
  EXPECT_DEATH(
      {
        installGuardHandler();
        write(reinterpret_cast<uint8_t *>(uintptr_t{64}), 1);
      },
      "");
}

} // namespace
} // namespace nereid::verify
