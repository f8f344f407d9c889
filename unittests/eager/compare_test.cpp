// SPDX-License-Identifier: Apache-2.0
// What counts as agreeing with a reference.
#include "lib/eager/Compare.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

using namespace nereid;
using namespace nereid::eager;
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
  EXPECT_EQ(result.first.index, 1);
  EXPECT_DOUBLE_EQ(result.first.actual, 2);
  EXPECT_DOUBLE_EQ(result.first.expected, 2.5);
  EXPECT_EQ(result.text(),
            "element 1 expects 2.5 ± 2.5e-06, but got 2 (2 of 3 differ; max error 1, mean 0.5)");
}

TEST(Compare, TheMeanErrorIsOfWhatIsFiniteOnBothSides) {
  const Comparison found = compare(tensor(DType::F32, {1, 2.5, inf, quietNan, 5}),
                                   tensor(DType::F64, {1, 2, inf, quietNan, inf}), 1, 1);
  EXPECT_EQ(found.finiteElements, 2);
  EXPECT_EQ(found.maxAbsoluteError, 0.5);
  EXPECT_EQ(found.meanAbsoluteError(), 0.25);
  EXPECT_EQ(Comparison().meanAbsoluteError(), 0);
}

TEST(Compare, TheMeanErrorDoesNotDependOnTheOrderOfTheParts) {
  std::vector<Comparison> parts(1000);
  for (size_t i = 0; i < parts.size(); ++i) {
    for (int j = 0; j < 10; ++j) {
      parts[i].addError(std::ldexp(1.0 / static_cast<double>(3 * i + 7), static_cast<int>(i % 60)));
    }
  }
  Comparison forwards, backwards;
  for (size_t i = 0; i < parts.size(); ++i) {
    forwards.merge(parts[i]);
    backwards.merge(parts[parts.size() - 1 - i]);
  }
  EXPECT_EQ(forwards.finiteElements, 10000);
  EXPECT_EQ(forwards.meanAbsoluteError(), backwards.meanAbsoluteError());
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
  const Comparison whole = compare(tensor(DType::I32, {1}), tensor(DType::F64, {2}), 1, 1);
  EXPECT_EQ(whole.text(), "element 0 expects 2, but got 1 (1 of 1 differ; max error 1, mean 1)");
  EXPECT_FALSE(compare(tensor(DType::F32, {1}), tensor(DType::F64, {1, 1}), 1, 1).passed());
}

TEST(Comparison, TheFirstMismatchOfAllPartsIsKept) {
  Comparison all;
  auto part = [](int64_t elements, int output, int64_t index) {
    Comparison one;
    one.elements = elements;
    one.mismatches = 1;
    one.addError(static_cast<double>(index));
    one.first = {output, index, 1, 2, 0, "", ""};
    return one;
  };
  Comparison right;
  right.elements = 10;
  right.unverifiable = 4;
  all.merge(right);
  EXPECT_TRUE(all.passed());
  all.merge(part(10, 1, 3));
  all.merge(part(10, 0, 7));
  all.merge(part(10, 0, 8));
  EXPECT_EQ(all.first.output, 0);
  EXPECT_EQ(all.first.index, 7);
  EXPECT_EQ(all.mismatches, 3);
  EXPECT_EQ(all.maxAbsoluteError, 8);
  EXPECT_EQ(all.meanAbsoluteError(), 6);
  EXPECT_EQ(all.unverifiableShare(), 0.1);
  EXPECT_EQ(all.unverifiableText().substr(0, 38), "4 of 40 elements cannot be verified: a");
  EXPECT_EQ(part(10, 1, 3).text(),
            "element 3 of output 1 expects 2 ± 0, but got 1 (1 of 10 differ; max error 3, mean 3)");
}
