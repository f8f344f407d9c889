// SPDX-License-Identifier: Apache-2.0
// What is computed of a product at its own points is computed by its kernel, and stays with who
// needs it where others need the product, or where nothing would be saved.
#include "lib/generator/fuse/saved/Epilogues.h"

#include "lib/generator/fuse/Partition.h"
#include "lib/generator/normalise/Normalise.h"
#include "unittests/generator/fuse/Partitioned.h"
#include "unittests/generator/program/Reading.h"

#include <gtest/gtest.h>

namespace nereid::generator {
namespace {

constexpr const char *h = "sum[l](x[i, l] * u[k, l])", *g = "sum[l](x[i, l] * u[l, k])";

std::string product(const std::string &factor) {
  return "p[i, j] = sum[k](" + factor + " * u[k, j])\n";
}

TEST(Epilogues, AreFunctionsOfProducts) {
  const std::string text = partitioned(product(std::string("exp(") + h + " * 2.0 + x[i, k])"));
  EXPECT_EQ(countOf(text, " = exp("), 1u) << text;
  EXPECT_EQ(countOf(text, "stage("), 2u) << text;
}

TEST(Epilogues, AreOneValueOfTwoProducts) {
  const std::string text = partitioned(product(std::string(h) + " * " + g));
  EXPECT_EQ(countOf(text, "saved"), 2u) << "left once, read once:\n" << text;
  EXPECT_EQ(countOf(text, "stage("), 2u) << text;
}

TEST(Epilogues, AreNotWhatCostsNoMoreThanReading) {
  const std::string text = partitioned(product(std::string("(") + h + " * 2.0)"));
  EXPECT_EQ(countOf(text, "(ref(saved[i, k]) * 2.0)"), 1u) << text;
}

TEST(Epilogues, StayWhereOthersNeedTheProduct) {
  const std::string other =
      "stage(\"second\")\nq[i, j] = sum[k](sin(" + std::string(h) + ") * x[k, j])\n";
  const std::string text = partitioned(product(std::string("exp(") + h + ")") + other);
  EXPECT_EQ(countOf(text, "stage("), 3u) << "the product is computed once:\n" << text;
  EXPECT_EQ(countOf(text, " = exp(") + countOf(text, " = sin("), 0u) << text;
  const std::string itself = partitioned(product(std::string("(exp(") + h + ") + " + h + ")"));
  EXPECT_EQ(countOf(itself, "stage("), 2u) << itself;
}

TEST(Epilogues, AreSharedByOthersThatNeedTheSame) {
  const std::string other = "stage(\"second\")\nq[i, k] = exp(" + std::string(h) + ") * x[k, i]\n";
  const std::string text = partitioned(product(std::string("exp(") + h + ")") + other);
  EXPECT_EQ(countOf(text, "sum["), 2u) << text;
  EXPECT_EQ(countOf(text, "exp("), 1u) << text;
}

TEST(Epilogues, AreNotOfRowsWhereElementsAreMore) {
  const std::string text = partitioned(product(std::string("exp(") + "x[i, k] - max[l](x[i, l]))"));
  EXPECT_EQ(countOf(text, " = exp("), 0u) << "a number for each row is less:\n" << text;
}

/// Windows of windows: s at t = j + k, without the edges.
TEST(Epilogues, AreComputedOncePerPlaceOfWindows) {
  Program read = program(R"(
x = input(fp32, [9], strides=[1])
w = input(fp32, [3], strides=[1])
p = output(fp32, [7], strides=[1])
i = iterator(7)
k = iterator(3)
l = iterator(3)
stage("first")
p[i] = sum[k](where(logical_and(index(i + k) >= 1, index(i + k) < 8), maximum(sum[l](x[i + k - 1 + l] * w[l]), 0.0), 0.0) * w[k])
)");
  normalise(read);
  partition(read);
  const std::string text = stages(read);
  EXPECT_EQ(countOf(text, " = maximum("), 1u) << text;
}

} // namespace
} // namespace nereid::generator
