// SPDX-License-Identifier: Apache-2.0
// Values of kernels are called what the operator's body calls them, and nothing else of a kernel
// loses its name by that.
#include "unittests/generator/Making.h"

#include <algorithm>
#include <set>
#include <sstream>

namespace nereid::generator {
namespace {

constexpr const char *rowShape = "\"...\", \"D\"";

std::string kernelTexts(const definition::Operator &op) {
  std::string all;
  for (const std::string &kernel : kernelsOf(op).program.kernels) {
    all += kernel + "\n";
  }
  return all;
}

bool contains(const std::string &text, const std::string &part) {
  return text.find(part) != std::string::npos;
}

/// Names before " = " at the begin of a statement, and those of the last `def` before them.
void expectNoParameterIsAssigned(const std::string &text) {
  std::set<std::string> parameters;
  std::istringstream lines(text);
  bool isInHead = false;
  for (std::string line; std::getline(lines, line);) {
    if (line.starts_with("def ")) {
      parameters.clear();
      isInHead = true;
    }
    if (isInHead) {
      std::replace_if(line.begin(), line.end(), [](char c) { return c == '(' || c == ','; }, ' ');
      std::istringstream words(line);
      for (std::string word; words >> word;) {
        parameters.insert(word.substr(0, word.find(':')));
      }
      isInHead = !contains(line, "):");
      continue;
    }
    const size_t equals = line.find(" = ");
    if (equals != std::string::npos && line.find('(') > equals) {
      const std::string name =
          line.substr(line.find_first_not_of(' '), equals - line.find_first_not_of(' '));
      EXPECT_FALSE(parameters.contains(name)) << line << "\n" << text;
      EXPECT_NE(name, "tl") << text;
    }
  }
}

TEST(BodyNames, valuesHaveThem) {
  const std::string text =
      kernelTexts(made("biased = x + y\nout = torch.relu(biased)", inputXY, rowShape));
  EXPECT_TRUE(contains(text, "    biased = x + y\n")) << text;
  EXPECT_TRUE(contains(text, "    out = tl.where(biased < 0.0, 0.0, biased)\n")) << text;
}

TEST(BodyNames, theFirstOneStays) {
  const std::string text = kernelTexts(
      made("first = x + y\nsecond = first\nout = torch.relu(second) * (x + y)", inputXY, rowShape));
  EXPECT_TRUE(contains(text, "    first = x + y\n")) << text;
  EXPECT_FALSE(contains(text, "second")) << text;
}

TEST(BodyNames, reductionsAndTheirLanesHaveThem) {
  const std::string text = kernelTexts(
      made("peak = torch.amax(x, dim=-1, keepdim=True)\nout = x - peak", inputXY, rowShape));
  EXPECT_TRUE(contains(text, " peak_lanes = ")) << text; // of the loop over long rows
  EXPECT_TRUE(contains(text, " peak = ")) << text;
}

TEST(BodyNames, valuesInMemoryHaveThem) {
  const std::string text = kernelTexts(made("hidden = x @ w\nout = torch.relu(hidden) @ v",
                                            "[inputs.x]\nshape = [\"M\", \"K\"]\n"
                                            "[inputs.w]\nshape = [\"K\", \"N\"]\n"
                                            "[inputs.v]\nshape = [\"N\", \"L\"]\n",
                                            "\"M\", \"L\""));
  EXPECT_TRUE(contains(text, " hidden = tl.sum(")) << text; // of the parts that one kernel leaves
  EXPECT_TRUE(contains(text, " hidden = tl.load(saved_ptr")) << text;
}

TEST(BodyNames, helpersAndLoopsHaveThem) {
  const std::string text = kernelTexts(
      made("def scaled(value, by):\n    wide = value * by\n    return wide + torch.exp(wide)\n\n"
           "acc = x\nfor k in range(3):\n    acc = acc * acc + scaled(x, k + 1)\n"
           "out = acc * acc",
           "[inputs.x]\nshape = [\"...\", \"D\"]\n", rowShape, "\"float32\""));
  // x times 1 is x.
  for (const char *line : {" acc = x * x + (x + tl.exp(x))\n", " wide = x * 2.0\n",
                           " acc_1 = acc * acc + (wide + tl.exp(wide))\n", " wide_1 = x * 3.0\n",
                           " acc_2 = acc_1 * acc_1 + (wide_1 + tl.exp(wide_1))\n"}) {
    EXPECT_TRUE(contains(text, line)) << line << text;
  }
}

TEST(BodyNames, nothingElseLosesItsName) {
  const std::string text = kernelTexts(
      made("x_ptr = x + y\nWIDE = torch.relu(x_ptr)\nD_ = WIDE - y\nrow = D_ * D_\n"
           "inside = torch.exp(row) + row\nout = inside * inside - torch.sum(inside, dim=-1, "
           "keepdim=True)",
           inputXY, rowShape));
  expectNoParameterIsAssigned(text);
  EXPECT_TRUE(contains(text, "tl.load(x_ptr + ")) << text;
  EXPECT_TRUE(contains(text, " x_ptr_1 = x + y\n")) << text;
  EXPECT_TRUE(contains(text, " D_1 = ")) << text;
  EXPECT_FALSE(contains(text, " D = ")) << text;
}

} // namespace
} // namespace nereid::generator
