// SPDX-License-Identifier: Apache-2.0
// Layout of generated C++, and what the performance program cuts into parts.
#include "unittests/generator/Making.h"

#include "lib/generator/CompanionWriter.h"
#include "lib/generator/SourceLayout.h"

#include <sstream>

namespace nereid::generator {
namespace {

std::vector<std::string> repeated(size_t count, const std::string &item) {
  return std::vector<std::string>(count, item);
}

TEST(SourceLayout, KeepsWhatFitsInOneLine) {
  EXPECT_EQ(packed("  call(", {"a", "b"}, ");\n"), "  call(a, b);\n");
  EXPECT_EQ(packed("call(", {}, ");"), "call();");
  EXPECT_EQ(packed("sum = ", {"a", "b"}, ";", " +"), "sum = a + b;");
}

TEST(SourceLayout, FillsExactlyTheLimit) {
  const std::string wide(90, 'x');
  EXPECT_EQ(packed("call(", {wide, "a"}, ");\n"), "call(" + wide + ", a);\n") << "100 columns";
  EXPECT_EQ(packed("call(", {wide, "abcd"}, ");\n"), "call(" + wide + ",\n     abcd);\n");
}

TEST(SourceLayout, ContinuesBelowTheFirstItem) {
  const std::string item(30, 'x');
  EXPECT_EQ(packed("  call(", repeated(4, item), ");"),
            "  call(" + item + ", " + item + ",\n       " + item + ", " + item + ");");
}

TEST(SourceLayout, BreaksAnAssignmentUnlessThatTakesMoreLines) {
  const std::string head = "  const auto y = call(", item(27, 'x'), longer(30, 'x');
  EXPECT_EQ(packed(head, repeated(3, item), ");"),
            "  const auto y =\n      call(" + item + ", " + item + ", " + item + ");");
  EXPECT_EQ(packed(head, repeated(3, longer), ");"),
            head + longer + ", " + longer + ",\n" + std::string(head.size(), ' ') + longer + ");");
}

TEST(SourceLayout, MovesAnItemThatDoesNotFitBesideTheHead) {
  const std::string head = "  " + std::string(60, 'h') + "(", item(50, 'x');
  EXPECT_EQ(packed(head, {item}, ");"), head + "\n      " + item + ");");
}

TEST(SourceLayout, BreaksCommentsBetweenWords) {
  EXPECT_EQ(commentLines("two words"), "// two words\n");
  const std::string word(60, 'w');
  EXPECT_EQ(commentLines(word + " " + word), "// " + word + "\n// " + word + "\n");
}

class ShippedCompanions : public testing::TestWithParam<std::string> {};
INSTANTIATE_TEST_SUITE_P(All, ShippedCompanions, testing::ValuesIn(sampledOperators()),
                         [](const auto &info) { return info.param; });

TEST_P(ShippedCompanions, StayWithinTheColumnLimit) {
  auto generation = generate(shipped(GetParam()), testChip(), nullptr);
  ASSERT_TRUE(bool(generation));
  for (const GeneratedFile &file : writeCompanions(*generation)) {
    std::istringstream stream(file.content);
    int number = 0;
    for (std::string line; std::getline(stream, line);) {
      ++number;
      EXPECT_LE(line.size(), 100u) << file.name << ":" << number << ": " << line;
    }
  }
}

} // namespace
} // namespace nereid::generator
