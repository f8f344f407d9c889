// SPDX-License-Identifier: Apache-2.0
// Grid expressions compiled to steps agree with their evaluation by the language's own evaluator.
#include "lib/aot/GridProgram.h"
#include "runtime/aot/GridSteps.h"

#include <gtest/gtest.h>

#include <random>

namespace nereid::aot {
namespace {

/// Two integer parameters, n and m, and a constant of one specialization.
Interface twoIntegers() {
  Interface interface;
  interface.parameters = {{.name = "x", .kernelName = "x", .kind = ParameterKind::Pointer},
                          {.name = "n", .kernelName = "n", .dtype = DType::I32},
                          {.name = "m", .kernelName = "m", .dtype = DType::I64}};
  interface.specializations = {{.signature = "x=*fp32,n=i32,m=i64,BLOCK=128", .slots = {0, 1, 2}}};
  interface.specializations[0].constants = {{"BLOCK", 128}};
  return interface;
}

/// The sizes as text, or "none" when there are none; by the steps and by the evaluator.
std::pair<std::string, std::string> bothWays(const std::string &text, int64_t n, int64_t m) {
  const Interface interface = twoIntegers();
  auto show = [](const int64_t *grid) {
    return std::to_string(grid[0]) + "," + std::to_string(grid[1]) + "," + std::to_string(grid[2]);
  };
  std::string bySteps = "none", byEvaluator = "none";
  Result<std::vector<Step>> steps = compileGrid(text, interface, interface.specializations[0]);
  if (steps) {
    const uint64_t slots[] = {0, static_cast<uint64_t>(n), static_cast<uint64_t>(m)};
    int64_t grid[3];
    if (!runGridSteps(steps->data(), static_cast<int64_t>(steps->size()), slots, grid)) {
      const bool isNegative = grid[0] < 0 || grid[1] < 0 || grid[2] < 0; // the launcher refuses it
      bySteps = isNegative ? "none" : show(grid);
    }
  }
  if (auto grid = language::evaluateGrid(text, {{"n", n}, {"m", m}, {"BLOCK", 128}})) {
    byEvaluator = show(grid->data());
  }
  return {bySteps, byEvaluator};
}

TEST(AotGrid, HandComputedValues) {
  EXPECT_EQ(bothWays("cdiv(n, BLOCK)", 1000, 0).first, "8,1,1");
  EXPECT_EQ(bothWays("(n + BLOCK - 1) // BLOCK, m", 1024, 7).first, "8,7,1");
  EXPECT_EQ(bothWays("1, 2, n if n > 3 else m", 3, 9).first, "1,2,9");
  EXPECT_EQ(bothWays("-7 // 2 + 10, -7 % 3, 7 % -3 + 5", 0, 0).first, "6,2,3");
  EXPECT_EQ(bothWays("n and m, n or m, not n", 0, 5).first, "0,5,1");
  EXPECT_EQ(bothWays("next_power_of_2(n), min(n, m, 4), max(n, m, 4)", 5, 3).first, "8,3,5");
  EXPECT_EQ(bothWays("triton.cdiv(n, 2), tl.cdiv(m, 2)", 5, 8).first, "3,4,1");
  EXPECT_EQ(bothWays("2 ** n, 1 << m, 256 >> 3", 10, 4).first, "1024,16,32");
  EXPECT_EQ(bothWays("abs(n), ~n + 5, n ^ m", 3, 5).first, "3,1,6");
  EXPECT_EQ(bothWays("n >= m, n != m, n <= 3", 3, 5).first, "0,1,1");
}

TEST(AotGrid, NoValue) {
  for (const char *text : {"n // m", "n % m", "cdiv(n, m)", "1 << (m - 1)", "2 ** (m - 1)",
                           "n * 9223372036854775807", "next_power_of_2(m - 1)", "m - 1"}) {
    EXPECT_EQ(bothWays(text, 7, 0), (std::pair<std::string, std::string>("none", "none"))) << text;
  }
}

TEST(AotGrid, Refused) {
  const Interface interface = twoIntegers();
  auto codeOf = [&](const std::string &text) {
    auto steps = compileGrid(text, interface, interface.specializations[0]);
    return steps ? std::string("accepted") : steps.error().code;
  };
  for (const char *text : {"blocks", "x", "n / 2", "1, 2, 3, 4", "n.size", "\"n\"", "cdiv(n)",
                           "sqrt(n)", "1.5", "min(n)", "abs(n, m)"}) {
    EXPECT_EQ(codeOf(text), "E0021") << text;
  }
  EXPECT_EQ(codeOf("n +"), "E0105");
  // The nearest name is in the help.
  auto steps = compileGrid("BLOK", interface, interface.specializations[0]);
  ASSERT_FALSE(steps);
  EXPECT_EQ(steps.error().help, "did you mean 'BLOCK'?");
}

TEST(AotGrid, DeepExpressionsAreRefusedNotRun) {
  std::string text = "n";
  for (int i = 0; i < 70; ++i) {
    text = "1 + (" + text + ")";
  }
  const Interface interface = twoIntegers();
  auto steps = compileGrid(text, interface, interface.specializations[0]);
  ASSERT_FALSE(steps);
  EXPECT_EQ(steps.error().code, "E0021");
}

class RandomExpression {
public:
  explicit RandomExpression(uint32_t seed) : random(seed) {}

  std::string make(int depth) {
    if (depth == 0 || pick(6) == 0) {
      static const char *const leaves[] = {"n", "m",  "BLOCK", "0",       "1",
                                           "2", "63", "-1",    "1000003", "9223372036854775807"};
      return leaves[pick(10)];
    }
    const std::string a = make(depth - 1), b = make(depth - 1);
    switch (pick(5)) {
    case 0: {
      static const char *const functions[] = {"min", "max", "cdiv"};
      return std::string(functions[pick(3)]) + "(" + a + ", " + b + ")";
    }
    case 1:
      return "(" + a + " if " + b + " else " + make(depth - 1) + ")";
    case 2: {
      static const char *const unaries[] = {"-", "~", "not ", "abs", "next_power_of_2"};
      return std::string(unaries[pick(5)]) + "(" + a + ")";
    }
    default: {
      static const char *const operators[] = {"+", "-", "*",  "//", "%",  "<<", ">>", "&",   "|",
                                              "^", "<", "<=", "==", "!=", ">",  ">=", "and", "or"};
      return "((" + a + ") " + operators[pick(18)] + " (" + b + "))";
    }
    }
  }

private:
  uint32_t pick(uint32_t count) { return static_cast<uint32_t>(random()) % count; }
  std::mt19937 random;
};

TEST(AotGrid, RandomExpressionsAgreeWithTheEvaluator) {
  int withValue = 0;
  for (uint32_t seed = 0; seed < 4000; ++seed) {
    const std::string text = RandomExpression(seed).make(4);
    const auto [bySteps, byEvaluator] = bothWays(text, seed % 37, seed % 5);
    EXPECT_EQ(bySteps, byEvaluator) << text;
    withValue += bySteps != "none";
  }
  EXPECT_GT(withValue, 1000);
}

} // namespace
} // namespace nereid::aot
