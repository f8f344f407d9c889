// SPDX-License-Identifier: Apache-2.0
// Laws of banks: turns are those of a memory that serves one word of each bank at a time, simulated
// word by word, and those that linear algebra over bits says.
#include "lib/layout/Banks.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <deque>
#include <random>
#include <set>

using namespace nereid::layout;

namespace {

/// Lets all banks serve a word in each turn; whoever wants that word is served with it.
int64_t simulated(const std::vector<int64_t> &places, int64_t bytes) {
  std::deque<int64_t> wanted;
  for (int64_t place : places) {
    for (int64_t word = place / 4; word <= (place + bytes - 1) / 4; ++word) {
      wanted.push_back(word);
    }
  }
  int64_t turns = 0;
  while (!wanted.empty()) {
    std::set<int64_t> served;
    for (int64_t word : wanted) {
      const bool isBusy = std::any_of(served.begin(), served.end(), [&](int64_t other) {
        return other != word && (other - word) % 32 == 0;
      });
      if (!isBusy) {
        served.insert(word);
      }
    }
    std::erase_if(wanted, [&](int64_t word) { return served.contains(word); });
    ++turns;
  }
  return turns;
}

unsigned rankOf(std::vector<int64_t> vectors) {
  unsigned rank = 0;
  while (!vectors.empty()) {
    const int64_t pivot = vectors.back();
    vectors.pop_back();
    if (pivot == 0) {
      continue;
    }
    ++rank;
    const int64_t low = pivot & -pivot;
    for (int64_t &other : vectors) {
      other ^= (other & low) != 0 ? pivot : 0;
    }
  }
  return rank;
}

std::vector<int64_t> lanesOf(const LinearLayout &places, int64_t first, int64_t count, int64_t reg,
                             int64_t warp) {
  std::vector<int64_t> result;
  for (int64_t lane = first; lane < first + count; ++lane) {
    result.push_back(places.elementAt(reg, lane, warp));
  }
  return result;
}

/// Places of lanes, registers and warps that are multiples of `bytes`, by chance.
LinearLayout randomPlaces(std::mt19937 &random, int64_t bytes) {
  auto some = [&](size_t count) {
    LinearLayout::Bases bases(count);
    for (int64_t &basis : bases) {
      // Single bits now and then, as most layouts have them, and some without a difference.
      const auto kind = random() % 4;
      basis = kind == 0 ? 0 : kind == 1 ? int64_t(random() % 4096) : int64_t{1} << random() % 12;
      basis = basis / bytes * bytes;
    }
    return bases;
  };
  return {{}, some(3), some(5), some(2)};
}

} // namespace

TEST(Banks, TheThreeExamples) {
  const auto every = [](int64_t step, int64_t count) {
    std::vector<int64_t> places;
    for (int64_t lane = 0; lane < count; ++lane) {
      places.push_back(lane * step);
    }
    return places;
  };
  EXPECT_EQ(bankTurns(every(4, 32), 4), 1);
  EXPECT_EQ(bankTurns(every(8, 32), 4), 2);
  EXPECT_EQ(bankTurns(every(128, 8), 16), 8);
  EXPECT_EQ(bankTurns(every(128, 32), 4), 32);
  EXPECT_EQ(bankTurns(every(132, 32), 4), 1); // one word of padding for each row
  EXPECT_EQ(bankTurns(every(0, 32), 4), 1);   // one word, which all lanes get
  EXPECT_EQ(bankTurns(every(2, 32), 2), 1);   // two lanes for each word
}

TEST(Banks, ATransactionHasAllBanks) {
  EXPECT_EQ(lanesOfTransaction(1), 32);
  EXPECT_EQ(lanesOfTransaction(4), 32);
  EXPECT_EQ(lanesOfTransaction(8), 16);
  EXPECT_EQ(lanesOfTransaction(16), 8);
}

TEST(Banks, TurnsAreThoseOfAMemoryThatServesAWordOfEachBank) {
  std::mt19937 random(1);
  for (int round = 0; round < 400; ++round) {
    for (int64_t bytes : {1, 2, 4, 8, 16}) {
      std::vector<int64_t> places;
      for (int64_t lane = 0; lane < lanesOfTransaction(bytes); ++lane) {
        places.push_back(int64_t(random() % (round % 2 ? 512 : 8192)) / bytes * bytes);
      }
      ASSERT_EQ(bankTurns(places, bytes), simulated(places, bytes)) << bytes;
    }
  }
}

TEST(Banks, EveryTransactionOfALinearAccessTakesTheSameTurns) {
  std::mt19937 random(2);
  for (int round = 0; round < 200; ++round) {
    for (int64_t bytes : {2, 4, 8, 16}) {
      const LinearLayout places = randomPlaces(random, bytes);
      const int64_t turns = bankTurns(places, bytes), lanes = lanesOfTransaction(bytes);
      for (int64_t reg = 0; reg < 8; ++reg) {
        for (int64_t warp = 0; warp < 4; ++warp) {
          for (int64_t first = 0; first < 32; first += lanes) {
            ASSERT_EQ(simulated(lanesOf(places, first, lanes, reg, warp), bytes), turns)
                << places.text();
          }
        }
      }
    }
  }
}

TEST(Banks, TurnsAreTheRankThatBanksLose) {
  // Words of a transaction are a space over bits, and banks its image under the low five bits.
  std::mt19937 random(3);
  for (int round = 0; round < 400; ++round) {
    for (int64_t bytes : {4, 8, 16}) {
      const LinearLayout places = randomPlaces(random, bytes);
      std::vector<int64_t> words, banks;
      for (int64_t lane = 1; lane < lanesOfTransaction(bytes); lane *= 2) {
        words.push_back(places.contribution(Holder::Lane, lane) / 4);
      }
      for (int64_t word = 1; word < bytes / 4; word *= 2) {
        words.push_back(word);
      }
      for (int64_t word : words) {
        banks.push_back(word % 32);
      }
      ASSERT_EQ(bankTurns(places, bytes), int64_t{1} << (rankOf(words) - rankOf(banks)))
          << places.text() << ", " << bytes;
    }
  }
}

TEST(Places, RowsLieBehindEachOther) {
  const Places places = rowMajorPlaces({8, 16}, 2);
  for (int64_t element = 0; element < 128; ++element) {
    EXPECT_EQ(placeOf(element, places), 2 * element);
  }
}

TEST(Places, OfALayoutAreThoseOfItsElements) {
  const LinearLayout layout = blockedLayout({16, 64}, rowMajorOrder(2), 4, 32, 4);
  Places places = rowMajorPlaces({16, 64}, 2);
  places[6] ^= 16; // a swizzle
  places[7] ^= 32;
  const LinearLayout bytes = placesOf(layout, places);
  for (int64_t reg = 0; reg < layout.count(Holder::Register); ++reg) {
    for (int64_t lane = 0; lane < 32; ++lane) {
      const int64_t element = layout.elementAt(reg, lane, 3);
      const int64_t turn = element / 64 % 4;
      EXPECT_EQ(bytes.elementAt(reg, lane, 3), (element * 2) ^ (turn * 16));
      EXPECT_EQ(placeOf(element, places), (element * 2) ^ (turn * 16));
    }
  }
}

TEST(Places, NeighboursLieBehindEachOther) {
  EXPECT_EQ(neighboursIn(LinearLayout({}, {2, 4, 8, 256}, {16}, {}), 2), 8);
  EXPECT_EQ(neighboursIn(LinearLayout({}, {4, 2}, {16}, {}), 2), 1);
  EXPECT_EQ(neighboursIn(LinearLayout({}, {2, 6}, {16}, {}), 2), 2);
  EXPECT_EQ(neighboursIn(LinearLayout({}, {}, {2}, {}), 2), 1);
}
