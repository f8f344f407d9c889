// SPDX-License-Identifier: Apache-2.0
// Differences of two texts as people read them.
#include "lib/develop/edits/LineDiff.h"

#include <gtest/gtest.h>

namespace nereid::develop {
namespace {

TEST(DiffText, HasTheLinesOfBothWithTheirPlace) {
  EXPECT_EQ(diffText("a\nb\nc\nd\n", "a\nB\nc\n\nd\n", 9),
            "@@ line 2 @@\n- b\n+ B\n@@ line 4 @@\n+\n");
  EXPECT_EQ(diffText("a\n", "a\n", 9), "");
}

TEST(DiffText, CountsWhatItLeavesOut) {
  EXPECT_EQ(diffText("a\nb\nc\nd\n", "c\ne\n", 2),
            "@@ line 1 @@\n- a\n- b\n@@ and 2 more lines @@\n");
}

} // namespace
} // namespace nereid::develop
