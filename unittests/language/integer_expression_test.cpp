// SPDX-License-Identifier: Apache-2.0
// Integer expressions against Python's answers, and every way they can fail.
#include "lib/language/IntegerExpression.h"

#include <gtest/gtest.h>

using namespace nereid;
using namespace nereid::language;

namespace {

const NamedIntegers names = {{"n", 1000}, {"BLOCK", 256}, {"zero", 0}, {"m", -7}};

int64_t value(std::string_view text) {
  Result<int64_t> result = evaluateInteger("size", text, names);
  EXPECT_TRUE(result) << text << "\n" << (result ? "" : render(result.error()));
  return result ? *result : -999999;
}

/// "code column-end"
std::string failure(std::string_view text) {
  Result<int64_t> result = evaluateInteger("size", text, names);
  if (result) {
    return "no error";
  }
  const Diagnostic &d = result.error();
  EXPECT_EQ(d.file, "size");
  return d.code + " " + std::to_string(d.range.column) + "-" + std::to_string(d.range.endColumn);
}

TEST(IntegerExpressions, Arithmetic) {
  EXPECT_EQ(value("2 + 3 * 4 - 1"), 13);
  EXPECT_EQ(value("-2 ** 2"), -4);
  EXPECT_EQ(value("2 ** 3 ** 2"), 512);
  EXPECT_EQ(value("2 ** 62"), int64_t(1) << 62);
  EXPECT_EQ(value("(-2) ** 63"), INT64_MIN);
  EXPECT_EQ(value("0 ** 0"), 1);
  EXPECT_EQ(value("1 ** 9000000000000000000"), 1);
  EXPECT_EQ(value("0 ** 9000000000000000000"), 0);
  EXPECT_EQ(value("(0-1) ** 9000000000000000001"), -1);
  EXPECT_EQ(value("1 << 10 | 3 & 6 ^ 1"), 1024 | ((3 & 6) ^ 1));
  EXPECT_EQ(value("-5 >> 1"), -3);
  EXPECT_EQ(value("-5 >> 100"), -1);
  EXPECT_EQ(value("0 << 100"), 0);
  EXPECT_EQ(value("~5"), -6);
  EXPECT_EQ(value("-9223372036854775808"), INT64_MIN);
  EXPECT_EQ(value("9223372036854775807"), INT64_MAX);
  EXPECT_EQ(value("True + True"), 2);
}

TEST(IntegerExpressions, DivisionRoundsDownAsPythonDoes) {
  EXPECT_EQ(value("7 // 2"), 3);
  EXPECT_EQ(value("-7 // 2"), -4);
  EXPECT_EQ(value("7 // -2"), -4);
  EXPECT_EQ(value("-7 // -2"), 3);
  EXPECT_EQ(value("7 % 3"), 1);
  EXPECT_EQ(value("-7 % 3"), 2);
  EXPECT_EQ(value("7 % -3"), -2);
  EXPECT_EQ(value("-7 % -3"), -1);
  EXPECT_EQ(value("-9223372036854775808 % -1"), 0);
  EXPECT_EQ(value("5 // -1"), -5);
}

TEST(IntegerExpressions, Functions) {
  EXPECT_EQ(value("cdiv(n, BLOCK)"), 4);
  EXPECT_EQ(value("triton.cdiv(1024, 256)"), 4);
  EXPECT_EQ(value("tl.cdiv(1025, 256)"), 5);
  EXPECT_EQ(value("cdiv(0, 4)"), 0);
  EXPECT_EQ(value("cdiv(m, 2)"), -3);
  EXPECT_EQ(value("cdiv(5, -9223372036854775807 - 1)"), 0); // no product of the two is formed
  EXPECT_EQ(value("5 % (-9223372036854775807 - 1)"), -9223372036854775803);
  EXPECT_EQ(value("cdiv(9223372036854775807, 2)"), int64_t(1) << 62);
  EXPECT_EQ(value("cdiv(9223372036854775807, 1)"), INT64_MAX);
  EXPECT_EQ(value("next_power_of_2(0)"), 0);
  EXPECT_EQ(value("next_power_of_2(1)"), 1);
  EXPECT_EQ(value("triton.next_power_of_2(n)"), 1024);
  EXPECT_EQ(value("next_power_of_2(1024)"), 1024);
  EXPECT_EQ(value("min(3, 1, 2) + max(m, BLOCK, 4) + abs(m)"), 1 + 256 + 7);
}

TEST(IntegerExpressions, ConditionsEvaluateOnlyWhatIsTaken) {
  EXPECT_EQ(value("1 if n > 5 else 2"), 1);
  EXPECT_EQ(value("1 // zero if zero else 2"), 2);
  EXPECT_EQ(value("zero and 1 // zero"), 0);
  EXPECT_EQ(value("n or 1 // zero"), 1000);
  EXPECT_EQ(value("zero or m"), -7);
  EXPECT_EQ(value("not zero"), 1);
  EXPECT_EQ(value("(1 < 2) + (2 <= 2) + (3 > 2) + (2 >= 3) + (1 == 1) + (1 != 1)"), 4);
}

TEST(IntegerExpressions, FailuresPointAtTheirPart) {
  EXPECT_EQ(failure("n + blok"), "E0282 5-9");
  EXPECT_EQ(failure("1 + n // zero"), "E0284 5-14");
  EXPECT_EQ(failure("n % zero"), "E0284 1-9");
  EXPECT_EQ(failure("cdiv(n, zero)"), "E0284 1-14");
  EXPECT_EQ(failure("2 ** -1"), "E0284 1-8");
  EXPECT_EQ(failure("1 << -1"), "E0284 1-8");
  EXPECT_EQ(failure("next_power_of_2(m)"), "E0284 1-19");
  EXPECT_EQ(failure("next_power_of_2(2**62 + 1)"), "E0284 1-27");
  EXPECT_EQ(failure("2 ** 63"), "E0283 1-8");
  EXPECT_EQ(failure("n * 9223372036854775807"), "E0283 1-24");
  EXPECT_EQ(failure("9223372036854775807 + 1"), "E0283 1-24");
  EXPECT_EQ(failure("-9223372036854775808 - 1"), "E0283 1-25");
  EXPECT_EQ(failure("-9223372036854775808 // -1"), "E0283 1-27");
  EXPECT_EQ(failure("1 << 63"), "E0283 1-8");
  EXPECT_EQ(failure("9223372036854775808"), "E0283 1-20");
  EXPECT_EQ(failure("abs(-9223372036854775808)"), "E0283 1-26");
  EXPECT_EQ(failure("-(-9223372036854775807 - 1)"), "E0283 1-28");
  EXPECT_EQ(failure("n / 2"), "E0281 1-6");
  EXPECT_EQ(failure("1.5"), "E0281 1-4");
  EXPECT_EQ(failure("n + 'a'"), "E0281 5-8");
  EXPECT_EQ(failure("1 < n < 3"), "E0281 1-10");
  EXPECT_EQ(failure("n, 1"), "E0281 1-5");
  EXPECT_EQ(failure("sqrt(n)"), "E0281 1-5");
  EXPECT_EQ(failure("cdiv(n)"), "E0281 1-8");
  EXPECT_EQ(failure("min(n)"), "E0281 1-7");
  EXPECT_EQ(failure("cdiv(n, y=2)"), "E0281 1-13");
  EXPECT_EQ(failure("n.real"), "E0281 1-7");
  EXPECT_EQ(failure("n in 3"), "E0281 1-7");
  EXPECT_EQ(failure("torch.cdiv(1, 2)"), "E0281 1-17");
  EXPECT_EQ(failure("n +"), "E0105 4-5");
  EXPECT_EQ(failure(""), "E0105 1-2");
}

TEST(IntegerExpressions, NearestNamesAreOffered) {
  EXPECT_EQ(evaluateInteger("size", "BLOK", names).error().help, "did you mean 'BLOCK'?");
  EXPECT_EQ(evaluateInteger("size", "cdvi(1, 2)", names).error().help, "did you mean 'cdiv'?");
  EXPECT_EQ(evaluateInteger("size", "q", {}).error().help,
            "no names have values here; write a number");
}

TEST(Grids, OneToThreeSizes) {
  using Grid = std::array<int64_t, 3>;
  EXPECT_EQ(*evaluateGrid("cdiv(n, BLOCK), 1, 1", names), (Grid{4, 1, 1}));
  EXPECT_EQ(*evaluateGrid("n", names), (Grid{1000, 1, 1}));
  EXPECT_EQ(*evaluateGrid("(n, 2)", names), (Grid{1000, 2, 1}));
  EXPECT_EQ(*evaluateGrid("(3,)", names), (Grid{3, 1, 1}));
  EXPECT_EQ(*evaluateGrid("0", names), (Grid{0, 1, 1}));
}

TEST(Grids, Failures) {
  EXPECT_EQ(evaluateGrid("1, 2, 3, 4", names).error().code, "E0281");
  EXPECT_EQ(evaluateGrid("()", names).error().code, "E0281");
  EXPECT_EQ(evaluateGrid("1, 1 +", names).error().code, "E0105");
  Result<std::array<int64_t, 3>> negative = evaluateGrid("1, m", names);
  ASSERT_FALSE(negative);
  EXPECT_EQ(render(negative.error()),
            "grid:1:4: error: a grid size expects 0 or more, but got -7 [E0284]\n1, m\n   ^\n");
}

} // namespace
