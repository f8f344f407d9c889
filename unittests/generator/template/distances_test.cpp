// SPDX-License-Identifier: Apache-2.0
// Sums of squared distances from what the whole line says, in parts (fuse/split/Distances.h):
// beside the evaluator, near misses, how many launches they take, and what is lost where distances
// are small beside the mean.
#include "unittests/generator/program/Reading.h"
#include "unittests/generator/template/Expect.h"
#include "unittests/generator/template/LineData.h"

#include <gtest/gtest.h>

#include <cmath>

namespace nereid::generator {
namespace {

constexpr const char *rows = R"(
R = size()
N = size()
x = input(fp32, [R, N], strides=[N, 1])
y = output(fp32, [R, N], strides=[N, 1])
i = iterator(R)
j = iterator(N)
k = iterator(N)
stage("t")
t_1 = sum[k](x[i, k]) / cast(index(N), fp32)
t_2 = sum[k]((x[i, k] - t_1) * (x[i, k] - t_1)) / cast(index(N), fp32)
y[i, j] = (x[i, j] - t_1) * rsqrt(t_2 + 0.001)
)";

/// The sum alone, of `distance`.
std::string sumOf(const std::string &distance, const std::string &centre) {
  return R"(
R = size()
N = size()
x = input(fp32, [R, N], strides=[N, 1])
w = input(fp32, [R, N], strides=[N, 1])
y = output(fp32, [R], strides=[1])
i = iterator(R)
k = iterator(N)
stage("t")
t_1 = )" +
         centre + "\ny[i] = sum[k](" + distance + ")\n";
}

const std::string mean = "sum[k](x[i, k]) / cast(index(N), fp32)";
const std::string squares = "(x[i, k] - t_1) * (x[i, k] - t_1)";

/// Two lines in one: channels of several images.
constexpr const char *channels = R"(
B = size()
C = size()
S = size()
x = input(fp32, [B, C, S], strides=[C*S, S, 1])
y = output(fp32, [C], strides=[1])
c = iterator(C)
b = iterator(B)
s = iterator(S)
stage("t")
t_1 = sum[b, s](x[b, c, s]) / cast(index(B*S), fp32)
y[c] = sum[b, s]((t_1 - x[b, c, s]) * (t_1 - x[b, c, s]))
)";

constexpr const char *columns = R"(
R = size()
N = size()
x = input(fp32, [N, R], strides=[R, 1])
y = output(fp32, [R], strides=[1])
i = iterator(R)
k = iterator(N)
stage("t")
t_1 = sum[k](x[k, i]) / cast(index(N), fp32)
y[i] = sum[k]((x[k, i] - t_1) * (x[k, i] - t_1))
)";

/// What is written along one of both alone, which may be short.
constexpr const char *normalised = R"(
B = size()
C = size()
S = size()
x = input(fp32, [B, C, S], strides=[C*S, S, 1])
y = output(fp32, [B, C, S], strides=[C*S, S, 1])
i = iterator(B)
c = iterator(C)
j = iterator(S)
b = iterator(B)
s = iterator(S)
stage("t")
t_1 = sum[b, s](x[b, c, s]) / cast(index(B*S), fp32)
t_2 = sum[b, s]((x[b, c, s] - t_1) * (x[b, c, s] - t_1))
y[i, c, j] = (x[i, c, j] - t_1) * t_2
)";

std::vector<RunOptions> inParts() {
  std::vector<RunOptions> all(5);
  for (RunOptions &each : all) {
    each.isSplit = true;
  }
  all[1].isLooped = true;
  all[2].hasSmallBlocks = false;
  all[3].isWide = true;
  all[4].on = RunOn::Cpu;
  all[4].hasSmallBlocks = false;
  return all;
}

/// Stages of parts, each with its kernels by name.
std::set<std::string> partsOf(const std::string &text) {
  Program written = program(text);
  auto made = makeKernels(written, "t");
  std::set<std::string> result;
  for (const StageKernel &kernel : made->kernels) {
    if (kernel.tree.name.find("_part_") != std::string::npos) {
      result.insert(kernel.tree.name);
    }
  }
  return result;
}

TEST(DistancesInParts, AreWhatTheEvaluatorSays) {
  for (const std::string &text :
       {std::string(rows), sumOf(squares, mean), std::string(columns),
        sumOf(squares, "max[k](x[i, k])"), sumOf("(t_1 - x[i, k]) * (t_1 - x[i, k])", mean)}) {
    for (const int64_t length : {1, 15, 64, 65, 1000, 2100}) {
      SCOPED_TRACE(text + std::to_string(length));
      const auto count = 3 * static_cast<size_t>(length);
      for (const RunOptions &options : inParts()) {
        Program written = program(text);
        expectEvaluated(written, {{3, length}, {}, {{"x", lineOf(count)}, {"w", lineOf(count)}}},
                        options, 1e-5);
      }
    }
  }
}

TEST(DistancesInParts, OfSeveralIterators) {
  for (const int64_t batch : {1, 3, 64, 70}) {
    for (const RunOptions &options : inParts()) {
      Program written = program(channels);
      const EvaluationInput input{{batch, 2, 9}, {}, {{"x", lineOf(18 * size_t(batch))}}};
      expectEvaluated(written, input, options, 1e-5);
      Program along = program(normalised);
      expectEvaluated(along, input, options, 1e-4);
    }
  }
}

TEST(DistancesInParts, TakeNoLaunchMoreThanSums) {
  const std::set<std::string> ofRows = {"t_part_1_kernel", "t_part_1_looped_kernel",
                                        "t_part_2_kernel"};
  EXPECT_EQ(partsOf(rows), ofRows); // what is written along the line joins the parts as well
  EXPECT_EQ(partsOf(sumOf(squares, mean)), ofRows);
  EXPECT_EQ(partsOf(columns), ofRows);
  EXPECT_EQ(partsOf(channels), ofRows);
  EXPECT_TRUE(partsOf(normalised).contains("t_part_3_kernel"));
}

/// Nothing else is moved from one centre to another.
TEST(DistancesInParts, NearMissesTakeALaunchForEachLevel) {
  for (const std::string &distance :
       {std::string("abs(x[i, k] - t_1)"), std::string("(x[i, k] - t_1) * (w[i, k] - t_1)"),
        std::string("(x[i, k] * t_1) * (x[i, k] * t_1)"),
        std::string("(x[i, k] - t_1 * w[i, k]) * (x[i, k] - t_1 * w[i, k])")}) {
    EXPECT_TRUE(partsOf(sumOf(distance, mean)).contains("t_part_4_kernel")) << distance;
  }
}

/// The centre needs no part of the line: there is but one level, and nothing to join it for.
TEST(DistancesInParts, FromANumberThatIsKnownAreSums) {
  const std::string text = sumOf("(x[i, k] - 3.0) * (x[i, k] - 3.0)", mean);
  const std::set<std::string> expected = {"t_part_1_looped_kernel", "t_part_2_kernel"};
  EXPECT_EQ(partsOf(text), expected);
}

TEST(DistancesInParts, LoseNothingBesideALargeMean) {
  const auto [x, expected] = farLine();
  for (const RunOptions &options : inParts()) {
    Program written = program(sumOf(squares, mean));
    auto memory =
        run(written, {{1, static_cast<int64_t>(x.size())}, {}, {{"x", x}, {"w", x}}}, options);
    ASSERT_TRUE(bool(memory)) << memory.error().message;
    EXPECT_NEAR(memory->at("y")[0] / expected, 1, 2e-6);
  }
}

} // namespace
} // namespace nereid::generator
