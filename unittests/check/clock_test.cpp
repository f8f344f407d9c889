// SPDX-License-Identifier: Apache-2.0
// Laws of vector clocks, against a plain table of all entries.
#include "lib/check/Clock.h"

#include <gtest/gtest.h>

#include <map>
#include <random>

namespace nereid::check {
namespace {

TEST(Clock, IsEmptyAtFirstAndCopiesAreSeparate) {
  Clock a;
  EXPECT_EQ(a.of(0), 0u);
  EXPECT_EQ(a.of(4294967295u), 0u);
  a.set(7, 3);
  Clock b = a;
  b.set(7, 5);
  b.set(4294967295u, 1);
  EXPECT_EQ(a.of(7), 3u);
  EXPECT_EQ(a.of(4294967295u), 0u);
  EXPECT_EQ(b.of(7), 5u);
  EXPECT_EQ(b.of(4294967295u), 1u);
}

TEST(Clock, JoinTakesTheLargerTimeOfEveryProgram) {
  std::mt19937 random(1);
  for (int round = 0; round < 200; ++round) {
    std::map<uint32_t, uint32_t> tables[2];
    Clock clocks[2];
    for (int side = 0; side < 2; ++side) {
      for (int i = 0; i < 20; ++i) {
        // Few programs, some far apart, so that both sides often know the same one.
        const uint32_t program = (random() % 10) << (random() % 3 * 12);
        const uint32_t time = random() % 100;
        clocks[side].set(program, time);
        tables[side][program] = time;
      }
    }
    Clock both = clocks[0];
    both.join(clocks[1]);
    Clock other = clocks[1];
    other.join(clocks[0]);
    for (uint32_t shift : {0u, 12u, 24u}) {
      for (uint32_t i = 0; i < 12; ++i) {
        const uint32_t program = i << shift;
        const uint32_t expected = std::max(tables[0][program], tables[1][program]);
        EXPECT_EQ(both.of(program), expected);
        EXPECT_EQ(other.of(program), expected);
      }
    }
  }
}

TEST(Clock, ManyProgramsInAChainAreCheap) {
  Clock counter;
  for (uint32_t program = 0; program < 200'000; ++program) {
    Clock own;
    own.set(program, 1);
    own.join(counter);
    counter = own;
  }
  EXPECT_EQ(counter.of(0), 1u);
  EXPECT_EQ(counter.of(199'999), 1u);
}

} // namespace
} // namespace nereid::check
