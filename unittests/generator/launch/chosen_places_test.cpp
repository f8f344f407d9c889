// SPDX-License-Identifier: Apache-2.0
// Elements at chosen places (launch/ChosenPlaces.h): beside the reference on devices and on
// processors, and near misses.
#include "lib/generator/launch/ChosenPlaces.h"

#include "unittests/generator/Making.h"
#include "unittests/generator/program/Reading.h"
#include "unittests/generator/template/Expect.h"

#include <gtest/gtest.h>

namespace nereid::generator {
namespace {

/// The stage "out" of x [N] is chosen by `value`.
std::string chosenBy(const std::string &value) {
  return R"(
N = size(low=4)
x = input(fp32, [N], strides=[1])
w = input(fp32, [N], strides=[1])
k = input(i64, [N], strides=[1])
y = output(fp32, [N], strides=[1])
i = iterator(N)
stage("t")
y[i] = )" +
         value + "\n";
}

bool isChosen(const std::string &value) {
  Program written = program(chosenBy(value));
  return withChosenPlaces(written, written.stages[0].stores).has_value();
}

TEST(ChosenPlaces, BordersAreTheReference) {
  const std::string images = "[inputs.x]\nshape = [\"N\", \"M\", \"K\"]\n";
  for (const char *body : {"out = F.pad(x, (1, 2, 3, 0), mode=\"reflect\")",
                           "out = F.pad(x, (1, 2, 3, 0), mode=\"replicate\")",
                           "out = F.pad(x, (1, 2, 3, 0), mode=\"circular\")",
                           "out = torch.exp(F.pad(x, (1, 2, 3, 0), mode=\"reflect\"))"}) {
    const Sample sample{body, images, "\"N\", \"M + 3\", \"K + 3\"", {{2, 5, 6}}, {2, 5, 6}};
    const definition::Operator op =
        made(sample.body, sample.inputs, sample.outShape, "\"float32\"");
    for (const bool isDevice : {false, true}) {
      for (const bool isSmall : {false, true}) {
        RunOptions options;
        options.site.isDevice = isDevice;
        options.hasSmallBlocks = isSmall;
        options.isWide = isSmall;
        expectReference(op, sample, DType::F32, options);
      }
    }
  }
}

TEST(ChosenPlaces, OneLoadInPlaceOfThree) {
  const std::string ends =
      "where(index(i) < index(1), x[0], where(index(i) < index(N - 1), x[i], x[N - 1]))";
  Program written = program(chosenBy(ends + " * 2.0"));
  const auto chosen = withChosenPlaces(written, written.stages[0].stores);
  ASSERT_TRUE(chosen);
  written.stages[0].stores = *chosen;
  EXPECT_EQ(stages(written),
            "stage(\"t\")\n"
            "y[i] = x[data(where(index(i) < index(1), index(0), where(index(i) < index(N - 1), "
            "index(i), index(N - 1))), N)] * 2.0\n");
}

/// Masks of some dimensions, which either branch asks for itself.
TEST(ChosenPlaces, RowsThatAreTheSame) {
  const std::string text = R"(
N = size(low=1)
M = size(low=1)
x = input(fp32, [N, M], strides=[M, 1])
y = output(fp32, [M, 3, 3*N], strides=[9*N, 3*N, 1])
i = iterator(M)
j = iterator(3)
k = iterator(3*N)
stage("t")
y[i, j, k] = where(index(k) < index(N), x[k, i], where(index(k) < index(2*N), x[2*N - 1 - k, i], x[k - 2*N, i]))
)";
  const std::vector<double> numbers = {1, 2, 3, 4, 5, 6, 7, 8, 9, 10};
  for (const bool isDevice : {false, true}) {
    RunOptions options;
    options.site.isDevice = isDevice;
    Program written = program(text);
    expectEvaluated(written, {{5, 2}, {}, {{"x", numbers}}}, options);
  }
}

TEST(ChosenPlaces, NearMisses) {
  const std::string two = "where(index(i) < index(1), x[0], x[i])";
  EXPECT_FALSE(isChosen(two));
  // Of other tensors, of what memory says, and of what is no element.
  EXPECT_FALSE(
      isChosen("where(index(i) < index(1), x[0], where(index(i) < index(2), w[i], x[1]))"));
  EXPECT_FALSE(isChosen("where(w[i] < 1.0, x[0], where(w[i] < 2.0, x[i], x[1]))"));
  EXPECT_FALSE(
      isChosen("where(index(i) < index(1), x[0], where(index(i) < index(2), x[i] + 1.0, x[1]))"));
  EXPECT_FALSE(isChosen(
      "where(index(i) < index(1), x[0], where(index(i) < index(2), x[data(k[i], N)], x[1]))"));
  EXPECT_TRUE(isChosen("where(index(i) < index(1), x[0], where(index(i) < index(2), x[i], x[1]))"));
}

} // namespace
} // namespace nereid::generator
