// SPDX-License-Identifier: Apache-2.0
// Bodies: operators, calls, methods, folding, and what is refused with which code and caret.
#include "unittests/definition/Loading.h"

#include "lib/definition/operations/Operations.h"

namespace nereid::definition {
namespace {

std::vector<std::string> operations(const Operator &op) {
  std::vector<std::string> names;
  for (const Node &node : op.nodes) {
    if (!isLeaf(node)) {
      names.push_back(node.op);
    }
  }
  return names;
}

TEST(Body, OperatorsBecomeOperations) {
  Loaded loaded = load(withBody("a = -x + y * 2 - x / y\nout = a ** 2"));
  ASSERT_TRUE(loaded.op) << loaded.diags.render();
  EXPECT_EQ(operations(*loaded.op),
            (std::vector<std::string>{"neg", "mul", "add", "div", "sub", "pow"}));
}

TEST(Body, AllSpellingsOfACallMeanTheSame) {
  for (const char *body : {"out = torch.relu(x)", "out = F.relu(x)", "out = x.relu()",
                           "out = relu(x)", "out = torch.nn.functional.relu(input=x)"}) {
    Loaded loaded = load(withBody(body));
    ASSERT_TRUE(loaded.op) << body << loaded.diags.render();
    EXPECT_EQ(operations(*loaded.op), std::vector<std::string>{"relu"}) << body;
  }
}

TEST(Body, NumbersAreFolded) {
  Loaded loaded = load(withBody("c = math.sqrt(2.0 * 2) / -4\nout = x * c"));
  ASSERT_TRUE(loaded.op) << loaded.diags.render();
  const Node &product = loaded.op->nodes.back();
  const Node &constant = loaded.op->nodes[static_cast<size_t>(product.inputs[1])];
  EXPECT_EQ(constant.op, "constant");
  EXPECT_EQ(constantValue(constant), -0.5);
}

TEST(Body, NumbersHaveNoQuotientsByZero) {
  for (const char *body : {"out = x * (1 / 0)", "out = x + 3 // 0", "out = x + 3 % (2 - 2)"}) {
    EXPECT_EQ(load(withBody(body)).code(), "E0608") << body;
  }
  EXPECT_EQ(load(withBody("out = x / 0")).code(), ""); // of tensors it is an infinity, or NaN
}

/// Whose heads are [B, S, 16], with as many keys as queries.
TEST(Body, AttentionIsItsProductsAndSoftmax) {
  const auto operationsOf = [](const std::string &body) {
    const auto heads = [](const std::string &name, const std::string &last) {
      return name + "]\nshape = [\"B\", \"S\", " + last + "]\n";
    };
    const std::string masks = "[inputs.m]\nshape = [\"S\", 1]\n[inputs.b]\nshape = [\"S\", 1]"
                              "\ndtype = \"bool\"\n";
    const Loaded loaded =
        load("[operator]\nname = \"t\"\nsummary = \"s\"\ndtypes = [\"float16\"]\nconstraints = "
             "[\"S >= 1\"]\nbody = '''\n" +
             body + "\n'''\n" + heads("[inputs.q", "16") + heads("[inputs.k", "16") +
             heads("[inputs.v", "\"E\"") + heads("[outputs.out", "\"E\"") +
             (body.find(" m") == std::string::npos ? "" : masks) +
             "[performance]\ncases = [{ B = 2, S = 3, E = 4 }]\n");
    EXPECT_TRUE(loaded.op) << loaded.diags.render();
    return loaded.op ? operations(*loaded.op) : std::vector<std::string>();
  };
  EXPECT_EQ(operationsOf("out = F.scaled_dot_product_attention(q, k, v)"),
            operationsOf("out = F.softmax(q @ k.mT * 0.25, dim=-1) @ v"));
  EXPECT_EQ(operationsOf("out = F.scaled_dot_product_attention(q, k, v, scale=2.0)"),
            operationsOf("out = F.softmax(q @ k.mT * 2.0, dim=-1) @ v"));
  EXPECT_EQ(
      operationsOf("out = F.scaled_dot_product_attention(q, k, v, is_causal=True)"),
      (std::vector<std::string>{"permute", "matmul", "mul", "_positions", "_positions", "unsqueeze",
                                "unsqueeze", "ge", "where", "softmax", "matmul"}));
  EXPECT_EQ(operationsOf("out = F.scaled_dot_product_attention(q, k, v, m) + b"),
            operationsOf("s = q @ k.mT * 0.25 + m\nsees = m.amax(-1, True) > -math.inf\n"
                         "out = torch.where(sees, F.softmax(s, dim=-1) @ v, 0.0) + b"));
  EXPECT_EQ(operationsOf("out = F.scaled_dot_product_attention(q, k, v, attn_mask=b) + m"),
            operationsOf("s = torch.where(b, q @ k.mT * 0.25, -math.inf)\nsees = b.any(-1, True)\n"
                         "out = torch.where(sees, F.softmax(s, dim=-1) @ v, 0.0) + m"));
  EXPECT_EQ(load(withBody("out = F.scaled_dot_product_attention(x, x, x, dropout_p=0.1)")).code(),
            "E0608");
  EXPECT_EQ(
      load(withBody("out = F.scaled_dot_product_attention(x, x, x, x, is_causal=True)")).code(),
      "E0608");
}

TEST(Body, CyclesAreToldByTheirLine) {
  Loaded loaded = load(withBody("a = b + x\nb = a * 2\nout = a"));
  EXPECT_EQ(loaded.code(), "E0608");
  EXPECT_NE(loaded.diags.render().find("it is assigned by 'b = a * 2'"), std::string::npos)
      << loaded.diags.render();
}

/// Of sums alone it multiplies an operand.
TEST(Body, AlphaIsAFunctionsOwn) {
  for (const char *body : {"out = F.celu(x, alpha=1.5)", "out = F.elu(x, alpha=1.5)"}) {
    Loaded loaded = load(withBody(body));
    ASSERT_TRUE(loaded.op) << body << loaded.diags.render();
    const Node &call = loaded.op->nodes.back();
    EXPECT_EQ(constantValue(loaded.op->nodes[static_cast<size_t>(call.inputs[1])]), 1.5) << body;
  }
  Loaded sum = load(withBody("out = torch.add(x, y, alpha=1.5)"));
  ASSERT_TRUE(sum.op) << sum.diags.render();
  EXPECT_EQ(operations(*sum.op), (std::vector<std::string>{"mul", "add"}));
}

/// PyTorch's slopes belong to the second dimension, broadcasting aligns the last ones.
TEST(Body, SlopesOfPreluAreThoseOfTheSecondDimension) {
  EXPECT_EQ(load(withBody("out = F.prelu(x, y)", "\"...\", \"D\"")).code(), "E0604");
  EXPECT_TRUE(load(withBody("out = F.prelu(x, 0.25)")).op);
}

std::string layoutBody(const std::string &body, const std::string &outShape) {
  return "[operator]\nname = \"t\"\nsummary = \"s\"\ndtypes = [\"float32\"]\nbody = \"\"\"\n" +
         body +
         "\n\"\"\"\n[inputs.x]\nshape = [\"A\", \"B\", \"C\"]\n[inputs.m]\nshape = [\"M\", \"N\"]\n"
         "[outputs.out]\nshape = [" +
         outShape + "]\n[performance]\ncases = [{ A = 2, B = 3, C = 4, M = 5, N = 6 }]\n";
}

/// Each is the permutation that PyTorch's view is.
TEST(Body, SwapsOfDimensionsArePermutations) {
  const std::string swapped = "\"A\", \"C\", \"B\"", turned = "\"N\", \"M\"";
  const std::pair<const char *, std::string> bodies[] = {
      {"out = x.transpose(-1, -2) + 1 + 0 * m.sum()", swapped},
      {"out = torch.transpose(x, dim0=1, dim1=2) + 1 + 0 * m.sum()", swapped},
      {"out = x.swapaxes(2, 1) + 1 + 0 * m.sum()", swapped},
      {"out = x.mT + 1 + 0 * m.sum()", swapped},
      {"out = m.T + 1 + 0 * x.sum()", turned},
      {"out = m.t() + 1 + 0 * x.sum()", turned},
      {"out = torch.t(m) + 1 + 0 * x.sum()", turned}};
  for (const auto &[body, shape] : bodies) {
    Loaded loaded = load(layoutBody(body, shape));
    ASSERT_TRUE(loaded.op) << body << loaded.diags.render();
    EXPECT_EQ(operations(*loaded.op)[0], "permute") << body;
  }
  Loaded same =
      load(layoutBody("out = x.transpose(1, 1) + 1 + 0 * m.sum()", "\"A\", \"B\", \"C\""));
  EXPECT_TRUE(same.op) << same.diags.render();
  for (const auto &[body, code] :
       {std::pair("out = x.transpose(0, 3)", "E0604"),
        std::pair("out = x.transpose(-4, 0)", "E0604"), std::pair("out = x.T", "E0604"),
        std::pair("out = x.t()", "E0604"), std::pair("out = x.transpose(0)", "E0608"),
        std::pair("out = x.transpose(m, 1)", "E0608"),
        std::pair("out = x.transpose(0, 1, 2)", "E0608"),
        std::pair("out = x.transposed(0, 1)", "E0603")}) {
    EXPECT_EQ(load(layoutBody(body, "\"A\", \"B\", \"C\"")).code(), code) << body;
  }
  EXPECT_EQ(load(withBody("out = x.mT")).code(), "E0604"); // of "..." nothing is known
}

TEST(Body, UnusedNodesAreDropped) {
  Loaded loaded = load(withBody("unused = torch.exp(x)\nout = x + y"));
  ASSERT_TRUE(loaded.op);
  EXPECT_EQ(operations(*loaded.op), std::vector<std::string>{"add"});
}

TEST(Body, ReductionsAndTheirShapes) {
  Loaded loaded =
      load(withBody("m = x.mean(-1, keepdim=True)\nout = torch.sum(x - m, dim=-1)", "\"...\""));
  ASSERT_TRUE(loaded.op) << loaded.diags.render();
  EXPECT_EQ(text(loaded.op->nodes[3].shape), "[..., 1]");
  EXPECT_EQ(text(loaded.op->nodes.back().shape), "[...]");
  EXPECT_EQ(dimsOf(loaded.op->nodes.back()), std::vector<int64_t>{-1});
}

TEST(Body, DefaultOperandsAreFilledIn) {
  Loaded loaded = load(withBody("out = F.layer_norm(x, (D,))"));
  ASSERT_TRUE(loaded.op) << loaded.diags.render();
  const Node &norm = loaded.op->nodes.back();
  ASSERT_EQ(norm.inputs.size(), 4u);
  auto value = [&](size_t i) {
    return constantValue(loaded.op->nodes[static_cast<size_t>(norm.inputs[i])]);
  };
  EXPECT_EQ(value(1), 1.0);
  EXPECT_EQ(value(2), 0.0);
  EXPECT_EQ(value(3), 1e-5);
}

TEST(Body, UnknownFunctionNamesTheNearest) {
  Loaded loaded = load(withBody("out = torch.sofmax(x, dim=-1)"));
  EXPECT_EQ(loaded.code(), "E0603");
  EXPECT_NE(loaded.first().help.find("softmax"), std::string::npos);
  EXPECT_EQ(loaded.first().range.line, 6);
  EXPECT_EQ(loaded.first().range.column, 7);
  EXPECT_EQ(loaded.first().lineText, "out = torch.sofmax(x, dim=-1)");
}

TEST(Body, CaretsFollowIndentedBodies) {
  Loaded loaded = load(withBody("  a = x + y\n  out = a + nothing"));
  EXPECT_EQ(loaded.code(), "E0608");
  EXPECT_EQ(loaded.first().range.line, 7);
  EXPECT_EQ(loaded.first().range.column, 13) << loaded.diags.render();
}

TEST(Body, ShapesThatDoNotBroadcastNameBoth) {
  std::string text = withBody("out = x + y");
  text.replace(text.find("[\"D\"]"), 5, "[\"H\"]");
  Loaded loaded = load(text);
  EXPECT_EQ(loaded.code(), "E0604");
  EXPECT_NE(loaded.first().message.find("'x' [..., D]"), std::string::npos)
      << loaded.diags.render();
  EXPECT_NE(loaded.first().message.find("'y' [H]"), std::string::npos);
}

TEST(Body, OutputMustHaveTheDeclaredShapeAndType) {
  EXPECT_EQ(load(withBody("out = x.sum(-1)")).code(), "E0604");
  EXPECT_EQ(load(withBody("out = x > y")).code(), "E0605");
  EXPECT_TRUE(load(withBody("out = x > y", "\"...\", \"D\"", "dtype = \"bool\"")).op);
}

TEST(Body, RefusalsHaveACode) {
  for (const char *body : {"out = x @ y",
                           "out = x[0]",
                           "out = x if s else y",
                           "out = x and y",
                           "out = x",
                           "other = x + y",
                           "import torch\nout = x + y",
                           "out = x + 'a'",
                           "out, b = x, y",
                           "for i in y:\n  out = x",
                           "out = torch.sum(x, dim=y)",
                           "out = torch.add(x)",
                           "out = torch.add(x, y, y)",
                           "out = torch.mul(x, y, alpha=2)",
                           "out = torch.polygamma(7, x)",
                           "out = F.mse_loss(x, y, reduction='most')",
                           "out = torch.div(x, y, rounding_mode='up')",
                           "out = F.gelu(x, approximate=\"quick\")",
                           "out = torch.exp(2.0) + x",
                           "out = -(x > y)",
                           "out = x.shape",
                           "out = x +",
                           "out = (x"}) {
    Loaded loaded = load(withBody(body));
    EXPECT_FALSE(loaded.op) << body;
    EXPECT_FALSE(loaded.code().empty()) << body;
    EXPECT_GT(loaded.first().range.line, 0) << body << loaded.diags.render();
  }
}

TEST(Body, DimensionsFromTheFrontOfAnOpenRankAreRefused) {
  Loaded loaded = load(withBody("out = torch.sum(x, dim=0)", "\"...\""));
  EXPECT_EQ(loaded.code(), "E0604");
}

TEST(Body, SeveralErrorsInOneRun) {
  Loaded loaded = load(withBody("a = foo(x)\nb = bar(x)\nout = x + y"));
  EXPECT_GE(loaded.diags.all().size(), 2u);
}

TEST(Body, MatrixProducts) {
  for (const char *body : {"out = x @ w", "out = torch.matmul(x, w)", "out = x.mm(w)"}) {
    std::string text = withBody(body, "\"...\", \"N\"", "[inputs.w]\nshape = [\"D\", \"N\"]\n");
    text.replace(text.find("D = 4"), 5, "D = 4, N = 5");
    Loaded loaded = load(text);
    ASSERT_TRUE(loaded.op) << body << loaded.diags.render();
    EXPECT_EQ(operations(*loaded.op), std::vector<std::string>{"matmul"});
    Binding binding;
    binding.symbols = {{"D", 4}, {"N", 5}};
    binding.rest = {2, 3};
    Work work = countWork(*loaded.op, binding, DType::F32);
    EXPECT_EQ(work.flops, 2.0 * 6 * 5 * 4);
    EXPECT_EQ(work.bytesRead, 4.0 * (6 * 4 + 4 * 5));
    EXPECT_EQ(work.bytesWritten, 4.0 * 6 * 5);
    EXPECT_NE(toleranceFor(*loaded.op, binding, DType::F32).derivation.find("up to 4 terms"),
              std::string::npos);
  }
}

TEST(Body, MatrixProductsThatDoNotFit) {
  Loaded loaded =
      load(withBody("out = x @ w", "\"...\", \"D\"", "[inputs.w]\nshape = [\"N\", \"D\"]\n"));
  EXPECT_EQ(loaded.code(), "E0604");
  EXPECT_NE(loaded.first().message.find("'matmul' cannot multiply 'x' [..., D] by 'w' [N, D]"),
            std::string::npos)
      << loaded.first().message;
  EXPECT_EQ(load(withBody("out = x @ s")).code(), "E0604");
}

TEST(Body, NormalizedShapeMayBeAListOfSizes) {
  std::string text = withBody("out = F.layer_norm(x, [1024], y, y, 1e-5)", "\"...\", 1024");
  for (size_t at; (at = text.find("\"D\"")) != std::string::npos;) {
    text.replace(at, 3, "1024");
  }
  text.replace(text.find(", D = 4"), 7, "");
  Loaded loaded = load(text);
  ASSERT_TRUE(loaded.op) << loaded.diags.render();
  EXPECT_EQ(operations(*loaded.op), std::vector<std::string>{"layer_norm"});
}

TEST(Body, UnreadableLinesAreErrorsAtTheirPlace) {
  for (const char *body : {"a = x + y\nout = = a", "a = x +\nout = a", "for i in\nout = x + y",
                           "def f(\nout = x + y", "out = x + y\n)("}) {
    Loaded loaded = load(withBody(body));
    EXPECT_FALSE(loaded.op) << body;
    ASSERT_FALSE(loaded.diags.all().empty()) << body;
    EXPECT_EQ(loaded.first().code.substr(0, 3), "E01") << body;
    EXPECT_GE(loaded.first().range.line, 6) << body;
    EXPECT_LE(loaded.first().range.line, 8) << body;
  }
}

} // namespace
} // namespace nereid::definition
