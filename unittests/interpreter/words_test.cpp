// SPDX-License-Identifier: Apache-2.0
// Copies of a tile's elements are one memory, and memory that nobody has any more is another
// tile's.
#include "lib/interpreter/Tile.h"

#include <gtest/gtest.h>

#include <thread>

namespace nereid::interpreter {
namespace {

TEST(Words, CopiesShareThem) {
  Words words(3);
  words[0] = 1;
  Words copy = words;
  copy[0] = 7;
  EXPECT_EQ(words[0], 7u);
  Words other(3);
  other[0] = 5;
  copy = other;
  EXPECT_EQ(words[0], 7u);
  EXPECT_EQ(copy[0], 5u);
  const Words moved = std::move(copy);
  EXPECT_EQ(moved.size(), 3u);
  EXPECT_EQ(moved.end() - moved.begin(), 3);
}

TEST(Words, OfAnySizeAreApart) {
  std::vector<Words> all;
  for (int round = 0; round < 3; ++round) {
    for (size_t count : {0, 1, 2, 3, 4, 5, 1000, 1024, 1025, 3000000}) {
      all.emplace_back(count);
      ASSERT_EQ(all.back().size(), count);
      std::fill(all.back().begin(), all.back().end(), all.size());
    }
    for (size_t i = 0; i < all.size(); ++i) {
      EXPECT_TRUE(std::all_of(all[i].begin(), all[i].end(), [&](uint64_t word) {
        return word == i + 1;
      })) << all[i].size();
    }
    all.clear(); // and again, with what is kept
  }
}

TEST(Words, AreKeptForThoseOfTheirSize) {
  const uint64_t *first = nullptr;
  {
    const Words words(100);
    first = words.begin();
  }
  const Words again(90), other(90);
  EXPECT_EQ(again.begin(), first);
  EXPECT_NE(other.begin(), first);
}

/// Threads interpret kernels side by side.
TEST(Words, OfThreadsAreTheirOwn) {
  std::vector<std::thread> threads;
  for (uint64_t number = 0; number < 4; ++number) {
    threads.emplace_back([number] {
      for (int i = 0; i < 1000; ++i) {
        Tile tile = Tile::filled({}, {16, 4}, number);
        const Tile copy = tile, other = tile.like(boolType);
        ASSERT_EQ(copy[63], number);
        ASSERT_EQ(other[0], 0u);
      }
    });
  }
  for (std::thread &each : threads) {
    each.join();
  }
}

} // namespace
} // namespace nereid::interpreter
