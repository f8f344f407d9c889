// SPDX-License-Identifier: Apache-2.0
// Classification of operands and the refusals of fusion.
#include "unittests/generator/Making.h"

namespace nereid::generator {
namespace {

TEST(Fusion, BiasIsARowVector) {
  FusedOperator fused = fusedOf(shipped("broadcast_add"));
  EXPECT_EQ(fused.kind(), "broadcast");
  EXPECT_EQ(fused.rows.identifier(), "rest");
  EXPECT_EQ(fused.columns.identifier(), "D");
  EXPECT_EQ(fused.find("x")->extent, Extent::Full);
  EXPECT_TRUE(fused.find("x")->hasAllRows());
  EXPECT_EQ(fused.find("bias")->extent, Extent::Row);
  EXPECT_EQ(fused.find("out")->extent, Extent::Full);
}

TEST(Fusion, MaskKeepsItsBatchOnly) {
  FusedOperator fused = fusedOf(shipped("mask_add"));
  ASSERT_EQ(fused.rowGroups.size(), 2u);
  EXPECT_EQ(fused.rowGroups[0].identifier(), "B");
  EXPECT_EQ(fused.rowGroups[1].identifier(), "H_Q");
  const Operand *mask = fused.find("mask");
  EXPECT_EQ(mask->rowGroups, (std::vector<bool>{true, false}));
  EXPECT_EQ(mask->extent, Extent::Full);
  EXPECT_FALSE(mask->hasAllRows());
}

TEST(Fusion, ChannelsFirstScaleIsAColumnVectorOfPartOfTheRows) {
  FusedOperator fused = fusedOf(made("out = x * scale",
                                     "[inputs.x]\nshape = [\"N\", \"C\", \"H\", \"W\"]\n"
                                     "[inputs.scale]\nshape = [\"C\", 1, 1]\n",
                                     "\"N\", \"C\", \"H\", \"W\""));
  EXPECT_EQ(fused.columns.identifier(), "H_W");
  EXPECT_EQ(fused.find("scale")->extent, Extent::Column);
  EXPECT_EQ(fused.find("scale")->rowGroups, (std::vector<bool>{false, true}));
}

TEST(Fusion, EqualShapesAreFlat) {
  FusedOperator fused = fusedOf(made("out = x + y",
                                     "[inputs.x]\nshape = [\"...\", \"D\"]\n"
                                     "[inputs.y]\nshape = [\"...\", \"D\"]\n",
                                     "\"...\", \"D\""));
  EXPECT_TRUE(fused.isFlat);
  EXPECT_EQ(fused.kind(), "pointwise");
}

TEST(Fusion, CompositesAreOpened) {
  FusedOperator fused = fusedOf(made("out = F.softmax(x, dim=-1)",
                                     "[inputs.x]\nshape = [\"...\", \"D\"]\n", "\"...\", \"D\""));
  EXPECT_EQ(fused.kind(), "row_reduction");
  EXPECT_EQ(fused.levels, 2);
  for (const FusedNode &node : fused.nodes) {
    EXPECT_NE(node.op, "softmax");
  }
}

TEST(Fusion, ReductionWithoutKeepdimLinesUpWithRowVectors) {
  // mean(x) has shape [R]; so has b: it moves along the rows.
  FusedOperator fused = fusedOf(made("out = torch.mean(x, dim=-1) + b",
                                     "[inputs.x]\nshape = [\"R\", \"D\"]\n"
                                     "[inputs.b]\nshape = [\"R\"]\n",
                                     "\"R\""));
  EXPECT_EQ(fused.find("b")->extent, Extent::Column);
  EXPECT_EQ(fused.find("out")->extent, Extent::Column);
}

TEST(Fusion, RefusesAReductionOverLeadingDimensions) {
  std::string said =
      refusal(made("out = torch.sum(x, dim=0)", "[inputs.x]\nshape = [\"R\", \"D\"]\n", "\"D\""));
  EXPECT_EQ(said, "E0607: 'sum' reduces a dimension before the last ones");
}

TEST(Fusion, RefusesDifferentReductions) {
  std::string said =
      refusal(made("a = torch.sum(x, dim=-1, keepdim=True)\n"
                   "b = torch.sum(x, dim=(-2, -1), keepdim=True)\nout = x + a + b",
                   "[inputs.x]\nshape = [\"B\", \"R\", \"D\"]\n", "\"B\", \"R\", \"D\""));
  EXPECT_EQ(said, "E0607: 'sum' and 'sum' reduce different dimensions");
}

TEST(Fusion, RefusesATransposedUse) {
  // The row sums are used once along the rows and once along the columns.
  std::string said = refusal(made("s = torch.sum(x, dim=-1)\nout = x + s + "
                                  "torch.sum(x, dim=-1, keepdim=True)",
                                  "[inputs.x]\nshape = [\"S\", \"S\"]\n", "\"S\", \"S\""));
  EXPECT_EQ(said.substr(0, 5), "E0607");
}

TEST(Fusion, RefusesAnUnknownFormAndNamesIt) {
  std::string said = refusal(made("out = torch.prod(x, dim=-1, keepdim=True) * x",
                                  "[inputs.x]\nshape = [\"...\", \"D\"]\n", "\"...\", \"D\""));
  EXPECT_EQ(said, "E0607: operation 'prod' has no form in a generated kernel");
}

TEST(Fusion, RefusesConvolutionsAndViews) {
  std::string inputs = "[inputs.x]\nshape = [\"N\", 4, \"H\", \"W\"]\n"
                       "[inputs.w]\nshape = [8, 4, 3, 3]\n";
  std::string said =
      refusal(made("out = relu(conv2d(x, w, padding=1))", inputs, "\"N\", 8, \"H\", \"W\""));
  EXPECT_EQ(said, "E0607: operation 'conv2d' has no form in a generated kernel");
  said = refusal(made("out = x.permute(0, 2, 3, 1) * w.sum()", inputs, "\"N\", \"H\", \"W\", 4"));
  EXPECT_EQ(said, "E0607: operation 'permute' has no form in a generated kernel");
}

TEST(Fusion, RefusesAKeywordAsAName) {
  std::string said =
      refusal(made("out = double + 1.0", "[inputs.double]\nshape = [\"D\"]\n", "\"D\""));
  EXPECT_EQ(said, "E0607: the name 'double' is reserved in generated files");
}

TEST(Fusion, RefusesTypesThatFollowInNoWay) {
  // For float32 the extremum has NaN and infinities, for int32 neither.
  std::string said = refusal(made("out = x - torch.amax(x, dim=-1, keepdim=True)",
                                  "[inputs.x]\nshape = [\"...\", \"D\"]\n", "\"...\", \"D\"",
                                  "\"float32\", \"int32\""));
  EXPECT_EQ(said, "E0607: one kernel cannot compute 'amax' for all the types of the operator");
}

} // namespace
} // namespace nereid::generator
