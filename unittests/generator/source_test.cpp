// SPDX-License-Identifier: Apache-2.0
// Structure of the generated files; what they compute is tested in unittests/develop.
#include "unittests/generator/Making.h"

#include "lib/generator/call/CallPlan.h"
#include "lib/language/signature/Signature.h"
#include "lib/language/syntax/Parser.h"

namespace nereid::generator {
namespace {

bool contains(const std::string &text, const std::string &part) {
  return text.find(part) != std::string::npos;
}

class ShippedSource : public testing::TestWithParam<std::string> {};
INSTANTIATE_TEST_SUITE_P(All, ShippedSource, testing::ValuesIn(shippedOperators()),
                         [](const auto &info) { return info.param; });

TEST_P(ShippedSource, ParsesAndHasTheKernelsOfItsTables) {
  auto generation = generate(shipped(GetParam()), testChip(), nullptr);
  ASSERT_TRUE(bool(generation));
  Diagnostics diags;
  auto module = language::parseModule("t.py", writeTriton(*generation), diags);
  ASSERT_TRUE(module.has_value()) << diags.render();
  EXPECT_FALSE(diags.hasErrors()) << diags.render();
  for (const auto &[dtype, table] : generation->program.tables) {
    EXPECT_FALSE(table.kernels.empty());
    for (const LaunchEntry &kernel : table.kernels) {
      EXPECT_NE(module->find(kernel.function), nullptr) << kernel.function;
    }
  }
}

TEST_P(ShippedSource, EveryScheduleOfTheSpaceHasASignatureTheKernelAccepts) {
  auto generation = generate(shipped(GetParam()), testChip(), nullptr);
  ASSERT_TRUE(bool(generation));
  Diagnostics diags;
  auto module = language::parseModule("t.py", writeTriton(*generation), diags);
  ASSERT_TRUE(module.has_value());
  for (const definition::Case &one : generation->op().performanceCases) {
    std::vector<Schedule> space =
        generation->space(one.binding, generation->op().dtypes[0], testChip());
    EXPECT_GE(space.size(), 1u);
    for (const Schedule &schedule : space) {
      auto call = planCall(*generation, schedule, one.binding, generation->op().dtypes[0]);
      ASSERT_TRUE(bool(call)) << render(call.error());
      EXPECT_FALSE(call->isEmpty());
      for (const LaunchPlan &plan : call->launches) {
        auto signature = language::parseSignature(plan.signature, *module->find(plan.function));
        ASSERT_TRUE(bool(signature)) << render(signature.error());
        size_t runTime = 0;
        for (const language::ParamType &param : signature->params) {
          runTime += param.kind != language::ParamType::Kind::Constexpr;
        }
        EXPECT_EQ(runTime, plan.arguments.size());
      }
    }
  }
}

std::string kernelsText(const definition::Operator &op) {
  std::string text;
  for (const std::string &kernel : kernelsOf(op).program.kernels) {
    text += kernel;
  }
  return text;
}

TEST(Source, LayerNormMasksTheSquares) {
  EXPECT_TRUE(contains(kernelsText(shipped("layer_norm")), "tl.where("));
}

TEST(Source, AMaximumKeepsNanInOnePass) {
  const std::string text = kernelsText(
      made("out = torch.amax(x, dim=-1)", "[inputs.x]\nshape = [\"...\", \"D\"]\n", "\"...\""));
  EXPECT_TRUE(contains(text, "propagate_nan=tl.PropagateNan.ALL")) << text;
  EXPECT_FALSE(contains(text, "!=")) << text;
}

/// Of as many places as a type has, or fewer than none, the result is chosen.
TEST(Source, ShiftsByANumberAreShifts) {
  const auto text = [](const std::string &places) {
    return kernelsText(made("out = torch.bitwise_right_shift(x, " + places + ")",
                            "[inputs.x]\nshape = [\"...\", \"D\"]\n", "\"...\", \"D\"",
                            "\"int32\""));
  };
  EXPECT_TRUE(contains(text("3"), "x >> 3\n")) << text("3");
  EXPECT_TRUE(contains(text("32"), "tl.where(")) << text("32");
}

TEST(Source, PrecedenceIsKept) {
  const std::string text = kernelsText(
      made("out = (x - (y - 1.5)) * (x + y) / (x * y)", inputXY, "\"...\", \"D\"", "\"float32\""));
  EXPECT_TRUE(contains(text, "(x - (y - 1.5)) * (x + y) / (x * y)")) << text;
}

} // namespace
} // namespace nereid::generator
