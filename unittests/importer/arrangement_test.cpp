// SPDX-License-Identifier: Apache-2.0
// Nodes that move elements, go over images or convert, as definitions: their values by loops
// written here, what stays open, and what is refused.
#include "unittests/importer/Computed.h"

#include <functional>

namespace nereid::importer {
namespace {

Filled made(std::vector<int64_t> shape, const std::function<float(int64_t, int64_t)> &element) {
  Filled filled{shape, {}};
  for (int64_t i = 0; i < shape[0]; ++i) {
    for (int64_t j = 0; j < shape[1]; ++j) {
      filled.elements.push_back(element(i, j));
    }
  }
  return filled;
}

TEST(ImportedMoves, SlicesGoEitherWay) {
  const Filled x = counted({5, 7});
  auto at = [&](int64_t i, int64_t j) { return x.elements[static_cast<size_t>(i * 7 + j)]; };
  ModelMaker forward;
  forward.input("x", {5, 7}).integers("from", {1, -6}).integers("to", {100, 6});
  forward.integers("axes", {0, 1}).integers("steps", {2, 3});
  forward.node("Slice", {"x", "from", "to", "axes", "steps"}, {"y"}).output("y");
  EXPECT_EQ(bodyOf(forward), "y = x[1:5:2, 1:6:3]");
  expectComputed(forward, {x},
                 {made({2, 2}, [&](int64_t i, int64_t j) { return at(1 + 2 * i, 1 + 3 * j); })});
  ModelMaker backward;
  backward.input("x", {5, 7}).integers("from", {-1}).integers("to", {-100});
  backward.integers("axes", {1}).integers("steps", {-2});
  backward.node("Slice", {"x", "from", "to", "axes", "steps"}, {"y"}).output("y");
  expectComputed(backward, {x},
                 {made({5, 4}, [&](int64_t i, int64_t j) { return at(i, 6 - 2 * j); })});
}

TEST(ImportedMoves, PartsAndTheirSizes) {
  const Filled x = counted({2, 5});
  auto at = [&](int64_t i, int64_t j) { return x.elements[static_cast<size_t>(i * 5 + j)]; };
  ModelMaker split;
  split.input("x", {2, 5}).integers("parts", {2, 3});
  split.node("Split", {"x", "parts"}, {"a", "b"}).integer("axis", 1).output("b").output("a");
  EXPECT_EQ(bodyOf(split), "a, b = torch.split(x, [2, 3], dim=1)");
  expectComputed(split, {x}, {made({2, 2}, at), made({2, 3}, [&](int64_t i, int64_t j) {
                                return at(i, j + 2);
                              })});
  ModelMaker one;
  one.input("x", {2, 5}).integers("parts", {2, 3});
  one.node("Split", {"x", "parts"}, {"", "b"}).integer("axis", 1).output("b");
  EXPECT_EQ(bodyOf(one), "_, b = torch.split(x, [2, 3], dim=1)");
  ModelMaker joined;
  joined.input("x", {2, 5}).input("z", {2, 1}).node("Concat", {"z", "x", "z"}, {"y"});
  joined.integer("axis", -1).output("y");
  expectComputed(joined, {{{2, 1}, {100, 200}}, x}, {made({2, 7}, [&](int64_t i, int64_t j) {
                   return j == 0 || j == 6 ? static_cast<float>(100 * (i + 1)) : at(i, j - 1);
                 })});
}

TEST(ImportedMoves, DepthAndSpace) {
  const Filled x = counted({1, 8, 1, 2});
  for (const bool isColumns : {false, true}) {
    ModelMaker maker;
    maker.input("x", {1, 8, 1, 2}).node("DepthToSpace", {"x"}, {"y"}).integer("blocksize", 2);
    if (isColumns) {
      maker.word("mode", "CRD");
    }
    Filled y = {{1, 2, 2, 4}, std::vector<float>(16)};
    for (int64_t c = 0; c < 2; ++c) {
      for (int64_t h = 0; h < 2; ++h) {
        for (int64_t w = 0; w < 4; ++w) {
          const int64_t block = h * 2 + w % 2;
          const int64_t channel = isColumns ? c * 4 + block : block * 2 + c;
          y.elements[static_cast<size_t>((c * 2 + h) * 4 + w)] =
              x.elements[static_cast<size_t>(channel * 2 + w / 2)];
        }
      }
    }
    expectComputed(maker.output("y"), {x}, {y});
    if (!isColumns) {
      ModelMaker back;
      back.input("x", {1, 2, 2, 4}).node("SpaceToDepth", {"x"}, {"y"}).integer("blocksize", 2);
      expectComputed(back.output("y"), {y}, {x});
    }
  }
}

TEST(ImportedMoves, SizesThatShapesSayAlreadyAreLeftOut) {
  ModelMaker maker;
  maker.input("x", {2, 3, 4}).node("Shape", {"x"}, {"s"}).integers("first", {0});
  maker.node("Gather", {"s", "first"}, {"n"}).integers("rest", {-1});
  maker.node("Concat", {"n", "rest"}, {"to"}).integer("axis", 0);
  maker.node("Reshape", {"x", "to"}, {"y"}).output("y");
  EXPECT_EQ(bodyOf(maker), "y = torch.reshape(x, (2, 12))");
  ModelMaker open;
  open.input("x", {"N", 3, 4}).integers("to", {0, -1}).node("Reshape", {"x", "to"}, {"y"});
  EXPECT_EQ(bodyOf(open.output("y"), "", {{"N", 5}}), "y = torch.reshape(x, (N, 12))");
  ModelMaker named; // as exporters write what stays open
  named.input("x", {"N", "S", 12}).node("Shape", {"x"}, {"s"}).integers("second", {1});
  named.node("Gather", {"s", "second"}, {"n"}).integers("rest", {-1, 3, 4});
  named.integers("zero", {0}).integers("one", {1}).node("Slice", {"s", "zero", "one"}, {"b"});
  named.node("Concat", {"b", "n", "rest"}, {"to"}).integer("axis", 0);
  named.node("Reshape", {"x", "to"}, {"y"}).output("y");
  EXPECT_EQ(bodyOf(named, "", {{"N", 5}, {"S", 2}}), "y = torch.reshape(x, (N, S, 1, 3, 4))");
  ModelMaker spread(11);
  spread.input("x", {"N", 3}).node("Shape", {"x"}, {"s"}).integers("zero", {0});
  spread.node("Squeeze", {"zero"}, {"from"}).integers("one", {1}).node("Squeeze", {"one"}, {"by"});
  spread.node("Gather", {"s", "from"}, {"n"}).node("Range", {"from", "n", "by"}, {"r"});
  spread.node("Unsqueeze", {"r"}, {"column"}).list("axes", {1});
  spread.node("Expand", {"column", "s"}, {"whole"}).node("Cast", {"whole"}, {"f"});
  spread.integer("to", 1).node("ConstantOfShape", {"s"}, {"none"});
  spread.node("Sum", {"x", "f", "none"}, {"y"}).output("y");
  EXPECT_EQ(bodyOf(spread, "", {{"N", 5}}),
            "r = torch.arange(N)\ncolumn = torch.unsqueeze(r, 1)\n"
            "whole = torch.broadcast_to(column, (N, 3))\nf = whole.to(torch.float32)\n"
            "none = torch.full((N, 3), 0.0, dtype=torch.float32)\ny = x + f + none");
  ModelMaker folded;
  folded.input("x", {"N", 3, 4}).integers("to", {-1, 4}).node("Reshape", {"x", "to"}, {"y"});
  auto refused = imported(folded.output("y"), "", {{"N", 5}});
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code, "E0636") << "3 N has no name";
}

TEST(ImportedMoves, IndicesSayWhatTheyReach) {
  ModelMaker maker;
  maker.input("x", {5, 7}).input("i", {3}, 7).node("Gather", {"x", "i"}, {"y"}).integer("axis", 1);
  auto definition = imported(maker.output("y"));
  ASSERT_TRUE(definition) << render(definition.error());
  EXPECT_NE(definition->text.find("y = x[:, i]"), std::string::npos) << definition->text;
  EXPECT_NE(definition->text.find("range = [\"-7\", \"7\"]"), std::string::npos)
      << definition->text;
  ModelMaker scatter(18);
  scatter.input("x", {5, 7}).input("i", {2, 7}, 7).input("u", {2, 7});
  scatter.node("ScatterElements", {"x", "i", "u"}, {"y"}).integer("axis", 0).output("y");
  auto placed = imported(scatter);
  ASSERT_TRUE(placed) << render(placed.error());
  EXPECT_NE(placed->text.find("distinct = -2"), std::string::npos) << placed->text;
}

TEST(ImportedWindows, PaddingsOfTheSidesMayDiffer) {
  const Filled x = counted({1, 1, 1, 6});
  ModelMaker same;
  same.input("x", {1, 1, 1, 6}).node("MaxPool", {"x"}, {"y"}).list("kernel_shape", {1, 3});
  same.list("strides", {1, 2}).word("auto_pad", "SAME_UPPER").output("y");
  // Two more elements are needed than there are, one of them behind the end.
  Filled y = {{1, 1, 1, 3}, {}};
  for (int64_t j = 0; j < 3; ++j) {
    float largest = -std::numeric_limits<float>::infinity();
    for (int64_t k = 0; k < 3; ++k) {
      const int64_t at = 2 * j + k;
      largest = at < 6 ? std::max(largest, x.elements[static_cast<size_t>(at)]) : largest;
    }
    y.elements.push_back(largest);
  }
  expectComputed(same, {x}, {y});
  ModelMaker mean;
  mean.input("x", {1, 1, 1, 6}).node("AveragePool", {"x"}, {"y"}).list("kernel_shape", {1, 3});
  mean.list("pads", {0, 1, 0, 1}).output("y");
  Filled means = {{1, 1, 1, 6}, {}};
  for (int64_t j = 0; j < 6; ++j) {
    float sum = 0, count = 0;
    for (int64_t at = std::max<int64_t>(j - 1, 0); at <= std::min<int64_t>(j + 1, 5); ++at) {
      sum += x.elements[static_cast<size_t>(at)];
      count += 1;
    }
    means.elements.push_back(sum / count);
  }
  expectComputed(mean, {x}, {means});
}

TEST(ImportedWindows, MeansOfWhatPaddingsLeave) {
  const Filled x = counted({1, 1, 1, 6});
  for (const bool counts : {false, true}) {
    ModelMaker maker;
    maker.input("x", {1, 1, 1, 6}).node("AveragePool", {"x"}, {"y"}).list("kernel_shape", {1, 3});
    maker.list("pads", {0, 2, 0, 1}).integer("count_include_pad", counts ? 1 : 0).output("y");
    Filled means = {{1, 1, 1, 7}, {}};
    for (int64_t j = 0; j < 7; ++j) {
      float sum = 0, count = 0;
      for (int64_t at = std::max<int64_t>(j - 2, 0); at <= std::min<int64_t>(j, 5); ++at) {
        sum += x.elements[static_cast<size_t>(at)];
        count += 1;
      }
      means.elements.push_back(sum / (counts ? 3 : count));
    }
    expectComputed(maker, {x}, {means});
  }
}

TEST(ImportedWindows, NearestPixelsOfWholeMultiples) {
  const Filled x = counted({1, 2, 1, 3});
  ModelMaker maker(18);
  maker.input("x", {1, 2, 1, 3}).floats("scales", {4}, {1, 1, 2, 3});
  maker.node("Resize", {"x", "", "scales"}, {"y"}).output("y");
  Filled y = {{1, 2, 2, 9}, {}};
  for (int64_t c = 0; c < 2; ++c) {
    for (int64_t h = 0; h < 2; ++h) {
      for (int64_t w = 0; w < 9; ++w) {
        y.elements.push_back(x.elements[static_cast<size_t>(c * 3 + w / 3)]);
      }
    }
  }
  expectComputed(maker, {x}, {y});
}

TEST(ImportedConversions, QuantisedThereAndBack) {
  ModelMaker maker(21);
  maker.input("x", {4}).floats("scale", {}, {0.5F}).input("zero", {1}, 3);
  maker.node("QuantizeLinear", {"x", "scale", "zero"}, {"q"});
  maker.node("DequantizeLinear", {"q", "scale", "zero"}, {"y"}).output("y");
  EXPECT_EQ(bodyOf(maker),
            "q_steps = torch.clamp(torch.round(x / 0.5) + zero.to(torch.float32), -128.0, 127.0)\n"
            "q = torch.where(torch.isnan(q_steps), 0.0, q_steps).to(torch.int8)\n"
            "y = (q.to(torch.float32) - zero.to(torch.float32)) * 0.5");
}

} // namespace
} // namespace nereid::importer
