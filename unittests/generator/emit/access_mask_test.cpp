// SPDX-License-Identifier: Apache-2.0
// Which conditions an access needs: none that bounds make needless, none over other iterators.
#include "lib/generator/emit/AccessMask.h"

#include <gtest/gtest.h>

namespace nereid::generator {
namespace {

class AccessMaskTest : public testing::Test {
protected:
  AccessMaskTest() {
    i = program.space.iterators.add(n, "i");
    j = program.space.iterators.add(n, "j");
    x = {"x", DType::F32, BufferRole::Input, {n}, {1}, {}, {}};
  }
  const Node *compare(const std::string &name, const Affine &a, const Affine &b) {
    return program.nodes.map(name, DType::Bool, {program.nodes.index(a), program.nodes.index(b)});
  }
  Affine at(IteratorId iterator) const { return Affine::iterator(iterator); }
  AccessMask mask(const Affine &index, const Conditions &around) {
    std::set<IteratorId> iterators;
    index.collect(iterators);
    return maskOf({index}, x, iterators, around, program.space);
  }

  Program program;
  Polynomial n = program.space.symbols.add({"N"});
  IteratorId i = 0, j = 0;
  Buffer x;
};

TEST_F(AccessMaskTest, BoundsNeedNoCondition) {
  AccessMask made = mask(at(i), {{compare("lt", at(i), 5), true}});
  EXPECT_TRUE(made.conditions.empty());
  EXPECT_TRUE(made.nonNegative.empty());
}

TEST_F(AccessMaskTest, OnlyTheConditionThatProvesIt) {
  const Condition first{compare("ge", at(i), 2), true}, other{compare("lt", at(i), 5), true};
  AccessMask made = mask(at(i) - 2, {other, first});
  EXPECT_EQ(made.conditions, (Conditions{first}));
  EXPECT_TRUE(made.nonNegative.empty());
}

TEST_F(AccessMaskTest, AConditionThatDoesNotHoldProvesToo) {
  const Condition below{compare("lt", at(i), 2), false};
  EXPECT_EQ(mask(at(i) - 2, {below}).conditions, (Conditions{below}));
}

TEST_F(AccessMaskTest, WhatNothingProvesIsCompared) {
  AccessMask made = mask(at(i) * 2 - 3, {{compare("ge", at(i), 2), true}});
  EXPECT_EQ(made.conditions.size(), 1u) << "2·i - 3 ≥ 0";
  EXPECT_EQ(made.nonNegative, (std::vector<Affine>{Affine(n + 2) - at(i) * 2})) << "… < N";
}

TEST_F(AccessMaskTest, AConditionOverAnotherIteratorIsNoMask) {
  // i - j ≥ 0 and j ≥ 1 prove i - 1 ≥ 0, but the address varies with i alone.
  AccessMask made =
      mask(at(i) - 1, {{compare("ge", at(i) - at(j), 0), true}, {compare("ge", at(j), 1), true}});
  EXPECT_TRUE(made.conditions.empty());
  EXPECT_EQ(made.nonNegative, (std::vector<Affine>{at(i) - 1}));
}

TEST_F(AccessMaskTest, APromiseHoldsWhereTheAccessIsAskedFor) {
  const Node *read = program.nodes.load(0, DType::I64, {at(i)});
  const Affine index = Affine::data(read, n);
  AccessMask alone = mask(index, {});
  EXPECT_TRUE(alone.conditions.empty() && alone.nonNegative.empty());
  const Condition own{compare("lt", at(i), 3), true}, other{compare("lt", at(j), 3), true};
  AccessMask within = mask(index, {own});
  EXPECT_EQ(within.conditions, (Conditions{own}));
  EXPECT_TRUE(within.nonNegative.empty());
  AccessMask open = maskOf({index}, x, {i}, {own}, program.space, /*isOpen=*/true);
  EXPECT_EQ(open.conditions, (Conditions{own}));
  EXPECT_EQ(open.nonNegative.size(), 2u) << "lanes in which nobody asks for it";
  EXPECT_EQ(maskOf({index}, x, {i}, {}, program.space, true).nonNegative.size(), 2u);
  AccessMask apart = mask(index, {own, other});
  EXPECT_EQ(apart.conditions, (Conditions{own}));
  EXPECT_EQ(apart.nonNegative.size(), 2u) << "both ends, because a condition is missing";
}

TEST_F(AccessMaskTest, ConditionsFallApart) {
  const Node *a = compare("ge", at(i), 1), *b = compare("lt", at(j), 3);
  auto join = [&](const char *name) { return program.nodes.map(name, DType::Bool, {a, b}); };
  Conditions both, neither, either;
  addConditions(join("logical_and"), true, both);
  addConditions(a, true, both);
  EXPECT_EQ(both, (Conditions{{a, true}, {b, true}}));
  addConditions(join("logical_or"), false, neither);
  EXPECT_EQ(neither, (Conditions{{a, false}, {b, false}}));
  addConditions(program.nodes.map("logical_not", DType::Bool, {join("logical_or")}), false, either);
  EXPECT_EQ(either, (Conditions{{join("logical_or"), true}}));
}

} // namespace
} // namespace nereid::generator
