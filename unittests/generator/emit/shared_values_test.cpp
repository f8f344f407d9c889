// SPDX-License-Identifier: Apache-2.0
// Under which conditions a value is computed that several need: those of all its uses, and where no
// use stands under these alone, nothing is promised of its index.
#include "lib/generator/emit/SharedValues.h"

#include <gtest/gtest.h>

namespace nereid::generator {
namespace {

class SharedValuesTest : public testing::Test {
protected:
  SharedValuesTest() {
    const Affine i = Affine::iterator(program.space.iterators.add(n, "i"));
    const Node *index = program.nodes.load(0, DType::I64, {i});
    value = program.nodes.load(1, DType::F32, {Affine::data(index, n)});
    plain = program.nodes.load(2, DType::F32, {i});
    zero = program.nodes.real(0, DType::F32);
    c = condition(3);
    d = condition(4);
  }
  const Node *condition(BufferId buffer) {
    const Affine i = Affine::iterator(*plain->free.begin());
    return program.nodes.map("gt", DType::Bool,
                             {program.nodes.load(buffer, DType::F32, {i}), zero});
  }
  const Node *where(const Node *holds, const Node *a, const Node *b) {
    return program.nodes.map("where", DType::F32, {holds, a, b});
  }
  const Node *twice(const Node *of) { return program.nodes.map("add", DType::F32, {of, of}); }

  Program program;
  Polynomial n = program.space.symbols.add({"N"});
  const Node *value = nullptr, *plain = nullptr, *zero = nullptr, *c = nullptr, *d = nullptr;
};

TEST_F(SharedValuesTest, OneUseKeepsItsConditions) {
  const SharedValues shared({where(c, value, zero)});
  EXPECT_EQ(shared.kept(value, {{c, true}}), (Conditions{{c, true}}));
  EXPECT_FALSE(shared.isOpen(value));
}

TEST_F(SharedValuesTest, UsesUnderOppositeConditionsPromiseNothingTogether) {
  const SharedValues shared({where(c, value, twice(value))});
  EXPECT_EQ(shared.kept(value, {{c, true}}), Conditions());
  EXPECT_EQ(shared.kept(value, {{c, false}}), Conditions());
  EXPECT_TRUE(shared.isOpen(value));
  EXPECT_FALSE(shared.isOpen(plain)) << "its index is no promise";
}

TEST_F(SharedValuesTest, AUseWithoutConditionPromisesForAll) {
  const Node *sum =
      program.nodes.map("add", DType::F32, {where(c, value, twice(value)), twice(value)});
  const SharedValues shared({sum});
  EXPECT_EQ(shared.kept(value, {{c, true}}), Conditions());
  EXPECT_FALSE(shared.isOpen(value));
}

TEST_F(SharedValuesTest, WhatAllUsesHaveStays) {
  const SharedValues shared({where(d, where(c, value, twice(value)), zero)});
  EXPECT_EQ(shared.kept(value, {{d, true}, {c, false}}), (Conditions{{d, true}}));
  EXPECT_TRUE(shared.isOpen(value)) << "no use stands under d alone";
}

TEST_F(SharedValuesTest, WhatAnOpenValueNeedsIsOpen) {
  const Node *outer = program.nodes.map("neg", DType::F32, {value});
  const SharedValues shared({where(c, twice(outer), outer)});
  EXPECT_TRUE(shared.isOpen(outer));
  EXPECT_TRUE(shared.isOpen(value));
}

TEST_F(SharedValuesTest, ConditionsAroundTheRootsStay) {
  const SharedValues shared({where(c, value, twice(value))});
  EXPECT_EQ(shared.kept(value, {{d, true}, {c, true}}), (Conditions{{d, true}}));
}

} // namespace
} // namespace nereid::generator
