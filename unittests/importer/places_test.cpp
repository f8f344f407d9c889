// SPDX-License-Identifier: Apache-2.0
// Nodes that read and write at indices of several dimensions, and that make tensors of sizes and
// numbers: their values by loops written here.
#include "unittests/importer/Computed.h"

#include "lib/importer/operators/OperatorTable.h"

namespace nereid::importer {
namespace {

Filled whole(std::vector<int64_t> shape, std::vector<float> elements) {
  return {std::move(shape), std::move(elements), DType::I64};
}

TEST(ImportedPlaces, EachLastRowOfIndicesIsAPlace) {
  const Filled x = counted({3, 5, 2}), indices = whole({3, 2}, {2, 4, 0, -5, -1, 1});
  ModelMaker read;
  read.input("x", {3, 5, 2}).input("i", {3, 2}, 7).node("GatherND", {"x", "i"}, {"y"}).output("y");
  EXPECT_EQ(bodyOf(read),
            "y_at = torch.remainder(torch.select(i, -1, 0), 3)\n"
            "y_at_2 = torch.remainder(torch.select(i, -1, 1), 5)\ny = x[y_at, y_at_2]");
  const std::vector<int64_t> rows = {2 * 5 + 4, 0, 2 * 5 + 1};
  Filled y = {{3, 2}, {}};
  for (int64_t row : rows) {
    y.elements.push_back(x.elements[static_cast<size_t>(row * 2)]);
    y.elements.push_back(x.elements[static_cast<size_t>(row * 2 + 1)]);
  }
  expectComputed(read, {x, indices}, {y});

  ModelMaker batch;
  batch.input("x", {3, 5, 2}).input("i", {3, 4, 1}, 7).node("GatherND", {"x", "i"}, {"y"});
  batch.integer("batch_dims", 1).output("y");
  const Filled each = whole({3, 4, 1}, {0, 1, -1, 3, 4, 4, 0, 2, -5, 1, 1, 3});
  Filled of = {{3, 4, 2}, {}};
  for (size_t b = 0; b < 3; ++b) {
    for (size_t j = 0; j < 4; ++j) {
      const auto at = static_cast<int64_t>(each.elements[b * 4 + j]);
      const size_t row = b * 5 + static_cast<size_t>(at < 0 ? at + 5 : at);
      of.elements.push_back(x.elements[row * 2]);
      of.elements.push_back(x.elements[row * 2 + 1]);
    }
  }
  expectComputed(batch, {x, each}, {of});
}

ModelMaker scattered(const std::string &how, std::vector<TestDim> indices,
                     std::vector<TestDim> updates) {
  ModelMaker maker(18);
  maker.input("x", {3, 5, 2}).input("i", std::move(indices), 7).input("u", std::move(updates));
  maker.node("ScatterND", {"x", "i", "u"}, {"y"});
  return maker.word("reduction", how).output("y");
}

TEST(ImportedPlaces, WhatIsWrittenAtThem) {
  const Filled x = counted({3, 5, 2}), indices = whole({3, 2}, {2, 4, 0, -5, 2, 4}),
               updates = {{3, 2}, {10, -20, 30, 40, 50, -6}};
  for (const std::string how : {"add", "mul", "max", "min"}) {
    Filled y = x;
    for (size_t n = 0; n < 3; ++n) {
      for (size_t c = 0; c < 2; ++c) {
        float &element = y.elements[(n == 1 ? 0U : 28U) + c];
        const float more = updates.elements[n * 2 + c];
        element = how == "add"   ? element + more
                  : how == "mul" ? element * more
                  : how == "max" ? std::max(element, more)
                                 : std::min(element, more);
      }
    }
    expectComputed(scattered(how, {3, 2}, {3, 2}), {x, indices, updates}, {y});
  }
  Filled y = x;
  const Filled apart = whole({2, 2}, {2, 4, 0, -5});
  std::copy(updates.elements.begin(), updates.elements.begin() + 2, y.elements.begin() + 28);
  std::copy(updates.elements.begin() + 2, updates.elements.begin() + 4, y.elements.begin());
  expectComputed(scattered("none", {2, 2}, {2, 2}), {x, apart, {{2, 2}, {10, -20, 30, 40}}}, {y});
}

TEST(ImportedPlaces, ThatNoneComesTwiceIsPromisedWhereOneInputCan) {
  auto one = imported(scattered("none", {2, 1}, {2, 5, 2}));
  ASSERT_TRUE(one) << render(one.error());
  EXPECT_NE(one->text.find("range = [\"-3\", \"3\"]\ndistinct = -2"), std::string::npos)
      << one->text;
  auto several = imported(scattered("none", {2, 3, 2}, {2, 3, 2}));
  ASSERT_TRUE(several) << render(several.error());
  EXPECT_EQ(several->text.find("distinct"), std::string::npos);
  EXPECT_NE(several->text.find("reduce=\"amax\", include_self=False"), std::string::npos)
      << several->text;
  auto more = imported(scattered("none", {4, 1}, {4, 5, 2}));
  ASSERT_TRUE(more) << render(more.error());
  EXPECT_EQ(more->text.find("distinct"), std::string::npos) << "four of three places";
}

TEST(ImportedPlaces, PiecesOfACache) {
  for (const bool isCircular : {false, true}) {
    ModelMaker maker(24);
    maker.input("x", {2, 1, 4, 2}).input("u", {2, 1, 2, 2}).input("i", {2}, 7);
    maker.node("TensorScatter", {"x", "u", "i"}, {"y"});
    maker.word("mode", isCircular ? "circular" : "linear").output("y");
    const Filled x = counted({2, 1, 4, 2}), u = {{2, 1, 2, 2}, {50, 51, 52, 53, 54, 55, 56, 57}};
    const std::vector<float> from = {isCircular ? 3.0F : 2.0F, 1};
    Filled y = x;
    for (size_t i = 0; i < 8; ++i) {
      const size_t row = (static_cast<size_t>(from[i / 4]) + i / 2 % 2) % 4;
      y.elements[i / 4 * 8 + row * 2 + i % 2] = u.elements[i];
    }
    expectComputed(maker, {x, u, whole({2}, from)}, {y});
  }
}

TEST(ImportedPlaces, TheFirstElementsOfALineAreTurnedRound) {
  ModelMaker maker;
  maker.input("x", {4, 3}).input("n", {3}, 7).node("ReverseSequence", {"x", "n"}, {"y"});
  const Filled x = counted({4, 3});
  const std::vector<float> lengths = {4, 1, 3};
  Filled y = x;
  for (size_t t = 0; t < 4; ++t) {
    for (size_t b = 0; b < 3; ++b) {
      const auto length = static_cast<size_t>(lengths[b]);
      y.elements[t * 3 + b] = x.elements[(t < length ? length - 1 - t : t) * 3 + b];
    }
  }
  expectComputed(maker.output("y"), {x, whole({3}, lengths)}, {y});
}

TEST(ImportedPlaces, OneHotVectorsOfIndicesThatMayLeadNowhere) {
  ModelMaker maker;
  maker.input("i", {4}, 7).integers("depth", {3}).input("values", {2});
  maker.node("OneHot", {"i", "depth", "values"}, {"y"}).integer("axis", 0).output("y");
  Filled y = {{3, 4}, std::vector<float>(12, 5)};
  y.elements[0 * 4 + 0] = y.elements[2 * 4 + 1] = y.elements[1 * 4 + 3] = 7;
  expectComputed(maker, {whole({4}, {0, -1, 3, 1}), {{2}, {5, 7}}}, {y});
}

TEST(ImportedMade, TensorsOfSizesAndNumbers) {
  ModelMaker maker(11);
  maker.input("x", {2, 3}).integers("from", {1}).integers("to", {-6}).integers("by", {-2});
  maker.node("Squeeze", {"from"}, {"a"})
      .node("Squeeze", {"to"}, {"b"})
      .node("Squeeze", {"by"}, {"c"});
  maker.node("Range", {"a", "b", "c"}, {"steps"}).node("Cast", {"steps"}, {"f"}).integer("to", 1);
  maker.node("EyeLike", {"x"}, {"eye"}).integer("k", 1).integer("dtype", 1);
  maker.node("Shape", {"x"}, {"s"}).node("ConstantOfShape", {"s"}, {"zeros"});
  maker.node("Sum", {"x", "eye", "zeros"}, {"z"});
  maker.node("Unsqueeze", {"f"}, {"g"}).list("axes", {0});
  maker.node("ReduceSum", {"g"}, {"h"}).list("axes", {1}).integer("keepdims", 0);
  maker.node("Add", {"z", "h"}, {"y"}).output("y");
  const Filled x = counted({2, 3});
  Filled y = x;
  y.elements[1] += 1;
  y.elements[5] += 1;
  for (float &element : y.elements) {
    element += 1 - 1 - 3 - 5;
  }
  expectComputed(maker, {x}, {y});
}

TEST(ImportedMade, SizesAreElementsWhereTheyAreComputedWith) {
  ModelMaker maker;
  maker.input("x", {"N", 4}).node("Shape", {"x"}, {"s"}).node("Cast", {"s"}, {"f"});
  maker.integer("to", 1).node("Sqrt", {"f"}, {"r"}).integers("first", {0});
  maker.node("Gather", {"r", "first"}, {"root"}).node("Div", {"x", "root"}, {"y"}).output("y");
  EXPECT_EQ(bodyOf(maker, "", {{"N", 3}}).substr(0, 104),
            "s = torch.cat((torch.full((1,), N, dtype=torch.int64), torch.full((1,), 4, "
            "dtype=torch.int64)), dim=0)\nf");
  ModelMaker fixed;
  fixed.input("x", {3, 4}).node("Size", {"x"}, {"s"}).node("Cast", {"s"}, {"f"}).integer("to", 1);
  fixed.node("Div", {"x", "f"}, {"y"}).output("y");
  EXPECT_EQ(bodyOf(fixed),
            "s = torch.full((), 3 * 4, dtype=torch.int64)\nf = s.to(torch.float32)\ny = x / f");
}

TEST(ImportedMade, ADefinitionHasToReadSomething) {
  ModelMaker maker;
  maker.input("x", {3, 4}).node("EyeLike", {"x"}, {"y"}).output("y");
  auto alone = imported(maker);
  ASSERT_FALSE(alone);
  EXPECT_EQ(alone.error().code, "E0636");
  EXPECT_NE(alone.error().message.find("read no tensor"), std::string::npos);
}

TEST(ImportedMoves, TheLastOfEqualElementsAndTheSmallest) {
  const Filled x = {{2, 4}, {3, 7, 7, 1, 5, 5, 5, 5}};
  ModelMaker last(13);
  last.input("x", {2, 4}).node("ArgMax", {"x"}, {"y"}).integer("axis", 1);
  last.integer("select_last_index", 1).integer("keepdims", 0).output("y");
  expectComputed(last, {x}, {whole({2}, {2, 3})});
  ModelMaker smallest(13);
  smallest.input("x", {2, 4}).integers("k", {2}).node("TopK", {"x", "k"}, {"v", "i"});
  smallest.integer("largest", 0).output("v").output("i");
  expectComputed(smallest, {x}, {{{2, 2}, {1, 3, 5, 5}}, whole({2, 2}, {3, 0, 0, 1})});
}

TEST(ImportedMoves, SpaceToDepthInEitherOrder) {
  const Filled x = counted({1, 2, 2, 4});
  ModelMaker maker(28);
  maker.input("x", {1, 2, 2, 4}).node("SpaceToDepth", {"x"}, {"y"}).integer("blocksize", 2);
  maker.word("mode", "CRD").output("y");
  Filled y = {{1, 8, 1, 2}, {}};
  for (size_t channel = 0; channel < 8; ++channel) {
    for (size_t w = 0; w < 2; ++w) {
      const size_t c = channel / 4, row = channel / 2 % 2, column = channel % 2;
      y.elements.push_back(x.elements[(c * 2 + row) * 4 + w * 2 + column]);
    }
  }
  expectComputed(maker, {x}, {y});
}

TEST(ImportedConversions, QuotientsOfIntegersAreCutOff) {
  ModelMaker maker(14);
  maker.input("x", {4}, 7).input("z", {4}, 7).node("Div", {"x", "z"}, {"y"}).output("y");
  expectComputed(maker, {whole({4}, {7, -7, 7, -7}), whole({4}, {2, 2, -2, -2})},
                 {whole({4}, {3, -3, -3, 3})});
  EXPECT_NE(imported(maker)->text.find("constraints = [\"z != 0\"]"), std::string::npos);
}

TEST(ImportedConversions, ProductsOfQuantisedMatrices) {
  ModelMaker maker(21);
  maker.input("a", {2, 3}, 3).input("sa", {}, 1).input("za", {}, 3);
  maker.input("b", {3, 4}, 3).input("sb", {}, 1).input("zb", {}, 3).input("sy", {}, 1);
  maker.input("zy", {}, 3);
  maker.node("QLinearMatMul", {"a", "sa", "za", "b", "sb", "zb", "sy", "zy"}, {"y"}).output("y");
  EXPECT_EQ(bodyOf(maker),
            "y_product = torch.matmul(a.to(torch.int32) - za.to(torch.int32), b.to(torch.int32) - "
            "zb.to(torch.int32))\ny_steps = torch.clamp(torch.round(y_product.to(torch.float32) * "
            "(sa * sb / sy)) + zy.to(torch.float32), -128.0, 127.0)\n"
            "y = torch.where(torch.isnan(y_steps), 0.0, y_steps).to(torch.int8)");
  ModelMaker dynamic(11);
  dynamic.input("x", {4}).node("DynamicQuantizeLinear", {"x"}, {"q", "s", "z"});
  dynamic.node("DequantizeLinear", {"q", "s", "z"}, {"y"}).output("y");
  // From -51 to 204 the factor is 1.
  expectComputed(dynamic, {{{4}, {-51, 204, 3.25F, -0.75F}}}, {{{4}, {-51, 204, 3, -1}}});
}

TEST(ImportedConversions, ConvolutionsOfIntegersAreExact) {
  for (const int64_t channels : {2, 300}) {
    ModelMaker maker(10);
    maker.input("x", {1, channels, 3}, 2).input("w", {1, channels, 1}, 2).input("z", {}, 2);
    maker.node("ConvInteger", {"x", "w", "z"}, {"y"}).list("pads", {1, 0}).output("y");
    const std::string type = channels == 2 ? "torch.float32" : "torch.float64";
    const std::string body = bodyOf(maker);
    EXPECT_EQ(body.substr(0, body.find('\n')), "y_x = x.to(" + type + ") - z.to(" + type + ")");
    EXPECT_NE(body.find("y = F.conv1d(F.pad(y_x, (1, 0), value=0.0), y_w, None"), std::string::npos)
        << body;
  }
}

TEST(ImportedConversions, ShiftsByMoreBitsThanThereAre) {
  ModelMaker maker(28);
  maker.input("x", {5}, 7).input("n", {5}, 7).node("BitShift", {"x", "n"}, {"y"});
  maker.word("direction", "RIGHT").output("y");
  expectComputed(maker, {whole({5}, {-8, -8, 8, -8, 8}), whole({5}, {1, 64, 64, -1, 2})},
                 {whole({5}, {-4, -1, 0, -1, 2})});
  ModelMaker left(28);
  left.input("x", {3}, 7).input("n", {3}, 7).node("BitShift", {"x", "n"}, {"y"});
  left.word("direction", "LEFT").output("y");
  expectComputed(left, {whole({3}, {3, 3, 3}), whole({3}, {2, 64, -1})}, {whole({3}, {12, 0, 0})});
}

} // namespace
} // namespace nereid::importer
