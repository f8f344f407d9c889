// SPDX-License-Identifier: Apache-2.0
// Expressions of launch tables as source text: the value they have there is the table's.
#include "lib/generator/launch/Spelling.h"

#include "lib/language/IntegerExpression.h"

#include <gtest/gtest.h>

#include <sstream>

namespace nereid::generator {
namespace {

std::string python(const std::string &expression) {
  return Spelling(ExpressionLanguage::Python, {{"N", "n_size"}}).text(expression);
}
std::string cpp(const std::string &expression) {
  return Spelling(ExpressionLanguage::Cpp, {{"N", "n_size"}}).text(expression);
}

TEST(Spelling, ParenthesesAreWrittenWhereTheyAreNeeded) {
  EXPECT_EQ(python("(M) + ((K))"), "M + K");
  EXPECT_EQ(python("(M + 1)*(K)"), "(M + 1) * K");
  EXPECT_EQ(python("M - (K - 1)"), "M - (K - 1)");
  EXPECT_EQ(python("M - K - 1"), "M - K - 1");
  EXPECT_EQ(python("(M*K)//(2)"), "M * K // 2");
  EXPECT_EQ(python("M//(K*2)"), "M // (K * 2)");
  EXPECT_EQ(python("-(M + K)*2"), "-(M + K) * 2");
  EXPECT_EQ(python("max(M, (K) + 1) > 2147483647"), "max(M, K + 1) > 2147483647");
}

TEST(Spelling, WhatChangesNothingIsNotWritten) {
  EXPECT_EQ(python("1 + (M - 1)*(1) + (K - 1)*(M)"), "1 + (M - 1) + (K - 1) * M");
  EXPECT_EQ(python("abs(0) + abs(1)*(M) + abs(M*N)*(K)"), "M + M * n_size * K");
  EXPECT_EQ(python("abs(M - K)*(K) + abs(-1)*(M)"), "abs(M - K) * K + abs(-1) * M");
  EXPECT_EQ(python("max(0, 0, M, M)"), "max(0, M)");
  EXPECT_EQ(python("min(M, M)"), "M");
  EXPECT_EQ(python("max(1, M, 4096)"), "max(4096, M)");
  EXPECT_EQ(python("min(max(1, 4096), M)"), "min(4096, M)");
  EXPECT_EQ(python("M*0 + K"), "K");
  EXPECT_EQ(python("M//(32768//8)"), "M // 4096");
  EXPECT_EQ(python("32768//0"), "32768 // 0");
}

TEST(Spelling, SumsOfNumbersAreNumbers) {
  EXPECT_EQ(python("N*(1 + 7)"), "n_size * 8");
  EXPECT_EQ(python("N + 1 + 1"), "n_size + 1 + 1");
}

TEST(Spelling, DifferencesOfNumbersAreNumbers) {
  EXPECT_EQ(python("4096//(2 - 0)"), "2048");
  EXPECT_EQ(python("1024//(2 - 1)"), "1024");
  EXPECT_EQ(python("1 - 2"), "1 - 2") << "no sign of its own";
  EXPECT_EQ(python("N - 1 - 1"), "n_size - 1 - 1");
}

TEST(Spelling, NamesAndFunctionsAreTheLanguages) {
  EXPECT_EQ(python("min(64, max(1, next_power_of_2((N))))*cdiv((N), BLOCK_Y)"),
            "min(64, max(1, triton.next_power_of_2(n_size))) * triton.cdiv(n_size, BLOCK_Y)");
  EXPECT_EQ(cpp("min(64, max(1, next_power_of_2((N))))*cdiv((N), BLOCK_Y)"),
            "std::min<int64_t>({64, std::max<int64_t>({1, nereid::nextPowerOf2(n_size)})}) * "
            "nereid::cdiv(n_size, BLOCK_Y)");
  EXPECT_EQ(cpp("(M - K)//2 + M%3"), "nereid::quotientRoundedDown(M - K, 2) + "
                                     "nereid::remainderRoundedDown(M, 3)");
  EXPECT_EQ(cpp("abs(M - 1)"), "nereid::magnitude(M - 1)");
}

/// Lines are no longer than what fits, and say what the one line says.
TEST(Spelling, LongExpressionsAreBroken) {
  std::string expression = "max(0, (first_size) + BLOCK_X, (second_size) + BLOCK_Y";
  for (int i = 0; i < 6; ++i) {
    expression +=
        ", abs(third_size - fourth_size)*(first_size + BLOCK_X - 1) + abs(second_size)*(fifth"
        "_size + " +
        std::to_string(i) + ")*(first_size + second_size)";
  }
  expression += ") > 2147483647";
  const Spelling spelling(ExpressionLanguage::Python, {});
  const std::string text = spelling.line("    WIDE=", expression, ",");
  std::istringstream lines(text);
  for (std::string line; std::getline(lines, line);) {
    EXPECT_LE(line.size(), 100u) << line;
  }
  std::string joined = text.substr(9);
  joined.erase(joined.rfind(",\n"));
  const language::NamedIntegers values = {
      {"first_size", 7},  {"second_size", 11}, {"third_size", 3}, {"fourth_size", 5},
      {"fifth_size", 13}, {"BLOCK_X", 8},      {"BLOCK_Y", 16}};
  auto value = [&](const std::string &whole) {
    auto result = language::evaluateInteger("test", whole, values);
    EXPECT_TRUE(bool(result)) << whole;
    return result ? *result : -1;
  };
  for (const char *limit : {"2147483647", "5000", "5600", "20"}) {
    auto with = [&](std::string each) { return each.replace(each.find("2147483647"), 10, limit); };
    EXPECT_EQ(value(with(expression)), value(with(joined))) << joined;
  }
}

TEST(Spelling, AnAssignmentOfPythonGoesOnInParentheses) {
  std::string sum = "first_size";
  for (int i = 0; i < 8; ++i) {
    sum += " + (second_size - 1)*third_size";
  }
  const std::string text =
      Spelling(ExpressionLanguage::Python, {}).line("    elements = ", sum, "");
  EXPECT_TRUE(text.starts_with("    elements = (\n        first_size\n        + ")) << text;
  EXPECT_TRUE(text.ends_with("\n    )\n")) << text;
}

/// A factor that is a comparison stays one where it takes several lines.
TEST(Spelling, BrokenComparisonsKeepTheirParentheses) {
  std::string longSum = "first_size";
  for (int i = 0; i < 8; ++i) {
    longSum += " + (second_size - 1)*third_size";
  }
  const std::string expression = "4*((" + longSum + ") % 5 > 0)*(first_size > 2)";
  std::string text = Spelling(ExpressionLanguage::Python, {}).line("    grid = ", expression, "");
  const language::NamedIntegers values = {{"first_size", 3}, {"second_size", 4}, {"third_size", 7}};
  auto value = [&](const std::string &whole) {
    auto result = language::evaluateInteger("test", whole, values);
    EXPECT_TRUE(bool(result)) << whole;
    return result ? *result : -1;
  };
  EXPECT_EQ(value(expression), 4);
  EXPECT_EQ(value(text.substr(text.find('=') + 2)), 4) << text;
}

} // namespace
} // namespace nereid::generator
