// SPDX-License-Identifier: Apache-2.0
// Rows of broadcast operands against the offset of each element, taken apart dimension by
// dimension.
#include "lib/eager/reference/indices/RowRuns.h"

#include "lib/definition/operations/Shape.h"

#include <gtest/gtest.h>

namespace nereid::eager {
namespace {

using Sizes = std::vector<int64_t>;

/// Length of the rows, after all their elements have been compared.
int64_t lengthOf(const Sizes &sizes, const std::vector<Sizes> &operands) {
  std::vector<Sizes> steps;
  for (const Sizes &operand : operands) {
    steps.push_back(definition::broadcastSteps(operand, sizes));
  }
  const RowRuns rows(sizes, steps);
  const int64_t count = definition::elementCountOf(sizes).value();
  for (int64_t i = 0; i < count; ++i) {
    for (size_t k = 0; k < operands.size(); ++k) {
      int64_t rest = i, expected = 0;
      for (size_t d = sizes.size(); d-- > 0; rest /= sizes[d]) {
        expected += rest % sizes[d] * steps[k][d];
      }
      EXPECT_EQ(rows.offset(i / rows.length, k) + i % rows.length * rows.inner[k], expected)
          << "element " << i << " of operand " << k;
    }
  }
  return rows.length;
}

TEST(RowRuns, OperandsOfOneShapeAndNumbersAreOneRow) {
  EXPECT_EQ(lengthOf({3, 4, 5}, {{3, 4, 5}, {}, {1}, {1, 1, 1}}), 60);
  EXPECT_EQ(lengthOf({}, {{}, {}}), 1);
  EXPECT_EQ(lengthOf({1, 1}, {{1, 1}, {1}}), 1);
}

TEST(RowRuns, ARowEndsWhereAnOperandStepsOtherwise) {
  EXPECT_EQ(lengthOf({3, 4, 5}, {{3, 4, 5}, {5}}), 5);
  EXPECT_EQ(lengthOf({3, 4, 5}, {{3, 4, 5}, {4, 5}}), 20);
  EXPECT_EQ(lengthOf({3, 4, 5}, {{3, 4, 5}, {3, 4, 1}}), 5);
  EXPECT_EQ(lengthOf({3, 4, 5}, {{3, 1, 1}, {}}), 20);
  EXPECT_EQ(lengthOf({3, 4, 5}, {{3, 1, 5}, {3, 4, 5}}), 5);
}

TEST(RowRuns, DimensionsOfOneElementEndNoRow) {
  EXPECT_EQ(lengthOf({3, 1, 5, 1}, {{3, 1, 5, 1}, {1}}), 15);
  EXPECT_EQ(lengthOf({3, 5, 1}, {{3, 5, 1}, {5, 1}}), 5);
}

TEST(RowRuns, NothingIsNoRow) { EXPECT_EQ(lengthOf({0, 5}, {{0, 5}, {5}}), 5); }

} // namespace
} // namespace nereid::eager
