// SPDX-License-Identifier: Apache-2.0
// Rules X1 to X4 of index expressions, for numbers and for symbols: by hand, and against arithmetic
// at every point.
#include "lib/generator/program/Program.h"

#include <gtest/gtest.h>

#include <random>

namespace nereid::generator {
namespace {

class Expressions : public testing::Test {
protected:
  Affine iterator(const Polynomial &extent, const std::string &name) {
    return Affine::iterator(program.space.iterators.add(extent, name));
  }
  std::string text(const Affine &value) const { return print(value, program); }
  std::string quotient(const Affine &value, const Polynomial &by) const {
    return text(floorDivide(value, by, program.space));
  }
  std::string rest(const Affine &value, const Polynomial &by) const {
    return text(remainder(value, by, program.space));
  }

  Program program;
  Symbols &symbols = program.space.symbols;
  Polynomial n = symbols.add({"N"}), m = symbols.add({"M"}), p = symbols.add({"P", 0});
};

TEST_F(Expressions, WhatTheDivisorDividesLeaves) { // X1
  Affine i = iterator(5, "i"), j = iterator(4, "j");
  EXPECT_EQ(quotient(i * 4 + j, 4), "i");
  EXPECT_EQ(rest(i * 4 + j, 4), "j");
  EXPECT_EQ(quotient(i * 4 + j + 9, 4), "i + ((j + 1) // 4) + 2");
  EXPECT_EQ(quotient(i, 7), "0");
  EXPECT_EQ(quotient(i, 1), "i");
  EXPECT_EQ(rest(i, 1), "0");
}

TEST_F(Expressions, ACommonFactorLeaves) { // X1
  Affine i = iterator(5, "i"), j = iterator(4, "j");
  EXPECT_EQ(quotient(i * 4 + j, 12), "((i) // 3)");
  EXPECT_EQ(rest(i * 4 + j, 12), "j + 4*((i) % 3)");
  Affine wide = iterator(5, "wide"); // does not fit below the factor
  EXPECT_EQ(quotient(i * 4 + wide, 12), "((4*i + wide) // 12)");
}

TEST_F(Expressions, QuotientAndRemainderMakeTheWhole) { // X2
  Affine i = iterator(50, "i"), j = iterator(9, "j");
  for (const Affine &e : {i, i + j, i * 3 + j}) {
    for (int64_t by : {4, 7, 12}) {
      Affine whole = floorDivide(e, by, program.space) * by + remainder(e, by, program.space);
      EXPECT_EQ(whole, e);
      // And again when the quotient is divided further, as reshapes of several dimensions do.
      Affine outer = floorDivide(e, by, program.space);
      Affine parts = floorDivide(outer, 3, program.space) * (3 * by) +
                     remainder(outer, 3, program.space) * by + remainder(e, by, program.space);
      EXPECT_EQ(parts, e) << text(parts);
    }
  }
}

TEST_F(Expressions, NoNegativeNumberIsDivided) { // X3
  Affine i = iterator(5, "i");
  EXPECT_EQ(quotient(i - 2, 4), "((i + 2) // 4) - 1");
  EXPECT_EQ(rest(i - 2, 4), "((i + 2) % 4)");
  EXPECT_EQ(quotient(i * -1, 4), "((-i + 4) // 4) - 1");
  EXPECT_EQ(quotient(i - p * 2, n), "((i + 2*N*P - 2*P) // N) - 2*P");
}

TEST_F(Expressions, SymbolsDivideAsNumbersDo) { // X4
  Affine i = iterator(n, "i"), j = iterator(m, "j"), k = iterator(n * m, "k");
  EXPECT_EQ(quotient(i * m + j, m), "i");
  EXPECT_EQ(rest(i * m + j, m), "j");
  EXPECT_EQ(quotient(i * m + j, n * m), "0");
  EXPECT_EQ(quotient(k, n * m), "0");
  EXPECT_EQ(quotient(k, m), "((k) // M)");
  EXPECT_EQ(quotient(i * (m + 2) + j, m + 2), "i");
  Affine group = iterator(p + 1, "g");
  EXPECT_EQ(quotient(group * (n * m) + i * m + j, m), "i + N*g");
  EXPECT_EQ(quotient(group * (n * m) + i * m + j, n * m), "g");
  EXPECT_EQ(rest(group * (n * m) + i * m + j, n * m), "M*i + j");
  // A near miss: nothing says that M is at most N.
  EXPECT_EQ(quotient(i * n + j, n), "i + ((j) // N)");
}

TEST_F(Expressions, AFactMayDecide) { // X4
  symbols.assume(n - m);
  Affine i = iterator(n, "i"), j = iterator(m, "j");
  EXPECT_EQ(quotient(i * n + j, n), "i");
}

TEST_F(Expressions, AMultipleMakesTheQuotientOfItsSymbolASize) { // X4
  Polynomial w = symbols.add({"W", 8, std::nullopt, 8});
  Affine i = iterator(n, "i"), j = iterator(w, "j");
  EXPECT_EQ(quotient(i * w + j, 8), "W/8*i + ((j) // 8)");
  EXPECT_EQ(quotient(i * w, 16), "((W/8*i) // 2)");
  Bounds bounds = boundsOf(floorDivide(j, 8, program.space), program.space);
  EXPECT_EQ(symbols.text(*bounds.high), "W/8 - 1");
}

TEST_F(Expressions, BoundsBelongToTheValues) {
  Affine i = iterator(n, "i"), j = iterator(4, "j");
  Bounds bounds = boundsOf(i * 2 - j + p, program.space);
  EXPECT_EQ(symbols.text(*bounds.low), "P - 3");
  EXPECT_EQ(symbols.text(*bounds.high), "2*N + P - 2");
  EXPECT_FALSE(boundsOf(i * (n - m), program.space).low) << "the coefficient's sign is unknown";
  EXPECT_TRUE(isInside(i * 4 + j, n * 4, program.space));
  EXPECT_FALSE(isInside(i * 4 + j, n * 4 - 1, program.space));
  EXPECT_FALSE(isInside(i * 4 + j - 1, n * 4, program.space));
}

// ---- against arithmetic ----

/// Value of an expression, with Python's division.
int64_t valueOf(const Affine &e, const std::vector<int64_t> &point,
                const std::vector<int64_t> &sizes) {
  int64_t result = *e.constant().evaluate(sizes);
  for (const auto &[atom, coefficient] : e.terms()) {
    int64_t value = 0;
    if (atom.kind == Atom::Kind::Iterator) {
      value = point[atom.iterator];
    } else {
      int64_t argument = valueOf(*atom.argument, point, sizes), by = *atom.size.evaluate(sizes);
      EXPECT_GE(argument, 0) << "X3";
      value = atom.kind == Atom::Kind::Quotient ? argument / by : argument % by;
    }
    result += *coefficient.evaluate(sizes) * value;
  }
  return result;
}

int64_t floorOf(int64_t a, int64_t b) { return (a - ((a % b) + b) % b) / b; }

/// A random expression and the same one as a function: the rules must not change its values.
struct Pair {
  Affine expression;
  std::function<int64_t(const std::vector<int64_t> &point)> value;
};

class RandomExpressions : public testing::TestWithParam<bool> {};
INSTANTIATE_TEST_SUITE_P(Sizes, RandomExpressions, testing::Bool(),
                         [](const auto &info) { return info.param ? "Symbols" : "Numbers"; });

TEST_P(RandomExpressions, KeepTheirValues) {
  std::mt19937 seed(GetParam() ? 5 : 4);
  int remaining = 0;
  for (int round = 0; round < 400; ++round) {
    IndexSpace space;
    std::vector<int64_t> numbers, sizes;
    std::vector<Polynomial> extents;
    for (int s = 0; s < 3; ++s) {
      int64_t value = 1 + seed() % 5;
      sizes.push_back(value);
      extents.push_back(GetParam() ? space.symbols.add({"S" + std::to_string(s)})
                                   : Polynomial(value));
    }
    auto pick = [&](const auto &list) { return list[seed() % list.size()]; };
    std::vector<Pair> pool;
    for (int i = 0; i < 3; ++i) {
      Polynomial extent = extents[static_cast<size_t>(i)];
      auto id = space.iterators.add(extent, "i");
      pool.push_back({Affine::iterator(id), [id](const auto &point) { return point[id]; }});
    }
    for (int step = 0; step < 5; ++step) {
      Pair x = pick(pool), y = pick(pool), made = x;
      Polynomial factor = seed() % 2 ? pick(extents) : Polynomial(1 + seed() % 4);
      int64_t number = *factor.evaluate(sizes);
      auto f = x.value, g = y.value;
      switch (seed() % 5) {
      case 0:
        made = {x.expression + y.expression,
                [f, g](const auto &point) { return f(point) + g(point); }};
        break;
      case 1:
        made = {x.expression * factor + y.expression,
                [f, g, number](const auto &point) { return number * f(point) + g(point); }};
        break;
      case 2:
        made = {x.expression - Affine(factor),
                [f, number](const auto &point) { return f(point) - number; }};
        break;
      case 3:
        made = {floorDivide(x.expression, factor, space),
                [f, number](const auto &point) { return floorOf(f(point), number); }};
        break;
      default:
        made = {remainder(x.expression, factor, space), [f, number](const auto &point) {
                  return f(point) - number * floorOf(f(point), number);
                }};
      }
      pool.push_back(made);
    }
    const Pair &last = pool.back();
    Bounds bounds = boundsOf(last.expression, space);
    last.expression.forEachAtom([&](const Atom &atom) { remaining += atom.isDivision(); });
    std::vector<int64_t> point(3);
    for (point[0] = 0; point[0] < sizes[0]; ++point[0]) {
      for (point[1] = 0; point[1] < sizes[1]; ++point[1]) {
        for (point[2] = 0; point[2] < sizes[2]; ++point[2]) {
          int64_t expected = last.value(point);
          ASSERT_EQ(valueOf(last.expression, point, sizes), expected) << "round " << round;
          ASSERT_TRUE(!bounds.low || *bounds.low->evaluate(sizes) <= expected);
          ASSERT_TRUE(!bounds.high || *bounds.high->evaluate(sizes) >= expected);
        }
      }
    }
  }
  EXPECT_GT(remaining, 20) << "divisions are hardly drawn";
}

} // namespace
} // namespace nereid::generator
