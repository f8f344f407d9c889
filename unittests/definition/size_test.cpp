// SPDX-License-Identifier: Apache-2.0
// Numbers made of sizes: what Python computes of them, and what they are in a graph.
#include "unittests/definition/Loading.h"

#include "lib/definition/operations/Operations.h"
#include "lib/definition/operations/Promotion.h"
#include "lib/definition/operations/SizeExpression.h"

#include <algorithm>
#include <cmath>
#include <limits>

namespace nereid::definition {
namespace {

Binding sizes(int64_t d) {
  Binding binding;
  binding.symbols = {{"D", d}, {"H", 7}};
  return binding;
}

/// The number by which `body` multiplies x.
Node factor(const std::string &body) {
  Loaded loaded = load(withBody("out = x * (" + body + ")"));
  EXPECT_TRUE(loaded.op) << loaded.diags.render();
  return loaded.op ? loaded.op->nodes[static_cast<size_t>(loaded.op->nodes.back().inputs[1])]
                   : Node();
}

TEST(Sizes, AreWhatPythonComputes) {
  const std::vector<std::pair<std::string, double>> cases = {
      {"D", 12},
      {"D - 20", -8},
      {"-D", -12},
      {"2 * D + 1", 25},
      {"(D - 20) // 3", -3},
      {"(D - 20) % 3", 1},
      {"(D - 20) // -3", 2},
      {"(D - 20) % -3", -2},
      {"D ** 2", 144},
      {"(D - 13) ** 3", -1},
      {"(D - 13) ** 4", 1},
      {"D ** -1", 1.0 / 12},
      {"D / 8", 1.5},
      {"1 / D", 1.0 / 12},
      {"math.sqrt(D)", std::sqrt(12.0)},
      {"1.5 / math.sqrt(D - 3)", 0.5},
      {"math.log(D * D) + math.exp(0 * D)", std::log(144.0) + 1},
      {"float(D) / 2", 6},
      {"D ** 0.5", std::sqrt(12.0)},
  };
  for (const auto &[text, expected] : cases) {
    const Node node = factor(text);
    ASSERT_TRUE(isSize(node)) << text;
    auto number = evaluateSizes(sizeText(node), sizes(12));
    ASSERT_TRUE(bool(number)) << text << render(number.error());
    EXPECT_DOUBLE_EQ(number->real, expected) << text << " as " << sizeText(node);
    EXPECT_EQ(number->isWhole, operandKind(node) == OperandKind::Whole) << text;
    EXPECT_TRUE(!number->isWhole || static_cast<double>(number->whole) == expected) << text;
  }
}

TEST(Sizes, OfZeroDivideAsFloatsDo) {
  auto number = evaluateSizes("1 / D", sizes(0));
  ASSERT_TRUE(bool(number));
  EXPECT_EQ(number->real, INFINITY);
}

TEST(Sizes, BeyondSixtyFourBitsAreRefused) {
  for (const char *text :
       {"D * D", "D ** 3", "D + D", "-(-D - 2) + D", "D // 0", "D % 0", "(-D - 2) // -1 - 5"}) {
    auto number = evaluateSizes(text, sizes(std::numeric_limits<int64_t>::max() - 1));
    ASSERT_FALSE(bool(number)) << text;
    EXPECT_EQ(number.error().code, "E0604") << text;
  }
  EXPECT_EQ(evaluateSizes("K", sizes(1)).error().code, "E0604");
}

TEST(Sizes, KeepIntegersWhatTheyAre) {
  const std::string head = "[operator]\nname = \"t\"\nsummary = \"s\"\ndtypes = [\"int32\"]\n"
                           "body = \"\"\"\nout = x ";
  const std::string tail = "\n\"\"\"\n[inputs.x]\nshape = [\"D\"]\n[outputs.out]\nshape = [\"D\"]\n"
                           "[performance]\ncases = [{ D = 4 }]\n";
  EXPECT_TRUE(load(head + "* D + D // 2" + tail).op);
  Loaded fraction = load(head + "* (1 / D)" + tail); // float32, which the output is not
  EXPECT_FALSE(fraction.op);
}

TEST(Sizes, BecomeTheConstantsOfACase) {
  Loaded loaded = load(withBody("out = x / math.sqrt(D) + D * 3"));
  ASSERT_TRUE(loaded.op) << loaded.diags.render();
  auto op = withSizes(*loaded.op, sizes(16));
  ASSERT_TRUE(bool(op)) << render(op.error());
  std::vector<double> numbers;
  for (const Node &node : op->nodes) {
    EXPECT_FALSE(isSize(node));
    if (node.op == "constant") {
      numbers.push_back(constantValue(node));
    }
  }
  EXPECT_NE(std::find(numbers.begin(), numbers.end(), 4.0), numbers.end());
  EXPECT_NE(std::find(numbers.begin(), numbers.end(), 48.0), numbers.end());
  EXPECT_EQ(withSizes(*loaded.op, Binding()).error().code, "E0604");
}

TEST(Sizes, AloneAreNoOperator) {
  Loaded loaded = load(withBody("out = D + 1"));
  EXPECT_FALSE(loaded.op);
  EXPECT_EQ(loaded.code(), "E0608");
  EXPECT_EQ(load(withBody("out = x[0] * D")).code(), "E0604");
  EXPECT_EQ(load(withBody("out = x * (D // 2.0)")).code(), "E0608");
}

} // namespace
} // namespace nereid::definition
