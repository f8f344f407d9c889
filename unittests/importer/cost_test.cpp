// SPDX-License-Identifier: Apache-2.0
// Operations and bytes of nodes against counts by hand, and which nodes one kernel could compute.
#include "unittests/importer/Models.h"

#include "lib/importer/analysis/FusionGroups.h"
#include "lib/importer/operators/OperatorTable.h"

namespace nereid::importer {
namespace {

std::vector<NodeCost> costsOf(const Read &read) {
  Diagnostics diags;
  auto costs = countCosts(*read.model, diags);
  EXPECT_FALSE(diags.hasErrors()) << diags.render();
  return costs;
}

Machine chip() {
  Machine machine;
  machine.cores = 100;
  machine.isDevice = true;
  machine.copyBandwidth = 1e12;
  machine.peakFlops = {{"fp32", 1e13}};
  return machine;
}

TEST(Costs, ProductsPointwiseAndNorms) {
  ModelMaker maker;
  maker.input("x", {4, 16}).input("w", {16, 8}).input("b", {8}).input("s", {8});
  maker.node("Gemm", {"x", "w", "b"}, {"g"}).node("Relu", {"g"}, {"r"});
  maker.node("LayerNormalization", {"r", "s", "b"}, {"n"}).node("Mul", {"n", "n"}, {"q"});
  maker.output("q");
  auto costs = costsOf(inferred(maker));
  EXPECT_EQ(costs[0].work.flops, 2 * 4 * 16 * 8 + 4 * 8);
  EXPECT_EQ(costs[0].work.bytesRead, 4 * (4 * 16 + 16 * 8 + 8));
  EXPECT_EQ(costs[0].work.bytesWritten, 4 * 4 * 8);
  EXPECT_EQ(costs[1].work.flops, 32);
  EXPECT_EQ(costs[1].work.bytes(), 2 * 4 * 32);
  EXPECT_EQ(costs[2].work.flops, 8 * 32);
  EXPECT_EQ(costs[2].work.bytesRead, 4 * (32 + 8 + 8));
  EXPECT_EQ(costs[3].work.bytesRead, 4 * 32) << "what is read twice is read once";
}

TEST(Costs, ConvolutionsInGroups) {
  ModelMaker maker;
  maker.input("x", {2, 8, 10, 10}).input("w", {16, 2, 3, 3}).node("Conv", {"x", "w"}, {"y"});
  maker.integer("group", 4).output("y");
  auto costs = costsOf(inferred(maker));
  EXPECT_EQ(costs[0].work.flops, 2.0 * (2 * 16 * 8 * 8) * (2 * 3 * 3));
  EXPECT_EQ(costs[0].work.bytes(), 4.0 * (2 * 8 * 100 + 16 * 2 * 9 + 2 * 16 * 64));
}

TEST(Costs, AttentionIsTwoProductsAndASoftmax) {
  ModelMaker maker(23);
  maker.input("q", {2, 3, 32}).input("k", {2, 5, 16}).input("v", {2, 5, 24});
  maker.node("Attention", {"q", "k", "v"}, {"y"}).integer("q_num_heads", 4);
  maker.integer("kv_num_heads", 2).output("y");
  Read read = inferred(maker);
  EXPECT_EQ(shapeOf(read, "y"), "[2, 3, 48]");
  const double pairs = 2 * 4 * 3 * 5; // of rows and keys, for each head
  EXPECT_EQ(costsOf(read)[0].work.flops,
            pairs * (2 * 8 + 2 * 12 + findOnnxOperator("Softmax")->flops));
}

TEST(Costs, SelectionsReadWhatTheyChoose) {
  ModelMaker maker;
  maker.input("table", {50000, 64}).input("ids", {1, 12}, 7);
  maker.node("Gather", {"table", "ids"}, {"y"}).output("y");
  auto costs = costsOf(inferred(maker));
  EXPECT_EQ(costs[0].work.bytesRead, 4 * 12 * 64 + 8 * 12);
  EXPECT_EQ(costs[0].work.bytesWritten, 4 * 12 * 64);
}

TEST(Costs, WhatIsNotKnownIsAnErrorWithItsNode) {
  ModelMaker maker;
  maker.input("x", {4}).node("NonZero", {"x"}, {"i"}).node("Relu", {"i"}, {"y"}).output("y");
  Read read = inferred(maker);
  Diagnostics diags;
  (void)countCosts(*read.model, diags);
  ASSERT_TRUE(diags.hasErrors());
  EXPECT_EQ(diags.all()[0].code, "E0634");
  EXPECT_NE(diags.all()[0].message.find("node 1 'the_y' (Relu)"), std::string::npos);
}

TEST(Costs, BoundByTheRidge) {
  ModelMaker maker;
  maker.input("x", {1024, 1024}).node("MatMul", {"x", "x"}, {"p"}).node("Exp", {"p"}, {"y"});
  maker.output("y");
  auto costs = costsOf(inferred(maker));
  addSeconds(chip(), costs);
  EXPECT_FALSE(costs[0].isMemoryBound());
  EXPECT_DOUBLE_EQ(costs[0].arithmeticSeconds, 2.0 * 1024 * 1024 * 1024 / 1e13);
  EXPECT_TRUE(costs[1].isMemoryBound());
  EXPECT_DOUBLE_EQ(costs[1].memorySeconds, 2.0 * 4 * 1024 * 1024 / 1e12);
}

TEST(Fusions, PointwiseBehindAProductSavesWhatLiesBetween) {
  ModelMaker maker;
  maker.input("x", {64, 32}).input("w", {32, 128}).input("b", {128});
  maker.node("MatMul", {"x", "w"}, {"p"}).node("Add", {"p", "b"}, {"a"});
  maker.node("Relu", {"a"}, {"y"}).output("y");
  Read read = inferred(maker);
  auto costs = costsOf(read);
  auto groups = findFusions(*read.model, costs);
  ASSERT_EQ(groups.size(), 1U);
  EXPECT_EQ(groups[0].nodes, (std::vector<size_t>{0, 1, 2}));
  EXPECT_EQ(groups[0].savedBytes(), 2.0 * 2 * 4 * 64 * 128) << "two results, written and read";
  EXPECT_EQ(describe(*read.model, groups[0]), "MatMul + Add + Relu");
  addSeconds(chip(), costs);
  addSeconds(chip(), costs, groups);
  EXPECT_GT(groups[0].secondsApart, groups[0].secondsFused);
}

TEST(Fusions, WhatAnotherNodeReadsIsStillWritten) {
  ModelMaker maker;
  maker.input("x", {64}).node("Exp", {"x"}, {"e"}).node("Relu", {"e"}, {"y"});
  maker.output("y").output("e");
  Read read = inferred(maker);
  auto groups = findFusions(*read.model, costsOf(read));
  ASSERT_EQ(groups.size(), 1U);
  EXPECT_EQ(groups[0].savedBytes(), 4.0 * 64) << "it is not read again, but written";
}

TEST(Fusions, RowsGoTogetherAndProductsDoNot) {
  ModelMaker maker;
  maker.input("x", {64, 32}).node("Add", {"x", "x"}, {"a"}).node("Softmax", {"a"}, {"s"});
  maker.node("MatMul", {"s", "w"}, {"p"}).node("Softmax", {"p"}, {"q"}).input("w", {32, 32});
  maker.output("q");
  Read read = inferred(maker);
  auto groups = findFusions(*read.model, costsOf(read));
  ASSERT_EQ(groups.size(), 1U);
  EXPECT_EQ(groups[0].nodes, (std::vector<size_t>{0, 1}));
}

TEST(Fusions, NothingLiesBetweenTheNodesOfAGroup) {
  // The last sum needs both the first result and a product that needs it, too.
  ModelMaker maker;
  maker.input("x", {32, 32}).input("w", {32, 32}).node("Exp", {"x"}, {"e"});
  maker.node("MatMul", {"e", "w"}, {"p"}).node("Add", {"e", "p"}, {"y"}).output("y");
  Read read = inferred(maker);
  auto groups = findFusions(*read.model, costsOf(read));
  ASSERT_EQ(groups.size(), 1U);
  EXPECT_EQ(groups[0].nodes, (std::vector<size_t>{1, 2}));
}

} // namespace
} // namespace nereid::importer
