// SPDX-License-Identifier: Apache-2.0
// What counts as agreeing with a reference.
#include "lib/measure/Compare.h"
#include "lib/measure/Roofline.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

using namespace nereid;
using namespace nereid::measure;
using runtime::Tensor;

namespace {

Tensor tensor(DType dtype, const std::vector<double> &values) {
  Tensor result = Tensor::empty({static_cast<int64_t>(values.size())}, dtype);
  for (size_t i = 0; i < values.size(); ++i) {
    result.set(static_cast<int64_t>(i), values[i]);
  }
  return result;
}

constexpr double inf = std::numeric_limits<double>::infinity();
const double quietNan = std::nan("");

} // namespace

TEST(Compare, NamesTheFirstMismatch) {
  auto result = compare(tensor(DType::F32, {1, 2, 3}), tensor(DType::F64, {1, 2.5, 4}), 1e-6, 0);
  EXPECT_EQ(result.mismatches, 2);
  EXPECT_EQ(result.firstMismatch, 1);
  EXPECT_DOUBLE_EQ(result.actual, 2);
  EXPECT_DOUBLE_EQ(result.expected, 2.5);
  EXPECT_EQ(result.text(), "element 1 expects 2.5, but got 2 (2 of 3 differ)");
}

TEST(Compare, NanMeetsNanOnly) {
  EXPECT_TRUE(
      compare(tensor(DType::F32, {quietNan}), tensor(DType::F64, {quietNan}), 0, 0).passed());
  EXPECT_FALSE(compare(tensor(DType::F32, {quietNan}), tensor(DType::F64, {1}), 1, 1).passed());
  EXPECT_FALSE(compare(tensor(DType::F32, {1}), tensor(DType::F64, {quietNan}), 1, 1).passed());
}

TEST(Compare, InfinityNeedsItsSignUnlessTheTypeOverflows) {
  EXPECT_TRUE(compare(tensor(DType::F32, {inf}), tensor(DType::F64, {inf}), 0, 0).passed());
  EXPECT_FALSE(compare(tensor(DType::F32, {inf}), tensor(DType::F64, {-inf}), 1, 1).passed());
  EXPECT_TRUE(compare(tensor(DType::F16, {inf}), tensor(DType::F64, {70000}), 1e-3, 0).passed());
  EXPECT_FALSE(compare(tensor(DType::F32, {inf}), tensor(DType::F64, {70000}), 1e-3, 0).passed());
}

TEST(Compare, ToleranceIsAbsolutePlusRelative) {
  auto reference = tensor(DType::F64, {100, 0});
  EXPECT_TRUE(compare(tensor(DType::F64, {100.9, 0.1}), reference, 0.01, 0.1).passed());
  EXPECT_FALSE(compare(tensor(DType::F64, {101.2, 0}), reference, 0.01, 0.1).passed());
}

TEST(Compare, IntegersMustBeEqualAndShapesToo) {
  EXPECT_FALSE(compare(tensor(DType::I32, {1}), tensor(DType::F64, {2}), 1, 1).passed());
  EXPECT_FALSE(compare(tensor(DType::F32, {1}), tensor(DType::F64, {1, 1}), 1, 1).passed());
}

TEST(Roofline, SideAndImpossibleTimes) {
  Chip chip;
  chip.copyBandwidth = 1e9;
  chip.peakFlops["fp32"] = 1e10;
  chip.caches = {{"L3", 1000, 1, 0}};
  Roofline memory = roofline(chip, 1e6, 1e6, DType::F32);
  EXPECT_TRUE(memory.isMemoryBound());
  EXPECT_DOUBLE_EQ(memory.floorSeconds(), 1e-3 - 1e-6) << "a cache of unknown rate is free";
  EXPECT_DOUBLE_EQ(memory.ridge, 10);
  EXPECT_FALSE(roofline(chip, 1e6, 1e8, DType::F32).isMemoryBound());
  EXPECT_TRUE(isImpossible(chip, memory, {}, 1e-4));
  EXPECT_FALSE(isImpossible(chip, memory, {}, 0.9e-3));
  // Data inside the cache may beat memory, but not arithmetic.
  Roofline cached = roofline(chip, 2000, 2000, DType::F32);
  EXPECT_FALSE(isImpossible(chip, cached, {}, 1e-6));
  EXPECT_TRUE(isImpossible(chip, cached, {}, 1e-8));
}

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
