// SPDX-License-Identifier: Apache-2.0
// Laws of shapes, counts of work, tolerances and decomposition, against numbers worked out by hand.
#include "unittests/definition/Loading.h"

#include "lib/definition/Tolerance.h"
#include "lib/definition/operations/Promotion.h"
#include "lib/definition/operations/Shape.h"

#include <cmath>

namespace nereid::definition {
namespace {

SymbolicShape shape(const std::vector<std::string> &entries) {
  return std::get<SymbolicShape>(parseShape(entries));
}

std::string joined(const std::vector<std::string> &a, const std::vector<std::string> &b) {
  auto result = broadcast(shape(a), shape(b));
  auto swapped = broadcast(shape(b), shape(a));
  EXPECT_EQ(result.has_value(), swapped.has_value());
  if (result && swapped) {
    EXPECT_EQ(*result, *swapped); // the law: broadcasting is symmetric
  }
  return result ? text(*result) : "none";
}

TEST(Shape, Broadcasting) {
  EXPECT_EQ(joined({"...", "D"}, {"D"}), "[..., D]");
  EXPECT_EQ(joined({"...", "D"}, {"...", "1"}), "[..., D]");
  EXPECT_EQ(joined({"...", "D"}, {}), "[..., D]");
  EXPECT_EQ(joined({"B", "H", "Q", "K"}, {"B", "1", "1", "K"}), "[B, H, Q, K]");
  EXPECT_EQ(joined({"3", "1"}, {"1", "4"}), "[3, 4]");
  EXPECT_EQ(joined({"...", "D"}, {"H"}), "none");
  EXPECT_EQ(joined({"...", "D"}, {"H", "D"}), "none");
  EXPECT_EQ(joined({"..."}, {"...", "D"}), "none");
  EXPECT_EQ(joined({"3"}, {"4"}), "none");
  EXPECT_TRUE(std::holds_alternative<std::string>(parseShape({"D", "..."})));
  EXPECT_TRUE(std::holds_alternative<std::string>(parseShape({"-1"})));
  EXPECT_TRUE(std::holds_alternative<std::string>(parseShape({"a b"})));
}

TEST(Shape, BindingFromShapes) {
  Loaded loaded = load(withBody("out = x + y"));
  ASSERT_TRUE(loaded.op);
  auto binding = bindShapes(*loaded.op, {{5, 6, 7}, {7}, {}});
  ASSERT_TRUE(binding);
  EXPECT_EQ(binding->rest, (std::vector<int64_t>{5, 6}));
  EXPECT_EQ(binding->symbols.at("D"), 7);
  auto vector = bindShapes(*loaded.op, {{7}, {7}, {}});
  ASSERT_TRUE(vector);
  EXPECT_TRUE(vector->rest.empty());
  auto wrong = bindShapes(*loaded.op, {{5, 7}, {8}, {}});
  ASSERT_FALSE(wrong);
  EXPECT_EQ(wrong.error().code, "E0604");
  EXPECT_NE(wrong.error().message.find("'y'"), std::string::npos);
  EXPECT_NE(wrong.error().message.find("[8]"), std::string::npos);
  EXPECT_FALSE(bindShapes(*loaded.op, {{}, {8}, {}}));
  EXPECT_FALSE(bindShapes(*loaded.op, {{8}}));
}

TEST(Work, BroadcastAddCountsEachByteOnce) {
  Diagnostics diags;
  auto op = loadOperator(NEREID_SOURCE_DIR "/operators/broadcast_add.toml", diags);
  ASSERT_TRUE(op);
  Binding binding{{{"D", 32}}, {10, 20}};
  Work work = countWork(*op, binding, DType::F32);
  EXPECT_EQ(work.bytesRead, 4.0 * (6400 + 32));
  EXPECT_EQ(work.bytesWritten, 4.0 * 6400);
  EXPECT_EQ(work.flops, 6400.0);
  EXPECT_EQ(countWork(*op, binding, DType::F16).bytes(), 2.0 * (2 * 6400 + 32));
  EXPECT_EQ(tensorBytes(*op, binding, DType::F32), work.bytes());
}

TEST(Work, UnfusedMovesIntermediates) {
  Diagnostics diags;
  auto op = loadOperator(NEREID_SOURCE_DIR "/operators/bias_relu.toml", diags);
  ASSERT_TRUE(op);
  Binding binding{{{"D", 8}}, {4}};
  // add reads 32 + 8 and writes 32; relu reads 32 and writes 32.
  EXPECT_EQ(countUnfusedWork(*op, binding, DType::F32).bytes(), 4.0 * (32 + 8 + 32 + 32 + 32));
  EXPECT_EQ(countWork(*op, binding, DType::F32).bytes(), 4.0 * (32 + 8 + 32));
}

/// What is taken of a view is all that is read of what it views.
TEST(Work, OfViewsAsMuchIsReadAsIsUsed) {
  auto read = [](const std::string &out, const std::string &shape) {
    Loaded loaded =
        load("[operator]\nname = \"t\"\nsummary = \"s\"\ndtypes = [\"float32\"]\nbody = "
             "\"\"\"\nout = " +
             out +
             "\n\"\"\"\n[inputs.x]\nshape = [\"N\", \"D\"]\n[inputs.k]\nshape = [\"K\"]\ndtype "
             "= \"int64\"\nrange = [0, \"N\"]\n[outputs.out]\nshape = [" +
             shape + "]\n[performance]\ncases = [{ N = 64, D = 32, K = 5 }]\n");
    EXPECT_TRUE(loaded.op) << loaded.code();
    return loaded.op
               ? countWork(*loaded.op, {{{"N", 64}, {"D", 32}, {"K", 5}}, {}}, DType::F32).bytesRead
               : 0;
  };
  const double keys = 8.0 * 5;
  EXPECT_EQ(read("x.reshape(N * D)[k] + 1.0", "\"K\""), 4.0 * 5 + keys);
  EXPECT_EQ(read("x.permute(1, 0)[3] + k[0]", "\"N\""), 4.0 * 64 + 8);
  EXPECT_EQ(read("x.T[:, k] * 2.0", "\"D\", \"K\""), 4.0 * 5 * 32 + keys);
  // All of it where the view itself is a result, or something else reads it.
  EXPECT_EQ(read("x.permute(1, 0).exp() + k.sum()", "\"D\", \"N\""), 4.0 * 64 * 32 + keys);
  EXPECT_EQ(read("x.reshape(N * D)[k] + x.sum()", "\"K\""), 4.0 * 64 * 32 + keys);
}

TEST(Work, AnOperandThatComesTwiceIsReadOnce) {
  Loaded loaded = load(withBody("out = x * x + y"));
  ASSERT_TRUE(loaded.op);
  const Binding binding{{{"D", 8}}, {4}};
  // The product reads 32 and writes 32, the sum reads 32 + 8 and writes 32.
  EXPECT_EQ(countUnfusedWork(*loaded.op, binding, DType::F32).bytes(), 4.0 * (64 + 72));
}

TEST(Tolerance, FollowsTypeAndLength) {
  Loaded one = load(withBody("out = x + y"));
  Loaded sum = load(withBody("out = torch.sum(x, dim=-1)", "\"...\""));
  ASSERT_TRUE(one.op && sum.op);
  Binding shortRow{{{"D", 4}}, {2}}, longRow{{{"D", 10000}}, {2}};
  Tolerance add = toleranceFor(*one.op, shortRow, DType::F32);
  EXPECT_DOUBLE_EQ(add.relative, 2 * std::ldexp(1.0, -24));
  Tolerance half = toleranceFor(*one.op, shortRow, DType::F16);
  EXPECT_GT(half.relative, std::ldexp(1.0, -11));
  EXPECT_LT(half.relative, std::ldexp(1.0, -9));
  Tolerance few = toleranceFor(*sum.op, shortRow, DType::F32);
  Tolerance many = toleranceFor(*sum.op, longRow, DType::F32);
  EXPECT_GT(many.relative, 100 * few.relative);
  EXPECT_LT(many.relative, 2e-4);
  EXPECT_NE(many.derivation.find("10000"), std::string::npos);
  EXPECT_EQ(summationSteps(1), 0);
  EXPECT_EQ(summationSteps(5), 4);
  EXPECT_EQ(summationSteps(10000), 600);
}

TEST(Decompose, LeavesOnlyPrimitives) {
  for (const char *body : {"out = torch.softmax(x, dim=-1)", "out = F.log_softmax(x, dim=-1)",
                           "out = F.layer_norm(x, (D,), y, y, s)", "out = F.rms_norm(x, (D,), y)",
                           "out = x - torch.var(x, dim=-1, correction=0, keepdim=True)",
                           "out = x - torch.logsumexp(x, dim=-1, keepdim=True)"}) {
    Loaded loaded = load(withBody(body));
    ASSERT_TRUE(loaded.op) << body << loaded.diags.render();
    Operator plain = decomposed(*loaded.op);
    ASSERT_EQ(plain.parameters.size(), 3u);
    for (size_t i = 0; i < plain.nodes.size(); ++i) {
      const Node &node = plain.nodes[i];
      const Operation *operation = findOperation(node.op);
      EXPECT_TRUE(isLeaf(node) || operation->kind != OperationKind::Composite) << node.op;
      EXPECT_NE(node.op, "var");
      for (int input : node.inputs) {
        EXPECT_LT(static_cast<size_t>(input), i);
      }
    }
    const Node &output = plain.nodes[static_cast<size_t>(plain.outputs[0])];
    EXPECT_EQ(text(output.shape), "[..., D]") << body;
    EXPECT_EQ(output.name, "out");
  }
}

TEST(Decompose, WritesOutWhatIsThere) {
  auto names = [](const char *body, const char *shape) {
    Loaded loaded = load(withBody(body, shape));
    std::string list;
    if (loaded.op) {
      const Operator plain = decomposed(*loaded.op);
      for (size_t i = plain.parameters.size(); i < plain.nodes.size(); ++i) {
        EXPECT_FALSE(plain.nodes[i].source.empty()) << plain.nodes[i].op;
        list += isLeaf(plain.nodes[i]) ? "" : plain.nodes[i].op + " ";
      }
    }
    return list;
  };
  // A weight and a bias that are left out cost nothing.
  EXPECT_EQ(names("out = F.layer_norm(x, (D,))", "\"...\", \"D\""),
            "mean sub square mean add rsqrt mul ");
  EXPECT_EQ(names("out = F.rms_norm(x, (D,), y)", "\"...\", \"D\""),
            "square mean add rsqrt mul mul ");
  // The maximum is computed once; of one element, it drops the dimension.
  EXPECT_EQ(names("out = torch.logsumexp(x, dim=-1)", "\"...\""),
            "amax isfinite where sub exp sum log add amax ");
}

TEST(Types, PromotionFollowsPyTorch) {
  EXPECT_EQ(promote(DType::Bool, DType::I8), DType::I8);
  EXPECT_EQ(promote(DType::U8, DType::I8), DType::I16);
  EXPECT_EQ(promote(DType::I64, DType::F16), DType::F16);
  EXPECT_EQ(promote(DType::F16, DType::BF16), DType::F32);
  EXPECT_EQ(promote(DType::F32, DType::F64), DType::F64);
}

} // namespace
} // namespace nereid::definition
