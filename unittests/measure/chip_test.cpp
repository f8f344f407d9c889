// SPDX-License-Identifier: Apache-2.0
// Descriptors of chips as files.
#include "lib/measure/Chip.h"

#include <gtest/gtest.h>

namespace nereid::measure {
namespace {

TEST(Chip, JsonRoundTripAndErrors) {
  Chip chip = detectChip();
  EXPECT_GE(chip.cores, 1);
  chip.peakFlops["fp32"] = 2e11;
  auto again = chipFromJson(toJson(chip), "test");
  ASSERT_TRUE(static_cast<bool>(again));
  EXPECT_EQ(toJson(*again), toJson(chip));
  EXPECT_EQ(chipFromJson("{", "x").error().code, "E0701");
  auto missing = chipFromJson("{\"schema\": 1, \"name\": \"n\"}", "x");
  ASSERT_FALSE(static_cast<bool>(missing));
  EXPECT_NE(missing.error().message.find("architecture"), std::string::npos);
}

} // namespace
} // namespace nereid::measure
