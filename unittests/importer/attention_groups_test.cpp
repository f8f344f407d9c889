// SPDX-License-Identifier: Apache-2.0
// Attention that is written out in a model's nodes: which of its forms are one group of the fusion
// plan, what that saves, and the near misses that are none.
#include "unittests/importer/Models.h"

#include "lib/importer/analysis/FusionGroups.h"

#include <limits>

namespace nereid::importer {
namespace {

constexpr float infinity = std::numeric_limits<float>::infinity();

std::vector<FusionGroup> fusionsOf(const ModelMaker &maker) {
  Read read = inferred(maker);
  EXPECT_FALSE(read.diags.hasErrors()) << read.diags.render();
  Diagnostics diags;
  auto costs = countCosts(*read.model, diags);
  EXPECT_FALSE(diags.hasErrors()) << diags.render();
  return findFusions(*read.model, costs);
}

/// The nodes of the attention among the groups; none: there is no such group.
std::vector<size_t> attentionOf(const ModelMaker &maker) {
  for (const FusionGroup &group : fusionsOf(maker)) {
    if (group.reason == FusionReason::Attention) {
      return group.nodes;
    }
  }
  return {};
}

using Sizes = std::vector<TestDim>;

/// softmax(q k / 4 + m) v up to the weights "p", of 2 batches, 4 heads, 24 queries and 40 keys.
ModelMaker weights(int type = 1, int64_t depth = 16) {
  ModelMaker maker;
  maker.input("q", {2, 4, 24, depth}, type).input("k", {2, 4, depth, 40}, type);
  maker.input("v", {2, 4, 40, 16}, type).floats("four", {}, {4});
  maker.node("MatMul", {"q", "k"}, {"s"});
  return maker;
}
ModelMaker masked(const Sizes &mask) {
  ModelMaker maker = weights();
  maker.input("m", mask).node("Div", {"s", "four"}, {"t"}).node("Add", {"t", "m"}, {"u"});
  maker.node("Softmax", {"u"}, {"p"}).integer("axis", -1);
  return maker;
}
ModelMaker &finished(ModelMaker &maker) {
  return maker.node("MatMul", {"p", "v"}, {"y"}).output("y");
}

TEST(AttentionGroups, AMaskIsAddedInEveryShape) {
  for (const Sizes &mask :
       {Sizes{2, 1, 1, 40}, Sizes{1, 1, 24, 40}, Sizes{2, 4, 24, 40}, Sizes{24, 40}, Sizes{40}}) {
    ModelMaker maker = masked(mask);
    EXPECT_EQ(attentionOf(finished(maker)), (std::vector<size_t>{0, 1, 2, 3, 4}));
  }
}

TEST(AttentionGroups, NeitherScoresNorWeightsAreWritten) {
  ModelMaker maker = masked({24, 40});
  const std::vector<FusionGroup> groups = fusionsOf(finished(maker));
  ASSERT_EQ(groups.size(), 1U);
  const double scores = 4.0 * 2 * 4 * 24 * 40;
  EXPECT_EQ(groups[0].savedBytes(), 4 * 2 * scores) << "four results, written and read";
  EXPECT_EQ(groups[0].fused.bytesRead,
            4.0 * (2 * 4 * 24 * 16 + 2 * (2 * 4 * 40 * 16) + 24 * 40 + 1));
  EXPECT_EQ(groups[0].fused.bytesWritten, 4.0 * 2 * 4 * 24 * 16);
  EXPECT_EQ(groups[0].fused.flops, groups[0].apart.flops);
  EXPECT_EQ(text(groups[0].reason), "attention: scores and weights stay in the kernel");
}

TEST(AttentionGroups, MasksThatChooseOrAreComputed) {
  ModelMaker chosen = weights();
  chosen.input("m", {2, 1, 1, 40}, 9).floats("none", {}, {-infinity});
  chosen.node("Where", {"m", "s", "none"}, {"u"}).node("Softmax", {"u"}, {"p"}).integer("axis", 3);
  EXPECT_EQ(attentionOf(finished(chosen)), (std::vector<size_t>{0, 1, 2, 3}));
  // (1 - mask) * -1e9, which several layers share: its nodes are a group of their own.
  ModelMaker computed = weights();
  computed.input("m", {2, 1, 1, 40}, 7).floats("one", {}, {1}).floats("most", {}, {-1e9F});
  computed.node("Cast", {"m"}, {"a"}).integer("to", 1).node("Sub", {"one", "a"}, {"b"});
  computed.node("Mul", {"b", "most"}, {"c"}).node("Add", {"s", "c"}, {"u"});
  computed.node("Softmax", {"u"}, {"p"}).integer("axis", -1);
  EXPECT_EQ(attentionOf(finished(computed)), (std::vector<size_t>{0, 4, 5, 6}));
}

TEST(AttentionGroups, TranspositionsThatOnlyItNeedsAndWhatFollowsGoAlong) {
  ModelMaker maker;
  maker.input("q", {2, 4, 24, 16}).input("k", {2, 4, 40, 16}).input("v", {2, 4, 40, 16});
  maker.node("Transpose", {"k"}, {"kt"}).list("perm", {0, 1, 3, 2});
  maker.node("MatMul", {"q", "kt"}, {"s"}).node("Softmax", {"s"}, {"p"}).integer("axis", -1);
  maker.node("MatMul", {"p", "v"}, {"o"});
  maker.node("Transpose", {"o"}, {"t"}).list("perm", {0, 2, 1, 3});
  maker.node("Relu", {"t"}, {"y"}).output("y");
  EXPECT_EQ(attentionOf(maker), (std::vector<size_t>{0, 1, 2, 3, 4, 5}));
}

TEST(AttentionGroups, AMaskOfAnotherProductStaysOutside) {
  ModelMaker maker = weights();
  maker.input("a", {24, 8}).input("b", {8, 40}).node("MatMul", {"a", "b"}, {"m"});
  maker.node("Add", {"s", "m"}, {"u"}).node("Softmax", {"u"}, {"p"}).integer("axis", -1);
  EXPECT_EQ(attentionOf(finished(maker)), (std::vector<size_t>{0, 2, 3, 4}));
}

TEST(AttentionGroups, NearMissesAreNone) {
  const std::vector<size_t> none;
  ModelMaker alongQueries = weights();
  alongQueries.node("Softmax", {"s"}, {"p"}).integer("axis", 2);
  EXPECT_EQ(attentionOf(finished(alongQueries)), none);
  ModelMaker scoresOut = masked({24, 40});
  EXPECT_EQ(attentionOf(finished(scoresOut).output("u")), none) << "scores are a result";
  ModelMaker weightsOut = masked({24, 40});
  EXPECT_EQ(attentionOf(finished(weightsOut).output("p")), none) << "weights are a result";
  ModelMaker secondUser = masked({24, 40});
  finished(secondUser).node("Relu", {"t"}, {"z"}).output("z");
  EXPECT_EQ(attentionOf(secondUser), none) << "scores have a second user";
  ModelMaker twice = masked({24, 40});
  finished(twice).node("ReduceMax", {"p"}, {"z"}).output("z");
  EXPECT_EQ(attentionOf(twice), none) << "weights have a second user";
  ModelMaker sigmoid = weights();
  sigmoid.node("Sigmoid", {"s"}, {"p"});
  EXPECT_EQ(attentionOf(finished(sigmoid)), none);
  ModelMaker repeated = masked({3, 1, 1, 1, 40});
  EXPECT_EQ(attentionOf(finished(repeated)), none) << "the mask repeats the scores";
  ModelMaker values = masked({24, 40});
  values.input("w", {3, 1, 1, 40, 16}).node("MatMul", {"p", "w"}, {"y"}).output("y");
  EXPECT_EQ(attentionOf(values), none) << "the values repeat the weights";
  ModelMaker right = weights();
  right.node("Softmax", {"s"}, {"p"}).integer("axis", -1);
  right.input("w", {2, 4, 16, 24}).node("MatMul", {"w", "p"}, {"y"}).output("y");
  EXPECT_EQ(attentionOf(right), none) << "weights of the other side";
}

TEST(AttentionGroups, WhatNoLaunchTakesAsOneKernelIsNone) {
  ModelMaker exact = weights(11);
  exact.node("Softmax", {"s"}, {"p"}).integer("axis", -1);
  EXPECT_EQ(attentionOf(finished(exact)), std::vector<size_t>()) << "float64";
  ModelMaker deep = weights(1, 257);
  deep.node("Softmax", {"s"}, {"p"}).integer("axis", -1);
  EXPECT_EQ(attentionOf(finished(deep)), std::vector<size_t>()) << "queries of 257 elements";
  ModelMaker fits = weights(1, 256);
  fits.node("Softmax", {"s"}, {"p"}).integer("axis", -1);
  EXPECT_EQ(attentionOf(finished(fits)), (std::vector<size_t>{0, 1, 2}));
}

} // namespace
} // namespace nereid::importer
