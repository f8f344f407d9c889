// SPDX-License-Identifier: Apache-2.0
// Sizes of a failing case made small, and the names of such cases.
#include "lib/develop/accuracy/SmallCase.h"

#include <gtest/gtest.h>

using namespace nereid;
using namespace nereid::develop;
using definition::Binding;

TEST(SmallCase, EverySizeGoesToWhereItNoLongerFails) {
  const Binding found = smallestFailing({{{"D", 4096}, {"N", 100}}, {7, 9}}, [](const Binding &b) {
    return b.symbols.at("D") > 32 && b.symbols.at("N") * b.rest[1] >= 3;
  });
  EXPECT_EQ(found.symbols.at("D"), 33);
  EXPECT_EQ(found.symbols.at("N") * found.rest[1], 3);
  EXPECT_EQ(found.rest[0], 1);
}

TEST(SmallCase, OneThatFailsNowhereElseStays) {
  const Binding sizes{{{"D", 12}}, {}};
  EXPECT_EQ(smallestFailing(sizes, [](const Binding &) { return false; }).symbols, sizes.symbols);
}

TEST(SmallCase, TriesAreCounted) {
  int asked = 0;
  (void)smallestFailing(
      {{{"A", 1 << 30}, {"B", 1 << 30}}, {}},
      [&](const Binding &b) { return ++asked, b.symbols.at("A") > 1 << 29; }, 20);
  EXPECT_EQ(asked, 20);
}

TEST(SmallCase, ANameIsReadAsItIsWritten) {
  const Binding sizes{{{"D", 33}, {"N", 1}}, {2, 1}};
  const std::string name = smallName("odd 5x129, tiny values", sizes);
  EXPECT_EQ(name, "odd 5x129, tiny values, made small to D=33,N=1,...=2x1");
  const auto read = readSmallName(name);
  ASSERT_TRUE(read);
  EXPECT_EQ(read->name, "odd 5x129, tiny values");
  EXPECT_EQ(read->sizes.symbols, sizes.symbols);
  EXPECT_EQ(read->sizes.rest, sizes.rest);
  EXPECT_FALSE(readSmallName("odd 5x129"));
  EXPECT_FALSE(readSmallName("odd, made small to D=x"));
  EXPECT_FALSE(readSmallName("odd, made small to D"));
}
