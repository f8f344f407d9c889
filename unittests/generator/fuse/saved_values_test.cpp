// SPDX-License-Identifier: Apache-2.0
// What several stages need is left in memory once, whatever their iterators are called, and never
// where something has changed in between.
#include "lib/generator/fuse/SavedValues.h"

#include "lib/generator/fuse/Partition.h"
#include "lib/generator/normalise/Normalise.h"
#include "lib/generator/program/Verify.h"
#include "unittests/generator/program/Reading.h"
#include "unittests/generator/template/Expect.h"

namespace nereid::generator {
namespace {

constexpr const char *sizes = R"(
N = size()
M = size()
K = size()
x = input(fp32, [N, K], strides=[K, 1])
w = input(fp32, [M, K], strides=[K, 1])
p = output(fp32, [N], strides=[1])
q = output(fp32, [M], strides=[1])
i = iterator(N)
j = iterator(M)
k = iterator(K)
a = iterator(N)
b = iterator(M)
c = iterator(K)
stage("first")
p[i] = max[j](sum[k](x[i, k] * w[j, k]))
stage("second")
)";

/// Of two square matrices; what is stored follows.
constexpr const char *square = R"(
N = size()
x = input(fp32, [N, N], strides=[N, 1])
u = input(fp32, [N, N], strides=[N, 1])
i = iterator(N)
j = iterator(N)
k = iterator(N)
l = iterator(N)
m = iterator(N)
)";
constexpr const char *ofRows = "out = output(fp32, [N], strides=[1])\nstage(\"first\")\n",
                     *ofElements = "out = output(fp32, [N, N], strides=[N, 1])\nstage(\"first\")\n";

size_t stagesOf(const std::string &text, const std::set<BufferId> &apart = {}) {
  Program read = program(text);
  normalise(read);
  partition(read, apart);
  return read.stages.size();
}

TEST(SavedValues, AreFoundUnderOtherIterators) {
  const std::string columns = sizes + std::string("q[b] = max[a](sum[c](x[a, c] * w[b, c]))\n");
  EXPECT_EQ(stagesOf(columns), 3u) << "the products, rows and columns of them";
  EXPECT_EQ(stagesOf(sizes + std::string("q[b] = sum[a](exp(sum[c](x[a, c] * w[b, c])))\n")), 3u);
  Program read = program(columns);
  normalise(read);
  EvaluationInput input;
  input.sizes = {3, 5, 4};
  for (const char *name : {"x", "w"}) {
    std::vector<double> &values = input.memory[name];
    for (int number = 0; number < (name[0] == 'x' ? 12 : 20); ++number) {
      values.push_back((number * 7) % 11 - 5);
    }
  }
  expectEvaluated(read, input, {});
}

constexpr const char *windows = R"(
x = input(fp32, [9], strides=[1])
w = input(fp32, [3], strides=[1])
p = output(fp32, [7], strides=[1])
q = output(fp32, [7], strides=[1])
i = iterator(7)
j = iterator(7)
k = iterator(3)
l = iterator(3)
stage("first")
p[i] = exp(sum[k](x[i + k] * w[k]))
stage("second")
)";

TEST(SavedValues, AreFoundWherePlacesAreSumsOfIterators) {
  Program read = program(windows + std::string("q[j] = sin(sum[l](x[j + l] * w[l]))\n"));
  BoundNames names(read);
  SavedValues saved(read, names);
  const Node *first = read.stages[0].stores[0].value->inputs[0];
  const Node *second = read.stages[1].stores[0].value->inputs[0];
  saved.add(first, 0, 0);
  EXPECT_TRUE(saved.find(first, 0, {}));
  EXPECT_TRUE(saved.find(second, 0, {}));
}

TEST(SavedValues, AreNoOthers) {
  for (const char *store : {"q[b] = max[a](sum[c](x[a, c] * w[b, c] * 2.0))\n",
                            "q[b] = max[a](sum[c](x[a, c] * w[b, K - 1 - c]))\n",
                            "q[b] = max[a](max[c](x[a, c] * w[b, c]))\n",
                            "q[b] = max[a](sum[c](x[a, c] + w[b, c]))\n"}) {
    EXPECT_EQ(stagesOf(sizes + std::string(store)), 4u) << store;
  }
}

TEST(SavedValues, AreNoneOfWhatIsWrittenInBetween) {
  std::string text = sizes;
  text.replace(text.find("x = input"), 9, "x = inout");
  const std::string last = "q[b] = max[a](sum[c](x[a, c] * w[b, c]))\n";
  EXPECT_EQ(stagesOf(text + last), 3u) << "nothing is";
  text.replace(text.find("stage(\"second\")\n"), 16,
               "stage(\"change\")\nx[a, c] = x[a, c] * 2.0\nstage(\"second\")\n");
  EXPECT_EQ(stagesOf(text + last), 5u);
}

/// Values that one stage would leave together, though what one of them reads is made of the other.
TEST(SavedValues, AreLeftBeforeTheyAreRead) {
  for (const char *store :
       {"out[i] = max[j](sum[k](x[i, k] * u[k, j]) +"
        " sum[l](exp(sum[k](x[i, k] * u[k, l])) * u[l, j]))\n",
        "out[i] = max[j](sum[k](x[i, k] * u[k, j]) + sum[m](sum[l](sum[k](x[i, k] * u[k, l]) *"
        " u[l, m]) * u[m, j]))\n"}) {
    Program read = program(std::string(square) + ofRows + store);
    normalise(read);
    partition(read);
    const Status isLawful = verify(read);
    EXPECT_TRUE(bool(isLawful)) << render(isLawful.error()) << stages(read);
    EvaluationInput input;
    input.sizes = {3};
    input.memory["x"] = {1, 2, -1, 0, 1, 1, 2, 0, -1};
    input.memory["u"] = {0, 1, 1, -1, 2, 0, 1, 0, 1};
    expectEvaluated(read, input, {}, 1e-6);
  }
}

/// A product that is added to may be rounded before, in one walk and not in the other: what is
/// compared with the largest of it has to be the very same number.
TEST(SavedValues, AreWhatIsComparedWithItsExtremum) {
  auto partitioned = [](const char *store) {
    Program read = program(std::string(square) + ofElements + store);
    normalise(read);
    partition(read);
    EXPECT_TRUE(bool(verify(read)));
    const std::string text = stages(read);
    partition(read);
    EXPECT_EQ(stages(read), text) << "a second time";
    return text;
  };
  auto saves = [](const std::string &text) {
    return text.find("saved[") != std::string::npos && text.find("saved[") < text.find("max[");
  };
  EXPECT_TRUE(saves(partitioned("out[i, j] = where(u[i, j] - x[i, j] * u[i, j] =="
                                " max[k](u[i, k] - x[i, k] * u[i, k]), 1.0, 0.0)\n")));
  EXPECT_TRUE(saves(partitioned("out[i, j] = where(max[k](u[k, j] + x[k, j] * 3.0) !="
                                " u[i, j] + x[i, j] * 3.0, 1.0, 0.0)\n")))
      << "of columns, on the other side";
  for (const char *exact : {"out[i, j] = where(u[i, j] - x[i, j] =="
                            " max[k](u[i, k] - x[i, k]), 1.0, 0.0)\n",
                            "out[i, j] = where(x[i, j] * u[i, j] =="
                            " max[k](x[i, k] * u[i, k]), 1.0, 0.0)\n",
                            "out[i, j] = where(u[i, j] - x[i, j] * u[i, j] >="
                            " max[k](u[i, k]), 1.0, 0.0)\n"}) {
    EXPECT_FALSE(saves(partitioned(exact))) << exact;
  }
}

TEST(SavedValues, OfAStageThatMayNotBeLaunchedServeNoOther) {
  const std::string text = sizes + std::string("q[b] = max[a](sum[c](x[a, c] * w[b, c]))\n");
  const BufferId first = *program(text).find("p"), second = *program(text).find("q");
  EXPECT_EQ(stagesOf(text, {first}), 4u);
  EXPECT_EQ(stagesOf(text, {second}), 4u);
}

} // namespace
} // namespace nereid::generator
