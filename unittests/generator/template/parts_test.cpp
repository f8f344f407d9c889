// SPDX-License-Identifier: Apache-2.0
// Lines, counts and additions that several programs share, beside the evaluator of their programs:
// scans in parts, counts in memory of each program's own, additions in order; near misses of each;
// and which launches take them.
#include "lib/generator/fuse/split/SplitCounts.h"
#include "lib/generator/index/NodeQueries.h"
#include "unittests/generator/program/Reading.h"
#include "unittests/generator/template/Expect.h"

#include <gtest/gtest.h>

namespace nereid::generator {
namespace {

const std::vector<RunOptions> &inParts() {
  static const std::vector<RunOptions> all = {{RunOn::Interpreter, true, false, false, true},
                                              {RunOn::Interpreter, true, true, false, true},
                                              {RunOn::Interpreter, false, false, false, true},
                                              {RunOn::Cpu, false, false, false, true}};
  return all;
}

std::vector<double> numbers(size_t count, int64_t below) {
  std::vector<double> result(count);
  for (size_t i = 0; i < count; ++i) {
    result[i] = static_cast<double>(static_cast<int64_t>(i * i + 7 * i + 3) % below);
  }
  return result;
}

void expectInParts(const std::string &text, const EvaluationInput &input) {
  for (const RunOptions &options : inParts()) {
    Program written = program(text);
    expectEvaluated(written, input, options);
  }
}

bool hasText(const std::string &source, const std::string &part) {
  Program written = program(source);
  return textOf(written).find(part) != std::string::npos;
}

/// Programs of each kernel that a launch takes, by function.
std::map<std::string, int64_t> launched(const std::string &source,
                                        const std::map<std::string, int64_t> &sizes,
                                        const LaunchSite &site) {
  Program written = program(source);
  auto made = makeKernels(written, "t");
  std::map<std::string, int64_t> result;
  auto launches =
      made ? bindLaunch(made->table, sizes, site) : Result<std::vector<BoundLaunch>>(made.error());
  EXPECT_TRUE(bool(launches)) << launches.error().message;
  for (const BoundLaunch &each : *launches) {
    if (each.programs > 0) {
      result[each.function] = each.programs;
    }
  }
  return result;
}

const LaunchSite host{16, false}, device{132, true};

// ---- scans ----

constexpr const char *scans = R"(
N = size()
R = size()
x = input(fp32, [R, N], strides=[N, 1])
y = output(fp32, [R, N], strides=[N, 1])
z = output(fp32, [R, N], strides=[N, 1])
i = iterator(R)
j = iterator(N)
s = iterator(N)
stage("t")
t_1 = scan("sum", s, x[i, s] + 1.0, at=j)
y[i, j] = t_1 * 2.0
store(z[i, j], t_1 + x[i, j], guard=index(j) >= 2)
)";

TEST(ScansInParts, AreWhatTheEvaluatorSays) {
  for (const int64_t length : {1, 15, 17, 300}) {
    SCOPED_TRACE(length);
    const EvaluationInput input{
        {length, 2}, {}, {{"x", numbers(2 * static_cast<size_t>(length), 5)}}};
    expectInParts(scans, input);
  }
}

TEST(ScansInParts, WhereFewProgramsWouldWalkFar) {
  const std::map<std::string, int64_t> parts = launched(scans, {{"N", 1 << 20}, {"R", 1}}, device);
  ASSERT_TRUE(parts.contains("t_part_1_looped_kernel"));
  EXPECT_EQ(parts.at("t_part_1_looped_kernel"), 256);
  EXPECT_EQ(parts.at("t_part_2_kernel"), 1);
  EXPECT_EQ(parts.at("t_part_3_kernel"), 256);
  EXPECT_EQ(parts.size(), 3U);
  EXPECT_TRUE(launched(scans, {{"N", 1 << 20}, {"R", 66}}, device).contains("t_looped_kernel"));
  EXPECT_TRUE(launched(scans, {{"N", 8192}, {"R", 1}}, device).contains("t_looped_kernel"));
  EXPECT_TRUE(launched(scans, {{"N", 1 << 20}, {"R", 1}}, {2, false}).contains("t_looped_kernel"));
}

// ---- counts ----

std::string counts(const std::string &value) {
  return R"(
M = size()
B = size()
k = input(i64, [M], strides=[1])
x = input(fp32, [M], strides=[1])
y = inout(fp32, [B], strides=[1])
i = iterator(M)
stage("t")
store(y[data(k[i], B)], )" +
         value + R"(, monoid="sum")
)";
}

TEST(CountsInParts, AreWhatTheEvaluatorSays) {
  for (const std::string &value :
       {"1.0", "where(x[i] > 1.0, 1.0, 0.0)", "cast(where(x[i] > 1.0, i64(1), i64(0)), fp32)"}) {
    SCOPED_TRACE(value);
    EXPECT_TRUE(hasText(counts(value), "tl.histogram"));
    for (const int64_t length : {1, 16, 17, 500, 4200}) {
      const auto count = static_cast<size_t>(length);
      expectInParts(counts(value), {{length, 7},
                                    {},
                                    {{"k", numbers(count, 7)},
                                     {"x", numbers(count, 3)},
                                     {"y", {100, 200, 300, 0, 1, 2, 3}}}});
    }
  }
}

TEST(CountsInParts, AllPartsTogetherMayHaveMoreThan32Bits) {
  Program written = program(counts("1.0"));
  const auto split = splitCounts(written, written.stages[0].stores, 256);
  ASSERT_TRUE(split);
  const std::vector<const Node *> sums = reductionsOf(rootsOf(split->stages[1]));
  ASSERT_EQ(sums.size(), 1U);
  EXPECT_EQ(sums[0]->dtype, DType::I64);
}

TEST(CountsInParts, NothingElseIsCounted) {
  for (const std::string &value : {"2.0", "x[i]", "where(x[i] > 1.0, 1.0, 2.0)",
                                   "where(x[i] > 1.0, x[i], 0.0)", "cast(k[i], fp32)"}) {
    EXPECT_FALSE(hasText(counts(value), "tl.histogram")) << value;
  }
  std::string table = counts("1.0"); // of two dimensions
  table.replace(table.find("[B], strides=[1]"), 16, "[B, 2], strides=[2, 1]");
  table.replace(table.find("B)]"), 3, "B), 1]");
  EXPECT_FALSE(hasText(table, "tl.histogram"));
}

TEST(CountsInParts, WhereAdditionsWaitForEachOther) {
  const std::string text = counts("1.0");
  EXPECT_TRUE(launched(text, {{"M", 1 << 20}, {"B", 64}}, device).contains("t_part_1_kernel"));
  EXPECT_TRUE(launched(text, {{"M", 1 << 20}, {"B", 64}}, host).contains("t_kernel"));
  EXPECT_TRUE(launched(text, {{"M", 1 << 20}, {"B", 8193}}, device).contains("t_kernel"));
  EXPECT_TRUE(launched(text, {{"M", 4096}, {"B", 64}}, device).contains("t_kernel"));
}

// ---- additions in order ----

std::string meetings(const std::string &condition, const std::string &value = "v[m, d]") {
  return R"(
N = size()
M = size()
D = size()
x = input(fp32, [N, D], strides=[D, 1])
k = input(i64, [M, D], strides=[D, 1])
v = input(fp32, [M, D], strides=[D, 1])
y = output(fp32, [N, D], strides=[D, 1])
n = iterator(N)
d = iterator(D)
m = iterator(M)
stage("t")
y[n, d] = x[n, d] * 3.0 + sum[m](where()" +
         condition + ", " + value + ", 0.0))\n";
}

TEST(AdditionsInOrder, AreWhatTheEvaluatorSays) {
  for (const std::string &condition :
       {"k[m, d] == index(n)", "logical_and(k[m, d] == index(n), v[m, d] > 2.0)"}) {
    EXPECT_TRUE(hasText(meetings(condition), "tl.atomic_add")) << condition;
    EXPECT_TRUE(hasText(meetings(condition), "tl.debug_barrier()")) << condition; // behind zeros
    for (const int64_t length : {1, 15, 16, 33}) {
      const auto count = static_cast<size_t>(length) * 3;
      std::vector<double> places = numbers(count, 6);
      places[0] = -1; // what leads nowhere
      places[count - 1] = 6;
      expectInParts(
          meetings(condition),
          {{5, length, 3}, {}, {{"x", numbers(15, 9)}, {"k", places}, {"v", numbers(count, 11)}}});
    }
  }
}

TEST(AdditionsInOrder, NothingElseIs) {
  EXPECT_FALSE(hasText(meetings("k[m, d] >= index(n)"), "tl.atomic_add"));
  EXPECT_FALSE(hasText(meetings("k[m, d] == index(n)", "cast(index(n), fp32)"), "tl.atomic_add"));
  EXPECT_FALSE(hasText(meetings("k[m, d] == index(n + 1)"), "tl.atomic_add"));
  std::string text = meetings("k[m, 0] == index(n)", "v[m, 0]"); // each d has all of them
  EXPECT_FALSE(hasText(text, "tl.atomic_add"));
  text = meetings("k[m, d] == index(n)");
  text.replace(text.find("sum[m]"), 6, "max[m]");
  EXPECT_FALSE(hasText(text, "tl.atomic_add"));
}

TEST(AdditionsInOrder, WhereThereAreManyResults) {
  const std::string text = meetings("k[m, d] == index(n)");
  const auto parts = launched(text, {{"N", 256}, {"M", 512}, {"D", 768}}, device);
  EXPECT_TRUE(parts.contains("t_part_1_kernel"));
  EXPECT_EQ(parts.size(), 2U);
  EXPECT_FALSE(
      launched(text, {{"N", 256}, {"M", 512}, {"D", 32}}, device).contains("t_part_1_kernel"));
  EXPECT_FALSE(
      launched(text, {{"N", 8}, {"M", 512}, {"D", 768}}, device).contains("t_part_1_kernel"));
}

int64_t programsOfWalk(int64_t rows, int64_t values, int64_t columns, const LaunchSite &site) {
  const auto parts =
      launched(meetings("k[m, d] == index(n)"), {{"N", rows}, {"M", values}, {"D", columns}}, site);
  return parts.contains("t_part_1_kernel") ? parts.at("t_part_1_kernel") : 0;
}

TEST(AdditionsInOrder, InPartsThatKeepTheSiteAtWork) {
  EXPECT_EQ(programsOfWalk(256, 512, 768, device), 24 * 16);  // eight times what the values take
  EXPECT_EQ(programsOfWalk(256, 4096, 768, device), 24 * 22); // four for each processor
  EXPECT_EQ(programsOfWalk(256, 64, 768, device), 24 * 2);
  EXPECT_EQ(programsOfWalk(4096, 64, 768, device), 24);
  EXPECT_EQ(programsOfWalk(128, 257, 1024, device), 32 * 9); // none without a turn: 17 in twos
  EXPECT_EQ(programsOfWalk(256, 512, 768, host), 24);
  EXPECT_EQ(programsOfWalk(256, 512, 64, host), 2 * 8);
}

} // namespace
} // namespace nereid::generator
