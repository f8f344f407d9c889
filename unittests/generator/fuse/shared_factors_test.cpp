// SPDX-License-Identifier: Apache-2.0
// What several products need is computed once, where a reduction leaves something at the same
// points anyway, and is left to the products where it is not so.
#include "lib/generator/fuse/SharedFactors.h"

#include "lib/generator/fuse/Partition.h"
#include "lib/generator/normalise/Normalise.h"
#include "lib/generator/program/Verify.h"
#include "unittests/generator/program/Reading.h"
#include "unittests/generator/template/Expect.h"

namespace nereid::generator {
namespace {

constexpr const char *square = R"(
N = size()
x = input(fp32, [N, N], strides=[N, 1])
u = input(fp32, [N, N], strides=[N, 1])
p = output(fp32, [N, N], strides=[N, 1])
q = output(fp32, [N, N], strides=[N, 1])
i = iterator(N)
j = iterator(N)
k = iterator(N)
l = iterator(N)
m = iterator(N)
stage("first")
)";

std::string partitioned(const std::string &stores) {
  Program read = program(square + stores);
  normalise(read);
  partition(read);
  const Status isLawful = verify(read);
  EXPECT_TRUE(bool(isLawful)) << (isLawful ? "" : render(isLawful.error()));
  const std::string text = stages(read);
  partition(read);
  EXPECT_EQ(stages(read), text) << "a second time";

  Program whole = program(square + stores);
  normalise(whole);
  EvaluationInput input;
  input.sizes = {3};
  input.memory["x"] = {1, 2, -1, 0, 1, 1, 2, 0, -1};
  input.memory["u"] = {0, 1, 1, -1, 2, 0, 1, 0, 1};
  expectEvaluated(whole, input, {}, 1e-6);
  return text;
}

size_t countOf(const std::string &text, const std::string &part) {
  size_t count = 0;
  for (size_t at = text.find(part); at != std::string::npos; at = text.find(part, at + 1)) {
    ++count;
  }
  return count;
}

TEST(SharedFactors, AreLeftInsteadOfTheirSum) {
  const std::string text =
      partitioned("p[i, j] = sum[k](exp(sum[l](x[i, l] * u[k, l])) * u[k, j])\n"
                  "stage(\"second\")\n"
                  "q[i, j] = sum[k](exp(sum[l](x[k, l] * u[i, l])) * x[k, j])\n");
  EXPECT_EQ(countOf(text, "exp("), 1u) << text;
  EXPECT_EQ(countOf(text, " = exp("), 1u) << text;
  EXPECT_EQ(countOf(text, "stage("), 3u) << text;
}

/// Reductions along a row of them are over iterators that one stage shares with others and another
/// one does not.
TEST(SharedFactors, AreSharesAndWhatIsMadeOfThem) {
  const std::string scores = "sum[m](x[i, m] * u[k, m])", other = "sum[m](x[k, m] * u[i, m])";
  const std::string most = "max[l](sum[m](x[i, m] * u[l, m]))",
                    mostOfOther = "max[l](sum[m](x[k, m] * u[l, m]))";
  const std::string share = "exp(" + scores + " - " + most + ")",
                    shareOfOther = "exp(" + other + " - " + mostOfOther + ")";
  const std::string text = partitioned(
      "p[i, j] = sum[k](" + share + " * (u[i, k] - 2.0) * u[k, j]) + sum[k](" + shareOfOther +
      " * (u[k, i] - 2.0) * x[k, j])\nstage(\"second\")\nq[i, j] = sum[k](" + shareOfOther +
      " * x[k, j])\n");
  EXPECT_EQ(countOf(text, "exp("), 1u) << text;
}

TEST(SharedFactors, AreNoOthers) {
  const std::string one = "p[i, j] = sum[k](exp(sum[l](x[i, l] * u[k, l])) * u[k, j])\n";
  EXPECT_EQ(countOf(partitioned("p[i, j] = sum[k](exp(x[i, k]) * u[k, j])\nstage(\"second\")\n"
                                "q[i, j] = sum[k](exp(x[k, i]) * x[k, j])\n"),
                    "exp("),
            2u)
      << "of no reduction";
  EXPECT_EQ(countOf(partitioned("p[i, j] = sum[k](exp(x[i, k] - max[l](x[i, l])) * u[k, j])\n"
                                "stage(\"second\")\n"
                                "q[i, j] = sum[k](exp(x[k, i] - max[l](x[k, l])) * x[k, j])\n"),
                    "exp("),
            2u)
      << "of one that leaves a number for each row alone";
  EXPECT_EQ(countOf(partitioned(one + "stage(\"second\")\nq[i, j] = sum[k](exp("
                                      "sum[l](x[k, l] * u[i, l]) + 1.0) * x[k, j])\n"),
                    "exp("),
            2u)
      << "another factor of the same sum";
}

/// Stages that may not be launched leave nothing to others.
TEST(SharedFactors, AreNotThoseOfStagesApart) {
  Program read =
      program(std::string(square) +
              "p[i, j] = sum[k](exp(sum[l](x[i, l] * u[k, l])) * u[k, j])\nstage(\"second\")\n"
              "q[i, j] = sum[k](exp(sum[l](x[k, l] * u[i, l])) * x[k, j])\n");
  normalise(read);
  partition(read, {*read.find("p")});
  EXPECT_EQ(countOf(stages(read), " = exp("), 2u) << "each has its own:\n" << stages(read);
}

} // namespace
} // namespace nereid::generator
