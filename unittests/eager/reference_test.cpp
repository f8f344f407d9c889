// SPDX-License-Identifier: Apache-2.0
// The reference with its bounds against eager execution on every shipped definition, type and case
// of the grid; and that it notices what is wrong.
#include "unittests/eager/Values.h"

#include "lib/definition/CaseGrid.h"
#include "lib/eager/Reference.h"

#include <cmath>
#include <filesystem>

namespace nereid::eager {
namespace {

using definition::GridCase;

Operator shipped(const std::string &name) {
  Diagnostics diags;
  auto op = definition::loadOperator(NEREID_SOURCE_DIR "/operators/" + name + ".toml", diags);
  EXPECT_TRUE(op) << diags.render();
  return *op;
}

std::vector<Tensor> views(const std::vector<definition::LaidOut> &inputs) {
  std::vector<Tensor> list;
  for (const definition::LaidOut &input : inputs) {
    list.push_back(input.view);
  }
  return list;
}

class ShippedTest : public testing::TestWithParam<std::string> {};

TEST_P(ShippedTest, EagerExecutionStaysWithinTheBounds) {
  Operator op = shipped(GetParam());
  for (DType dtype : op.dtypes) {
    for (const GridCase &grid : definition::accuracyGrid(op)) {
      auto inputs = definition::makeInputs(op, grid, dtype);
      ASSERT_TRUE(inputs) << render(inputs.error());
      std::vector<Tensor> in = views(*inputs);
      auto outputs = runGraph(op, in, runtime::defaultPool());
      ASSERT_TRUE(outputs) << render(outputs.error());
      auto agreement =
          checkOutputs(op, in, *outputs, dtype, Rounding::EachOperation, runtime::defaultPool());
      ASSERT_TRUE(agreement) << render(agreement.error());
      EXPECT_EQ(agreement->mismatches, 0)
          << op.name << " " << torchName(dtype) << " " << grid.name << " at "
          << agreement->firstIndex << ": got " << agreement->firstActual << ", expected "
          << agreement->firstExpected << " within " << agreement->firstBound;
      EXPECT_EQ(agreement->checked, (*outputs)[0].elementCount());
      bool isOrdinary = grid.data == definition::DataKind::Normal;
      EXPECT_TRUE(!isOrdinary || agreement->unverifiable == 0) << grid.name;
    }
  }
}

TEST_P(ShippedTest, DoubleExecutionIsTheReference) {
  Operator op = shipped(GetParam());
  GridCase grid = definition::accuracyGrid(op)[5];
  auto inputs = definition::makeInputs(op, grid, DType::F64);
  ASSERT_TRUE(inputs);
  std::vector<Tensor> in = views(*inputs);
  auto outputs = runGraph(op, in, runtime::defaultPool());
  auto reference =
      runReference(op, in, DType::F64, Rounding::OncePerResult, runtime::defaultPool());
  ASSERT_TRUE(outputs && reference);
  ASSERT_EQ((*outputs)[0].dtype(), DType::F64);
  for (int64_t i = 0; i < (*outputs)[0].elementCount(); ++i) {
    double expected = (*reference)[0].values.at(i);
    EXPECT_NEAR((*outputs)[0].at(i), expected, 1e-12 * (1 + std::fabs(expected)));
  }
}

TEST_P(ShippedTest, OneWrongElementIsFound) {
  Operator op = shipped(GetParam());
  GridCase grid = definition::accuracyGrid(op)[7]; // odd, 1000 columns
  auto inputs = definition::makeInputs(op, grid, DType::F32);
  ASSERT_TRUE(inputs);
  std::vector<Tensor> in = views(*inputs);
  auto outputs = runGraph(op, in, runtime::defaultPool());
  ASSERT_TRUE(outputs);
  int64_t last = (*outputs)[0].elementCount() - 1;
  double right = (*outputs)[0].at(last);
  for (double wrong : {right * (1 + 1e-3) + 1e-4, std::nan(""), HUGE_VAL}) {
    (*outputs)[0].set(last, wrong);
    auto agreement =
        checkOutputs(op, in, *outputs, DType::F32, Rounding::OncePerResult, runtime::defaultPool());
    ASSERT_TRUE(agreement);
    EXPECT_EQ(agreement->mismatches, 1) << wrong;
    EXPECT_EQ(agreement->firstIndex, last);
  }
}

INSTANTIATE_TEST_SUITE_P(All, ShippedTest,
                         testing::Values("broadcast_add", "bias_gelu", "bias_relu", "scale_shift",
                                         "mask_add", "softmax", "layer_norm"),
                         [](const auto &info) { return info.param; });

TEST(Reference, BlocksCoverEveryElementOnce) {
  // Several blocks, a cut below the first dimension, an operand that is broadcast over the cut.
  Operator op = shipped("mask_add");
  GridCase grid;
  grid.binding.symbols = {{"B", 2}, {"H", 3}, {"Q", 67}, {"K", 129}};
  auto inputs = definition::makeInputs(op, grid, DType::F32);
  ASSERT_TRUE(inputs);
  std::vector<Tensor> in = views(*inputs);
  auto reference =
      runReference(op, in, DType::F32, Rounding::OncePerResult, runtime::defaultPool());
  ASSERT_TRUE(reference);
  const Tensor &values = (*reference)[0].values;
  ASSERT_EQ(values.elementCount(), 2 * 3 * 67 * 129);
  for (int64_t i = 0; i < values.elementCount(); ++i) {
    double mask = in[1].at(i / (3 * 67 * 129) * 129 + i % 129);
    ASSERT_EQ(values.at(i), in[0].at(i) * 0.125 + mask) << i;
  }
}

TEST(Reference, BoundsGrowWithCancellation) {
  Diagnostics diags;
  auto op = definition::parseOperator(
      "t.toml",
      "[operator]\nname='t'\nsummary='s'\ndtypes=['float32']\nbody='out = (x * x) - y'\n"
      "[inputs.x]\nshape=['D']\n[inputs.y]\nshape=['D']\n[outputs.out]\nshape=['D']\n"
      "[performance]\ncases=[{D=1}]\n",
      diags);
  ASSERT_TRUE(op) << diags.render();
  std::vector<Tensor> in = {make({1}, {1.0f + 1e-4f}), make({1}, {1.0f})};
  auto reference =
      runReference(*op, in, DType::F32, Rounding::OncePerResult, runtime::defaultPool());
  ASSERT_TRUE(reference);
  double bound = (*reference)[0].bounds.at(0), value = (*reference)[0].values.at(0);
  EXPECT_GT(bound, std::ldexp(1.0, -25)); // the product's rounding survives, the result is small
  EXPECT_LT(bound, std::ldexp(1.0, -22));
  EXPECT_GT(bound / value, 1e-4);
}

TEST(Reference, WrongTensorsAreRefused) {
  Operator op = shipped("broadcast_add");
  std::vector<Tensor> in = {make({2, 3}, {1, 2, 3, 4, 5, 6}), make({4}, {1, 2, 3, 4})};
  EXPECT_EQ(runReference(op, in, DType::F32, Rounding::OncePerResult, runtime::defaultPool())
                .error()
                .code,
            "E0604");
  in[1] = make({3}, {1, 2, 3});
  std::vector<Tensor> out = {make({3, 2}, {})};
  EXPECT_EQ(checkOutputs(op, in, out, DType::F32, Rounding::OncePerResult, runtime::defaultPool())
                .error()
                .code,
            "E0604");
}

} // namespace
} // namespace nereid::eager
