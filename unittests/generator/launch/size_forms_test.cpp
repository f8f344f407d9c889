// SPDX-License-Identifier: Apache-2.0
// Stages whose values are chosen by sizes: a kernel of each side, beside the evaluator; which one a
// launch takes; near misses.
#include "unittests/generator/program/Reading.h"
#include "unittests/generator/template/Expect.h"

#include <gtest/gtest.h>

#include <fmt/format.h>

namespace nereid::generator {
namespace {

/// One side is x after `steps` steps, the other x.
std::string chosenBy(const std::string &condition, int steps) {
  std::string text = R"(
N = size()
M = size()
x = input(fp32, [M, N], strides=[N, 1])
y = output(fp32, [M, N], strides=[N, 1])
i = iterator(M)
j = iterator(N)
stage("t")
t_0 = x[i, j]
)";
  for (int step = 1; step <= steps; ++step) {
    text += fmt::format("t_{0} = x[i, j] * {0}.0 - t_{1}\n", step, step - 1);
  }
  return text + fmt::format("y[i, j] = where({}, x[i, j], t_{}) + 1.0\n", condition, steps);
}

std::set<std::string> launched(const std::string &text, int64_t size) {
  Program written = program(text);
  auto made = makeKernels(written, "t");
  std::set<std::string> result;
  auto launches = made ? bindLaunch(made->table, {{"N", size}, {"M", 3}}, {132, true})
                       : Result<std::vector<BoundLaunch>>(made.error());
  EXPECT_TRUE(bool(launches)) << launches.error().message;
  for (const BoundLaunch &each : *launches) {
    if (each.programs > 0) {
      result.insert(each.function);
    }
  }
  return result;
}

TEST(SizeForms, AreWhatTheEvaluatorSays) {
  for (const char *condition : {"index(N) < 8", "index(N) >= 8", "8 <= index(N)"}) {
    SCOPED_TRACE(condition);
    for (const int64_t size : {7, 8, 9}) {
      std::vector<double> x(static_cast<size_t>(3 * size));
      for (size_t i = 0; i < x.size(); ++i) {
        x[i] = static_cast<double>(i % 5);
      }
      for (const RunOn on : {RunOn::Interpreter, RunOn::Cpu}) {
        Program written = program(chosenBy(condition, 40));
        expectEvaluated(written, {{size, 3}, {}, {{"x", x}}}, {on});
      }
    }
  }
}

TEST(SizeForms, OneOfBothIsLaunched) {
  const std::string text = chosenBy("index(N) < 8", 40);
  EXPECT_EQ(launched(text, 7), std::set<std::string>{"t_kernel"});
  EXPECT_EQ(launched(text, 8), std::set<std::string>{"t_otherwise_kernel"});
}

TEST(SizeForms, ChoicesWithinChoicesAreFormsToo) {
  std::string text = chosenBy("index(N) < 2", 120);
  const std::string side = ", t_120)";
  text.replace(text.find(side), side.size(), ", where(index(N) < 8, t_40, t_120))");
  EXPECT_EQ(launched(text, 1), std::set<std::string>{"t_kernel"});
  EXPECT_EQ(launched(text, 7), std::set<std::string>{"t_otherwise_kernel"});
  EXPECT_EQ(launched(text, 8), std::set<std::string>{"t_otherwise_2_kernel"});
}

TEST(SizeForms, NothingElseHasTwo) {
  for (const std::string &text :
       {chosenBy("index(N) < 8", 4), chosenBy("index(j) < 8", 40), chosenBy("x[i, j] < 8.0", 40)}) {
    EXPECT_EQ(launched(text, 7), std::set<std::string>{"t_kernel"});
    EXPECT_EQ(launched(text, 8), std::set<std::string>{"t_kernel"});
  }
}

} // namespace
} // namespace nereid::generator
