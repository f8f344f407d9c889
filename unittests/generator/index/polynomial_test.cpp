// SPDX-License-Identifier: Apache-2.0
// Laws of polynomials, and what is proved of symbols: both against numbers put in for the symbols.
#include "lib/generator/index/Symbols.h"

#include <gtest/gtest.h>

#include <random>

namespace nereid::generator {
namespace {

const Polynomial a = Polynomial::symbol(0), b = Polynomial::symbol(1), c = Polynomial::symbol(2);

/// At each of these a polynomial is a number: what holds for polynomials holds for those.
const std::vector<std::vector<int64_t>> points = {{1, 1, 1},  {2, 3, 5},   {7, 1, 4},  {0, 2, 9},
                                                  {-3, 4, 1}, {11, -2, 6}, {64, 8, 3}, {5, 5, 5}};

Polynomial random(std::mt19937 &seed) {
  Polynomial result;
  for (int term = 0; term < 3; ++term) {
    Polynomial product(static_cast<int64_t>(seed() % 9) - 4);
    for (const Polynomial &symbol : {a, b, c}) {
      product = seed() % 3 == 0 ? product * symbol : product;
    }
    result = result + product;
  }
  return result;
}

TEST(Polynomials, SumsAndProductsAreThoseOfTheirValues) {
  std::mt19937 seed(1);
  for (int i = 0; i < 300; ++i) {
    Polynomial p = random(seed), q = random(seed);
    for (const std::vector<int64_t> &at : points) {
      int64_t x = *p.evaluate(at), y = *q.evaluate(at);
      EXPECT_EQ((p + q).evaluate(at), x + y);
      EXPECT_EQ((p - q).evaluate(at), x - y);
      EXPECT_EQ((p * q).evaluate(at), x * y);
    }
  }
}

TEST(Polynomials, DivisionUndoesMultiplication) {
  std::mt19937 seed(2);
  int proper = 0;
  for (int i = 0; i < 300; ++i) {
    Polynomial p = random(seed), q = random(seed);
    if (q.isZero()) {
      continue;
    }
    EXPECT_EQ((p * q).dividedBy(q), p);
    auto [whole, rest] = p.splitBy(q);
    EXPECT_EQ(whole * q + rest, p);
    EXPECT_EQ(p.dividedBy(q).has_value(), rest.isZero());
    proper += !rest.isZero();
  }
  EXPECT_GT(proper, 100);
}

TEST(Polynomials, ASumDividesItsProducts) {
  EXPECT_EQ((a * b + b * 2).dividedBy(a + 2), b);
  EXPECT_EQ((a * a - b * b).dividedBy(a - b), a + b);
  EXPECT_FALSE((a * b + 1).dividedBy(a + 2));
  EXPECT_FALSE(a.dividedBy(0));
}

TEST(Polynomials, ContentDividesEveryTerm) {
  EXPECT_EQ((a * b * 6 + b * 4).content(), b * 2);
  EXPECT_EQ(commonTerm(a * b * 6, b * c * 4), b * 2);
  EXPECT_EQ(commonTerm(a * 6, 4), 2);
  EXPECT_EQ((a + 1).content(), 1);
}

TEST(Polynomials, OverflowIsKeptAndProvesNothing) {
  Polynomial large = Polynomial(INT64_MAX) * 2;
  EXPECT_TRUE(large.hasOverflowed());
  EXPECT_TRUE((large - large).hasOverflowed());
  EXPECT_TRUE((Polynomial(INT64_MAX) + 1).hasOverflowed());
  EXPECT_TRUE((a * INT64_MIN - a).hasOverflowed());
  EXPECT_FALSE(large.constant());
  EXPECT_FALSE(large.evaluate(points[0]));
  EXPECT_FALSE((large - large).isZero());
  EXPECT_FALSE(Symbols().isNonNegative(large));
  EXPECT_FALSE((a * INT64_MAX).evaluate(points[1]));
  EXPECT_FALSE(Polynomial(INT64_MIN).dividedBy(-1));
}

// ---- proofs ----

class Proofs : public testing::Test {
protected:
  Symbols symbols;
  Polynomial n = symbols.add({"N"}), m = symbols.add({"M"});
  Polynomial k = symbols.add({"K", 0, 64}), w = symbols.add({"W", 8, std::nullopt, 8});
};

TEST_F(Proofs, EndsOfRangesDecide) {
  EXPECT_TRUE(symbols.isNonNegative(n * m - 1));
  EXPECT_TRUE(symbols.isNonNegative(n * m - n));
  EXPECT_TRUE(symbols.isNonNegative(n * m - n - m + 1)); // (n - 1)·(m - 1)
  EXPECT_TRUE(symbols.isNonNegative(Polynomial(64) - k));
  EXPECT_TRUE(symbols.isNonNegative(n * 64 - n * k));
  EXPECT_TRUE(symbols.isNonNegative(w - 8));
  // Near misses.
  EXPECT_FALSE(symbols.isNonNegative(n * m - 2));
  EXPECT_FALSE(symbols.isNonNegative(n - m));
  EXPECT_FALSE(symbols.isNonNegative(Polynomial(63) - k));
  EXPECT_FALSE(symbols.isPositive(k));
  EXPECT_FALSE(symbols.isNonNegative(w - 9));
}

TEST_F(Proofs, FactsRelateSymbols) {
  EXPECT_FALSE(symbols.isAtMost(m, n));
  symbols.assume(n - m);
  EXPECT_TRUE(symbols.isAtMost(m, n));
  EXPECT_TRUE(symbols.isAtMost(m * k, n * k));
  EXPECT_TRUE(symbols.isAtMost(m * 3, n * 3 + 1));
  EXPECT_FALSE(symbols.isAtMost(m * 3, n * 2));
  EXPECT_FALSE(symbols.isAtMost(n, m));
}

TEST_F(Proofs, AMultipleIsDivisible) {
  EXPECT_EQ(symbols.text(w), "W");
  EXPECT_EQ(symbols.text(*w.dividedBy(2)), "W/2");
  EXPECT_EQ(symbols.text(*(w * n * 3).dividedBy(4) - 1), "3*N*W/4 - 1");
  EXPECT_FALSE(w.dividedBy(16));
  EXPECT_FALSE(n.dividedBy(2));
  EXPECT_EQ(symbols.find("W"), w);
}

TEST_F(Proofs, QuotientsAreRoundedDown) {
  EXPECT_EQ(symbols.floorDivide(n * m - 1, m), n - 1);
  EXPECT_EQ(symbols.floorDivide(n * m, m), n);
  EXPECT_EQ(symbols.floorDivide(w + 7, 8), w.dividedBy(8));
  EXPECT_EQ(symbols.floorDivide(-7, 4), -2);
  EXPECT_EQ(symbols.floorDivide(n + 1, 2), std::nullopt);
}

TEST_F(Proofs, AQuotientThatIsNoPolynomialIsASymbol) {
  Polynomial half = symbols.addQuotient(n + 1, 2);
  EXPECT_EQ(symbols.addQuotient(n + 1, 2), half);
  EXPECT_TRUE(symbols.isAtMost(half * 2, n + 1));
  EXPECT_TRUE(symbols.isAtMost(n, half * 2));
  EXPECT_FALSE(symbols.isAtMost(n + 1, half * 2));
  for (int64_t size : {1, 2, 7}) {
    auto values = symbols.bind({size, 1, 0, 8});
    ASSERT_TRUE(values);
    EXPECT_EQ(half.evaluate(*values), (size + 1) / 2);
  }
}

TEST_F(Proofs, BindingRefusesWhatBreaksARangeAMultipleOrAFact) {
  EXPECT_TRUE(symbols.bind({1, 1, 0, 8}));
  EXPECT_FALSE(symbols.bind({0, 1, 0, 8}));
  EXPECT_FALSE(symbols.bind({1, 1, 65, 8}));
  EXPECT_FALSE(symbols.bind({1, 1, 0, 12}));
  EXPECT_FALSE(symbols.bind({1, 1, 0}));
  EXPECT_FALSE(symbols.bind({1, 1, 0, 8, 1}));
  symbols.assume(n - m);
  EXPECT_FALSE(symbols.bind({1, 2, 0, 8}));
}

/// No proof is wrong: random claims that are proved hold at random values.
TEST_F(Proofs, WhatIsProvedHolds) {
  symbols.assume(n - m);
  std::mt19937 seed(3);
  int proved = 0;
  for (int i = 0; i < 4000; ++i) {
    Polynomial claim(static_cast<int64_t>(seed() % 9) - 2);
    for (int term = 0; term < 3; ++term) {
      Polynomial product(static_cast<int64_t>(seed() % 7) - 3);
      for (const Polynomial &symbol : {n, m, k, w}) {
        product = seed() % 3 == 0 ? product * symbol : product;
      }
      claim = claim + product;
    }
    bool isProved = symbols.isNonNegative(claim);
    proved += isProved;
    for (int trial = 0; isProved && trial < 20; ++trial) {
      auto draw = [&](unsigned count) { return static_cast<int64_t>(seed() % count); };
      const int64_t small = 1 + draw(5);
      auto values = symbols.bind({small + draw(4), small, draw(65), 8 + 8 * draw(4)});
      ASSERT_GE(*claim.evaluate(*values), 0) << symbols.text(claim);
    }
  }
  EXPECT_GT(proved, 500);
}

} // namespace
} // namespace nereid::generator
