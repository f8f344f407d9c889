// SPDX-License-Identifier: Apache-2.0
// Structure of the generated files; what they compute is tested in unittests/develop.
#include "unittests/generator/Making.h"

#include "lib/generator/KernelWriter.h"
#include "lib/generator/ScheduleRules.h"
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

TEST_P(ShippedSource, ParsesAndHasOneKernelPerVariant) {
  auto generation = generate(shipped(GetParam()), testChip(), nullptr);
  ASSERT_TRUE(bool(generation));
  Diagnostics diags;
  auto module = language::parseModule("t.py", writeTriton(*generation), diags);
  ASSERT_TRUE(module.has_value()) << diags.render();
  EXPECT_FALSE(diags.hasErrors()) << diags.render();
  std::vector<std::string> expected;
  for (KernelVariant variant : variantsOf(generation->fused)) {
    expected.push_back(kernelName(generation->fused, variant));
  }
  EXPECT_EQ(module->jitFunctions(), expected);
}

TEST_P(ShippedSource, EveryScheduleOfTheSpaceHasASignatureTheKernelAccepts) {
  auto generation = generate(shipped(GetParam()), testChip(), nullptr);
  ASSERT_TRUE(bool(generation));
  Diagnostics diags;
  auto module = language::parseModule("t.py", writeTriton(*generation), diags);
  ASSERT_TRUE(module.has_value());
  const FusedOperator &fused = generation->fused;
  for (const definition::Case &one : fused.op.performanceCases) {
    CaseSizes sizes = sizesOf(fused, one.binding, DType::F32);
    std::vector<Schedule> space = scheduleSpace(fused, sizes, DType::F32, testChip());
    EXPECT_GE(space.size(), 4u);
    for (const Schedule &schedule : space) {
      auto plan = planLaunch(fused, schedule, one.binding, DType::F32);
      ASSERT_TRUE(bool(plan)) << render(plan.error());
      auto signature = language::parseSignature(plan->signature, *module->find(plan->function));
      ASSERT_TRUE(bool(signature)) << render(signature.error());
      size_t runTime = 0;
      for (const language::ParamType &param : signature->params) {
        runTime += param.kind != language::ParamType::Kind::Constexpr;
      }
      EXPECT_EQ(runTime, plan->arguments.size());
    }
  }
}

TEST(Source, SoftmaxNeedsNoSecondMask) {
  std::string text = writeKernel(fusedOf(shipped("softmax")), KernelVariant::Rows);
  EXPECT_TRUE(contains(text, "other=-float(\"inf\")")) << text;
  EXPECT_FALSE(contains(text, "tl.where")) << text;
}

TEST(Source, LayerNormMasksTheSquares) {
  std::string text = writeKernel(fusedOf(shipped("layer_norm")), KernelVariant::Rows);
  EXPECT_TRUE(contains(text, "tl.where(inside, ")) << text;
}

TEST(Source, AMaximumAsResultKeepsNan) {
  FusedOperator fused = fusedOf(
      made("out = torch.amax(x, dim=-1)", "[inputs.x]\nshape = [\"...\", \"D\"]\n", "\"...\""));
  for (KernelVariant variant : variantsOf(fused)) {
    EXPECT_TRUE(contains(writeKernel(fused, variant), "float(\"nan\")"));
  }
}

TEST(Source, LoopedVariantHasOnePassPerLevelAndOneForTheResult) {
  std::string text = writeKernel(fusedOf(shipped("layer_norm")), KernelVariant::LoopedRows);
  size_t passes = 0;
  for (size_t at = text.find("for start in"); at != std::string::npos;
       at = text.find("for start in", at + 1)) {
    ++passes;
  }
  EXPECT_EQ(passes, 3u);
}

TEST(Source, PrecedenceIsKept) {
  FusedOperator fused =
      fusedOf(made("out = (x - (y - 1.5)) * (x + y) / (x * y)", inputXY, "\"...\", \"D\""));
  std::string text = writeKernel(fused, KernelVariant::Tiles);
  EXPECT_TRUE(contains(text, "(x - (y - 1.5)[None, :]) * (x + y[None, :]) / (x * y[None, :])"))
      << text;
}

} // namespace
} // namespace nereid::generator
