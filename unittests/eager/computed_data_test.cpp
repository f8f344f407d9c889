// SPDX-License-Identifier: Apache-2.0
// Test data that are computed of other inputs: the values, and what definitions may not say.
#include "unittests/eager/Values.h"

#include "lib/definition/cases/CaseGrid.h"
#include "lib/definition/cases/ComputedData.h"
#include "lib/eager/baseline/Eager.h"

namespace nereid::eager {
namespace {

std::string pooling(const std::string &data, const std::string &constraint = "P == H // 2") {
  const std::string text = R"([operator]
name = "t"
summary = "s"
constraints = ["H >= 2", "CONSTRAINT"]
dtypes = ["float32", "float16"]
body = "out = x.sum(-1) + places.sum(-1) + y"

[inputs.x]
shape = ["C", "H"]

[inputs.places]
shape = ["C", "P"]
dtype = "int64"
range = [0, "H"]
data = "DATA"

[inputs.y]
shape = ["C"]

[outputs.out]
shape = ["C"]

[performance]
cases = [{ C = 3, H = 9, P = 4 }]
)";
  std::string result = text;
  result.replace(result.find("CONSTRAINT"), 10, constraint);
  result.replace(result.find("DATA"), 4, data);
  return result;
}

std::optional<Operator> parsed(const std::string &text, Diagnostics &diags) {
  return definition::parseOperator("t.toml", text, diags);
}

Result<std::vector<Tensor>> computed(const Operator &op, std::span<const Tensor> inputs) {
  return runGraph(op, inputs, runtime::defaultPool());
}

constexpr const char *ofX = "F.max_pool1d(x, 2, return_indices=True)[1]";

TEST(ComputedData, AreWhatTheExpressionGives) {
  Diagnostics diags;
  const auto op = parsed(pooling(ofX), diags);
  ASSERT_TRUE(op) << diags.render();
  for (const auto layout :
       {definition::LayoutKind::Contiguous, definition::LayoutKind::OuterStride}) {
    for (const DType type : {DType::F32, DType::F16}) {
      definition::GridCase grid;
      grid.binding.symbols = {{"C", 3}, {"H", 9}, {"P", 4}};
      grid.layout = layout;
      grid.seed = 5;
      const auto inputs = definition::makeInputs(*op, grid, type, computed);
      ASSERT_TRUE(inputs) << render(inputs.error());
      const Tensor &x = (*inputs)[0].view, &places = (*inputs)[1].view;
      for (int64_t row = 0; row < 3; ++row) {
        for (int64_t at = 0; at < 4; ++at) {
          const bool isSecond = x.at(row * 9 + 2 * at + 1) > x.at(row * 9 + 2 * at);
          EXPECT_EQ(places.at(row * 4 + at), static_cast<double>(2 * at + (isSecond ? 1 : 0)));
        }
      }
    }
  }
}

TEST(ComputedData, HaveTheInputsShape) {
  Diagnostics diags;
  const auto op = parsed(pooling(ofX, "P <= H"), diags); // it does not say which size P is
  ASSERT_TRUE(op) << diags.render();
  definition::GridCase grid;
  grid.binding.symbols = {{"C", 3}, {"H", 9}, {"P", 5}};
  const auto inputs = definition::makeInputs(*op, grid, DType::F32, computed);
  ASSERT_FALSE(inputs);
  EXPECT_EQ(inputs.error().code, "E0617");
}

TEST(ComputedData, AreOfTensorsInFrontAndOfTheInputsType) {
  for (const char *data :
       {"F.max_pool1d(y, 2, return_indices=True)[1]", "places", "x", "x.argmax(dim=-1)", "x +"}) {
    Diagnostics diags;
    EXPECT_FALSE(parsed(pooling(data), diags)) << data;
    EXPECT_NE(diags.render().find("[E0602]"), std::string::npos) << diags.render();
  }
}

} // namespace
} // namespace nereid::eager
