// SPDX-License-Identifier: Apache-2.0
// What several products need is computed once, where a reduction leaves something at the same
// points anyway, and is left to the products where it is not so.
#include "lib/generator/fuse/SharedFactors.h"

#include "lib/generator/fuse/Partition.h"
#include "lib/generator/normalise/Normalise.h"
#include "lib/generator/program/Verify.h"
#include "unittests/generator/fuse/Partitioned.h"
#include "unittests/generator/program/Reading.h"
#include "unittests/generator/template/Expect.h"

namespace nereid::generator {
namespace {

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
