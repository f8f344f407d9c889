// SPDX-License-Identifier: Apache-2.0
// Rows stay within a warp as long as there is one for each; neighbours of a row are neighbouring
// lanes.
#include "lib/layout/RowLayout.h"

#include <gtest/gtest.h>

namespace nereid::layout {
namespace {

TEST(RowLayout, KeepsARowInItsWarp) {
  const LinearLayout layout = rowLayout({8, 128}, 32, 4);
  EXPECT_TRUE(layout.isPermutation());
  EXPECT_EQ(layout.bases(Holder::Lane), (LinearLayout::Bases{1, 2, 4, 8, 16}));
  EXPECT_EQ(layout.bases(Holder::Warp), (LinearLayout::Bases{128, 256}));
  EXPECT_EQ(layout.bases(Holder::Register), (LinearLayout::Bases{32, 64, 512}));
}

TEST(RowLayout, DividesRowsThatAreFewerThanWarps) {
  const LinearLayout layout = rowLayout({2, 128}, 32, 4);
  EXPECT_TRUE(layout.isPermutation());
  EXPECT_EQ(layout.bases(Holder::Warp), (LinearLayout::Bases{128, 32}));
  EXPECT_EQ(layout.bases(Holder::Register), (LinearLayout::Bases{64}));
}

TEST(RowLayout, OfFewElementsHasReplicas) {
  const LinearLayout layout = rowLayout({2, 32}, 32, 4);
  EXPECT_EQ(layout.bases(Holder::Lane), (LinearLayout::Bases{1, 2, 4, 8, 16}));
  EXPECT_EQ(layout.bases(Holder::Warp), (LinearLayout::Bases{32, 0}));
  EXPECT_TRUE(layout.bases(Holder::Register).empty());
}

} // namespace
} // namespace nereid::layout
