// SPDX-License-Identifier: Apache-2.0
// Nodes of models as definitions: what is written, that it computes what the nodes do, and what is
// refused.
#include "unittests/importer/Imported.h"

#include "lib/definition/Graph.h"
#include "lib/eager/reference/Reference.h"
#include "lib/importer/body/Names.h"
#include "lib/importer/operators/OperatorTable.h"
#include "runtime/ThreadPool.h"
#include "runtime/tensor/Tensor.h"

#include <cmath>
#include <functional>

namespace nereid::importer {
namespace {

/// One node of two inputs [5] of float32, and its reference on -2, -0.5, 0, 1.5 and 3.
void expectValues(const ModelMaker &maker, const std::function<double(double)> &expected) {
  auto definition = imported(maker);
  ASSERT_TRUE(definition) << render(definition.error());
  Diagnostics diags;
  auto op = definition::parseOperator("op.toml", definition->text, diags);
  ASSERT_TRUE(op) << diags.render();
  const std::vector<float> x = {-2, -0.5, 0, 1.5, 3};
  auto in = runtime::Tensor::empty({5}, DType::F32);
  auto out = runtime::Tensor::empty({5}, DType::F32);
  for (int i = 0; i < 5; ++i) {
    static_cast<float *>(in.data())[i] = x[static_cast<size_t>(i)];
    static_cast<float *>(out.data())[i] =
        static_cast<float>(expected(static_cast<double>(x[static_cast<size_t>(i)])));
  }
  const std::vector<runtime::Tensor> inputs = {in}, outputs = {out};
  auto agreement = eager::checkOutputs(*op, inputs, outputs, DType::F32,
                                       eager::Rounding::EachOperation, runtime::defaultPool());
  ASSERT_TRUE(agreement) << render(agreement.error());
  EXPECT_EQ(agreement->mismatches, 0)
      << definition->text << agreement->first.actual << " and " << agreement->first.expected;
}

ModelMaker unary(const std::string &op, int64_t opset = 20) {
  ModelMaker maker(opset);
  maker.input("x", {5}).node(op, {"x"}, {"y"}).output("y");
  return maker;
}

TEST(Import, ValuesByTheFormulasOfTheOperators) {
  expectValues(unary("Elu").number("alpha", 2),
               [](double x) { return x > 0 ? x : 2 * std::expm1(x); });
  expectValues(unary("Celu").number("alpha", 2),
               [](double x) { return std::max(x, 0.0) + std::min(0.0, 2 * std::expm1(x / 2)); });
  expectValues(unary("Selu").number("alpha", 2).number("gamma", 3),
               [](double x) { return 3 * (x > 0 ? x : 2 * std::expm1(x)); });
  expectValues(unary("HardSigmoid").number("alpha", 0.5F).number("beta", 0.25F),
               [](double x) { return std::clamp(0.5 * x + 0.25, 0.0, 1.0); });
  expectValues(unary("LeakyRelu").number("alpha", 0.25F),
               [](double x) { return x < 0 ? 0.25 * x : x; });
  expectValues(unary("ThresholdedRelu").number("alpha", 2), [](double x) { return x > 2 ? x : 0; });
  expectValues(unary("Shrink").number("lambd", 1).number("bias", 0.5F), [](double x) {
    return x < -1 ? x + 0.5 : x > 1 ? x - 0.5 : 0;
  });
  expectValues(unary("Softplus"), [](double x) { return std::log1p(std::exp(x)); });
  expectValues(unary("Gelu"),
               [](double x) { return 0.5 * x * (1 + std::erf(x / std::sqrt(2.0))); });
  expectValues(unary("Mish"), [](double x) { return x * std::tanh(std::log1p(std::exp(x))); });
  expectValues(unary("Clip", 10).number("min", -1).number("max", 2),
               [](double x) { return std::clamp(x, -1.0, 2.0); });
}

TEST(Import, LinesAreCumulatedAndTheirLargestElementsFound) {
  expectValues(unary("Hardmax"), [](double x) { return x == 3 ? 1 : 0; });
  ModelMaker middle;
  middle.input("x", {"N", 3, 4}).node("Hardmax", {"x"}, {"y"}).integer("axis", 1);
  EXPECT_EQ(bodyOf(middle.output("y"), "", {{"N", 5}}),
            "y = torch.where(torch.reshape(torch.arange(3), (3, 1)) == torch.argmax(x, dim=1, "
            "keepdim=True), torch.ones_like(x), 0.0)");
  ModelMaker old(9);
  old.input("x", {2, 3, 4}).node("Hardmax", {"x"}, {"y"});
  auto together = imported(old.output("y"));
  ASSERT_FALSE(together);
  EXPECT_EQ(together.error().code, "E0636");
  auto products = [](int64_t reverse, int64_t exclusive) {
    ModelMaker maker(26);
    maker.input("x", {5}).integers("axis", {0}).node("CumProd", {"x", "axis"}, {"y"});
    return maker.integer("reverse", reverse).integer("exclusive", exclusive).output("y");
  };
  expectValues(products(0, 0), [product = 1.0](double x) mutable { return product *= x; });
  EXPECT_EQ(bodyOf(products(1, 0)),
            "y = torch.flip(torch.cumprod(torch.flip(x, (0,)), dim=0), (0,))");
  expectValues(products(0, 1), [product = 1.0](double x) mutable {
    const double before = product;
    product *= x;
    return before;
  });
  EXPECT_EQ(bodyOf(products(1, 1)), "y = torch.flip(torch.cumprod(F.pad(torch.flip(x, (0,))[:-1], "
                                    "(1, 0), value=1.0), dim=0), (0,))");
}

TEST(Import, NumbersStandInTheBodyExactly) {
  ModelMaker maker;
  maker.input("x", {4}).floats("c", {1}, {0.1F}).node("Mul", {"x", "c"}, {"y"}).output("y");
  EXPECT_EQ(bodyOf(maker), "y = x * 0.10000000149011612");
  ModelMaker wider;
  wider.input("x", {4}).floats("c", {1, 1}, {0.5F}).node("Mul", {"x", "c"}, {"y"}).output("y");
  EXPECT_EQ(bodyOf(wider), "y = x * c") << "it gives the result a dimension";
  ModelMaker negative;
  negative.input("x", {4}).floats("c", {}, {-2.0F}).node("Pow", {"x", "c"}, {"y"}).output("y");
  EXPECT_EQ(bodyOf(negative), "y = x ** (-2.0)");
}

ModelMaker block() {
  ModelMaker maker;
  maker.input("x", {"N", 16}).input("b", {16}).floats("scale", {16}, std::vector<float>(16, 1));
  maker.node("Add", {"x", "b"}, {"sum/out"}).node("Relu", {"sum/out"}, {"r"});
  maker.node("LayerNormalization", {"r", "scale", "b"}, {"n"}).node("Neg", {"n"}, {"y"});
  maker.output("y");
  return maker;
}

TEST(Import, RangesOfNodesAndTheirBorders) {
  EXPECT_EQ(bodyOf(block(), "", {{"N", 8}}),
            "sum_out = x + b\nr = torch.relu(sum_out)\n"
            "n = F.layer_norm(r, (16,), scale, b, 9.999999747378752e-06)\ny = -n");
  EXPECT_EQ(bodyOf(block(), "1..2", {{"N", 8}}).substr(0, 24), "r = torch.relu(sum_out)\n");
  EXPECT_EQ(bodyOf(block(), "the_r..the_n", {{"N", 8}}), bodyOf(block(), "1..2", {{"N", 8}}));
  EXPECT_EQ(bodyOf(block(), "the_y", {{"N", 8}}), "y = -n");
  EXPECT_EQ(bodyOf(block(), "1,2", {{"N", 8}}), bodyOf(block(), "1..2", {{"N", 8}}));
  auto middle = imported(block(), "1..2", {{"N", 8}});
  ASSERT_TRUE(middle);
  EXPECT_NE(middle->text.find("[inputs.sum_out]\nshape = [\"N\", 16]\n"
                              "description = \"'sum/out' in the model\""),
            std::string::npos)
      << middle->text;
  EXPECT_NE(middle->text.find("[outputs.n]"), std::string::npos);
  EXPECT_NE(middle->text.find(" N = 8"), std::string::npos);
}

TEST(Import, OperatorsWithRulesOfTheirOwn) {
  auto binary = [](const std::string &op) {
    ModelMaker maker(22);
    return maker.input("x", {4}).input("z", {4}).node(op, {"x", "z"}, {"y"}).output("y");
  };
  EXPECT_EQ(bodyOf(binary("Mod")), "y = torch.remainder(x, z)");
  EXPECT_EQ(bodyOf(binary("Mod").integer("fmod", 1)), "y = torch.fmod(x, z)");
  EXPECT_EQ(bodyOf(binary("Mean")), "y = (x + z) / 2.0");
  EXPECT_EQ(bodyOf(binary("Max")), "y = torch.maximum(x, z)");
  ModelMaker gemm;
  gemm.input("x", {8, 4}).input("w", {16, 8}).input("b", {16}).node("Gemm", {"x", "w", "b"}, {"y"});
  gemm.integer("transA", 1).integer("transB", 1).number("alpha", 0.5F).number("beta", 2);
  EXPECT_EQ(bodyOf(gemm.output("y")),
            "y = torch.matmul(x.permute(1, 0), w.permute(1, 0)) * 0.5 + b * 2.0");
  ModelMaker conv;
  conv.input("x", {1, 4, 9, 9}).input("w", {6, 2, 3, 3}).node("Conv", {"x", "w"}, {"y"});
  conv.list("pads", {1, 2, 1, 2}).list("strides", {2, 1}).integer("group", 2).output("y");
  EXPECT_EQ(bodyOf(conv), "y = F.conv2d(x, w, None, stride=(2, 1), padding=(1, 2), "
                          "dilation=(1, 1), groups=2)");
  ModelMaker reduce(13);
  reduce.input("x", {2, 3, 4}).node("ReduceMean", {"x"}, {"y"}).list("axes", {-1, 0}).output("y");
  EXPECT_EQ(bodyOf(reduce), "y = torch.mean(x, dim=(0, 2,), keepdim=True)");
  ModelMaker cast;
  cast.input("x", {4}, 9).node("Cast", {"x"}, {"y"}).integer("to", 1).output("y");
  EXPECT_EQ(bodyOf(cast), "y = x.to(torch.float32)");
  ModelMaker clip;
  clip.input("x", {4}).floats("top", {}, {2}).node("Clip", {"x", "", "top"}, {"y"}).output("y");
  EXPECT_EQ(bodyOf(clip), "y = torch.minimum(x, 2.0)");
}

TEST(Import, WhatIsRefusedAndWhere) {
  auto code = [](const Result<ImportedDefinition> &result) {
    return result ? std::string() : result.error().code;
  };
  EXPECT_EQ(code(imported(block())), "E0634") << "a size is open";
  EXPECT_EQ(code(imported(block(), "9..10")), "E0636");
  EXPECT_EQ(code(imported(block(), "the_q")), "E0636");
  EXPECT_EQ(code(imported(block(), "2..1")), "E0636");
  ModelMaker places;
  places.input("x", {2, 4}).node("NonZero", {"x"}, {"y"});
  auto refused = imported(places.output("y"));
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code, "E0636");
  EXPECT_NE(refused.error().message.find("node 0 'the_y' (NonZero)"), std::string::npos);
  EXPECT_FALSE(refused.error().help.empty());
}

TEST(Import, SoftmaxOfOlderSetsIsTakenOverSeveralDimensions) {
  ModelMaker old(9);
  old.input("x", {"N", 3, 4}).node("Softmax", {"x"}, {"y"}).output("y");
  EXPECT_EQ(bodyOf(old, "", {{"N", 2}}),
            "y = torch.reshape(torch.softmax(torch.reshape(x, (N, 3 * 4)), dim=1), (N, 3, 4))");
}

TEST(Import, NamesAreGivenOnceAndFree) {
  EXPECT_EQ(identifierOf("/layer.0/Add:0"), "layer_0_Add_0");
  EXPECT_EQ(identifierOf("123"), "v123");
  EXPECT_EQ(identifierOf(""), "v");
  EXPECT_EQ(identifierOf("lambda"), "lambda_");
  EXPECT_EQ(identifierOf("F"), "F_");
  Names names;
  EXPECT_EQ(names.of("a.b"), "a_b");
  EXPECT_EQ(names.of("a/b"), "a_b_2");
  EXPECT_EQ(names.of("a.b"), "a_b");
  EXPECT_EQ(names.ofSize("N"), "N");
  EXPECT_EQ(names.of("N"), "N_2") << "a value of the name of a size";
}

TEST(Import, EveryBodyOfTheTableIsRead) {
  // A row that misspells a function would be refused by the reader of definitions.
  for (const std::string &name : importableNames()) {
    if (findOnnxOperator(name)->body.starts_with("@") ||
        findOnnxOperator(name)->body.find("@") != std::string_view::npos) {
      continue;
    }
    bool isImported = false;
    std::string said;
    for (int type : {1, 7, 9}) {
      for (size_t inputs = 1; inputs <= 3 && !isImported; ++inputs) {
        ModelMaker maker(newestOpset);
        std::vector<std::string> names;
        for (size_t i = 0; i < inputs; ++i) {
          const bool isCondition = name == "Where" && i == 0;
          const bool isMatrix = name == "MatMul";
          names.push_back("x" + std::to_string(i));
          maker.input(names.back(), {4, isMatrix ? 4 : 6}, isCondition ? 9 : type);
        }
        maker.node(name, names, {"y"}).output("y");
        Read read = inferred(maker);
        if (read.diags.hasErrors()) {
          continue;
        }
        Diagnostics diags;
        auto definition = importNodes(*read.model, {0}, "op", {}, diags);
        isImported = static_cast<bool>(definition);
        said = definition ? "" : render(definition.error()) + diags.render();
      }
    }
    EXPECT_TRUE(isImported) << name << ": " << said;
  }
}

} // namespace
} // namespace nereid::importer
