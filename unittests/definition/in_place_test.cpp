// SPDX-License-Identifier: Apache-2.0
// Bodies that write into an input: what the graph becomes, which output has the input's memory, and
// what PyTorch refuses.
#include "unittests/definition/Loading.h"

#include "lib/definition/operations/Operations.h"

namespace nereid::definition {
namespace {

/// a: [N, D], b: [N, D], row: [D], places: int64 [M]; out: [N, D].
std::string definition(const std::string &body, const std::string &dtypes = "\"float32\"",
                       const std::string &more = "") {
  return "[operator]\nname = \"t\"\nsummary = \"s\"\ndtypes = [" + dtypes + "]\nbody = \"\"\"\n" +
         body +
         "\n\"\"\"\n[inputs.a]\nshape = [\"N\", \"D\"]\n[inputs.b]\nshape = [\"N\", \"D\"]\n"
         "[inputs.row]\nshape = [1, \"D\"]\n[inputs.places]\nshape = [\"M\"]\ndtype = \"int64\"\n"
         "range = [0, \"N\"]\n[inputs.s]\nvalue = 2.5\n[inputs.seed]\nvalue = 3\n"
         "[outputs.out]\nshape = [\"N\", \"D\"]\n" +
         more + "[performance]\ncases = [{ N = 2, D = 4, M = 2 }]\n";
}

/// The output's formula: names of operations, inputs and numbers.
std::string formula(const Operator &op, int number) {
  const Node &node = op.nodes[static_cast<size_t>(number)];
  if (node.op == "input" || node.op == "scalar") {
    return node.name;
  }
  if (isNumber(node)) {
    return "#";
  }
  std::string list;
  for (int input : node.inputs) {
    list += (list.empty() ? "" : ", ") + formula(op, input);
  }
  return node.op + "(" + list + ")";
}

std::string formula(const std::string &body) {
  Loaded loaded = load(definition(body));
  EXPECT_TRUE(loaded.op) << body << loaded.diags.render();
  return loaded.op ? formula(*loaded.op, loaded.op->outputs[0]) : "";
}

TEST(InPlace, TheNameStandsForTheResultFromThereOn) {
  EXPECT_EQ(formula("out = a.add_(b)"), "add(a, b)");
  EXPECT_EQ(formula("a.add_(b)\nout = a"), "add(a, b)");
  EXPECT_EQ(formula("torch.add_(a, b)\nout = a"), "add(a, b)");
  EXPECT_EQ(formula("a += b\nout = a"), "add(a, b)");
  EXPECT_EQ(formula("a.mul_(2).add_(b)\nout = a"), "add(mul(a, #), b)");
  EXPECT_EQ(formula("a.mul_(b)\na.sub_(b)\nout = a"), "sub(mul(a, b), b)");
  EXPECT_EQ(formula("t = a * 2\na.copy_(b)\nout = a.add_(t)"), "add(to_float32(b), mul(a, #))");
  EXPECT_EQ(formula("a[places] = b[places]\nout = a"), "index_put(a, places, index(b, places))");
  EXPECT_EQ(formula("a[places] = 0\nout = a"), "index_put(a, places, full(#))");
  EXPECT_EQ(formula("a[a > 1] = s\nout = a"), "masked_fill(a, gt(a, #), s)");
  // Other names of the tensor change with it.
  EXPECT_EQ(formula("y = a\na.add_(b)\nout = y"), "add(a, b)");
  EXPECT_EQ(formula("out = a.add_(b)\na.mul_(b)"), "mul(add(a, b), b)");
  EXPECT_EQ(formula("y = a * b\nz = y\nz += a\nout = y"), "add(mul(a, b), a)");
  EXPECT_EQ(formula("y = a * b\nz = a * b\nz += a\nout = y"), "mul(a, b)");
}

TEST(InPlace, PartsAreWrittenByPuttingTheTensorTogether) {
  EXPECT_EQ(formula("a[:, 1:] = b[:, 1:]\nout = a"), "cat(narrow(a), narrow(b))");
  EXPECT_EQ(formula("a[:, 1:2] = b[:, :1]\nout = a"), "cat(narrow(a), narrow(b), narrow(a))");
  EXPECT_EQ(formula("a[:] = b\nout = a"), "to_float32(b)");
  EXPECT_EQ(formula("a[..., 1:] += b[..., 1:]\nout = a"),
            "cat(narrow(a), add(narrow(a), narrow(b)))");
  EXPECT_EQ(formula("a[0] = b[1]\nout = a"), "cat(unsqueeze(squeeze(narrow(b))), narrow(a))");
  EXPECT_EQ(formula("a[0, 0] = 2\nout = a"),
            "cat(cat(unsqueeze(unsqueeze(squeeze(full(#)))), narrow(narrow(a))), narrow(a))");
  EXPECT_EQ(formula("a[0] = b[1, 0]\nout = a"),
            "cat(where(full(#), squeeze(narrow(narrow(b))), narrow(a)), narrow(a))");
  // What is computed is written as well, under all its names.
  EXPECT_EQ(formula("y = a * b\nout = y\ny[:, 1:] = b[:, 1:]"),
            "cat(narrow(mul(a, b)), narrow(b))");
  EXPECT_EQ(formula("y = a.clone()\ny[places] = 0\nout = y"),
            "index_put(to_float32(a), places, full(#))");
  EXPECT_EQ(formula("out = a.clone()\nout[places] += 1"),
            "index_put(to_float32(a), places, add(index(to_float32(a), places), #))");
  EXPECT_EQ(formula("out = a.clone()\nout[a > 1] = 0"), "masked_fill(to_float32(a), gt(a, #), #)");
  EXPECT_EQ(formula("out = a.clone()\nout[a[:, 0] > 1] = 0"),
            "masked_fill(to_float32(a), unsqueeze(gt(squeeze(narrow(a)), #)), #)");
  EXPECT_EQ(formula("out = a.clone()\nout[torch.isnan(a)] = 0"),
            "masked_fill(to_float32(a), isnan(a), #)");
  EXPECT_EQ(formula("m = a > 1\nout = a.clone()\nout[m[:, 0]] = 0"),
            "masked_fill(to_float32(a), unsqueeze(squeeze(narrow(gt(a, #)))), #)");
  EXPECT_EQ(formula("out = a.clone()\nout[places.abs()] = 0"),
            "index_put(to_float32(a), abs(places), full(#))");
  EXPECT_EQ(formula("def f(v):\n    v = v * 2\n    v[:, 1:] = b[:, 1:]\n    return v\nout = f(a)"),
            "cat(narrow(mul(a, #)), narrow(b))");
  Loaded loaded = load(definition("a[:, 0] = 0\nout = a"));
  ASSERT_TRUE(loaded.op) << loaded.diags.render();
  EXPECT_EQ(memoryOf(*loaded.op, 0), 0);
}

TEST(InPlace, ItsOutputHasTheInputsMemory) {
  Loaded one = load(definition("b.add_(a)\nout = b"));
  ASSERT_TRUE(one.op) << one.diags.render();
  EXPECT_TRUE(writesInputs(*one.op));
  EXPECT_EQ(memoryOf(*one.op, 0), 1);
  EXPECT_EQ(memoryOf(*one.op, 7), -1);
  Loaded two =
      load(definition("before = a * 1\nb.add_(a)\na.zero_()\nout = a\nsum = b", "\"float32\"",
                      "[outputs.sum]\nshape = [\"N\", \"D\"]\n[outputs.before]\nshape = "
                      "[\"N\", \"D\"]\n"));
  ASSERT_TRUE(two.op) << two.diags.render();
  EXPECT_EQ(two.op->outputMemory, (std::vector<int>{0, 1, -1}));
  Loaded none = load(definition("out = a + b"));
  ASSERT_TRUE(none.op);
  EXPECT_FALSE(writesInputs(*none.op));
  EXPECT_EQ(memoryOf(*none.op, 0), -1);
}

TEST(InPlace, ResultsAreConvertedToTheInputsType) {
  Loaded loaded = load(definition("out = a.add_(b.float() * s)", "\"float16\", \"float64\""));
  ASSERT_TRUE(loaded.op) << loaded.diags.render();
  EXPECT_EQ(nodeDtypes(*loaded.op, DType::F16)[static_cast<size_t>(loaded.op->outputs[0])],
            DType::F16);
  Loaded compared = load(definition("out = a.eq_(b)", "\"int32\", \"float32\""));
  ASSERT_TRUE(compared.op) << compared.diags.render();
  EXPECT_EQ(nodeDtypes(*compared.op, DType::I32)[static_cast<size_t>(compared.op->outputs[0])],
            DType::I32);
}

TEST(InPlace, FormsThatOnlyWrite) {
  for (const char *body :
       {"out = a.zero_()", "out = a.fill_(s)", "out = a.fill_(2)",
        "out = a.exponential_(seed=seed)", "out = a.exponential_(1.5, seed=3, offset=2)",
        "out = a.normal_(seed=seed)", "out = a.normal_(s, 0.5, seed=seed)",
        "out = a.normal_(std=s, seed=seed)", "out = a.uniform_(-1, s, seed=seed)",
        "out = a.bernoulli_(seed=seed)", "out = a.bernoulli_(0.25, seed=seed)", "out = a.copy_(s)",
        "out = a.copy_(row)"}) {
    Loaded loaded = load(definition(body));
    ASSERT_TRUE(loaded.op) << body << loaded.diags.render();
    EXPECT_EQ(memoryOf(*loaded.op, 0), 0) << body;
    const std::string all = formula(*loaded.op, loaded.op->outputs[0]);
    for (const char *use : {"(a)", "(a, ", ", a)", ", a, "}) {
      EXPECT_EQ(all.find(use), std::string::npos) << body << " reads what it writes";
    }
  }
  EXPECT_NE(formula("out = a.bernoulli_(row, seed=seed)").find("row"), std::string::npos);
  Loaded whole = load(definition("out = a.bernoulli_(0.25, seed=seed)", "\"int8\", \"bool\""));
  EXPECT_TRUE(whole.op) << whole.diags.render();
}

TEST(InPlace, WhatPyTorchRefuses) {
  struct Refused {
    const char *body, *code, *words;
  };
  for (const Refused &each : std::vector<Refused>{
           {"out = row.add_(a)", "E0604", "'add_' computes [N, D], but is written into 'row' of"},
           {"out = row.copy_(a)", "E0604", "'row'"},
           {"y = a\nout = y.add_(b)", "E0608", "would write into the input 'a'"},
           {"out = a.t().add_(b)", "E0608", "no tensor of [inputs]"},
           {"out = s.add_(b)", "E0608", "no tensor of [inputs]"},
           {"out = a.bmm_(b)", "E0603", "'bmm' has no form that writes into its operand"},
           {"out = a.softmax_(-1)", "E0603", "'softmax' has no form that writes into its operand"},
           {"out = a.ad_(b)", "E0603", "unknown function 'ad_'"},
           {"v = a[0]\na.add_(b)\nout = a + v", "E0608", "of which 'v' is a view"},
           {"y = a\ny += b\nout = y", "E0608", "would write into the input 'a'"},
           {"y = a.t()\ny += b\nout = a", "E0608", "'y' is a view of"},
           {"y = a * 2\nv = y[1:]\nv += 1\nout = y", "E0608", "would change 'y'"},
           {"y = a * 2\nv = y[1:]\ny += 1\nout = v", "E0608", "would change 'v'"},
           {"def f(v):\n    v += 1\n    return v\ny = a * 2\nout = f(y) + y", "E0608",
            "would change what the function is called with"},
           {"def f(v):\n    v += 1\n    return v\nout = f(a)", "E0608",
            "would write into the input 'a'"},
           {"def f(v):\n    v.add_(1)\n    return v\nout = f(a)", "E0608", "no tensor of [inputs]"},
           {"a.add_(b)\nout = b * 1", "E0608", "whose last value is no output"},
           {"a[0][1] = 2\nout = a", "E0608", "expects a name before its brackets"},
           {"a[:, None] = 2\nout = a", "E0608", "expects no new dimension"},
           {"a[:, 0] = b\nout = a", "E0604", "is written, but the value has"},
           {"a[0, 0, 0] = 2\nout = a", "E0604", "expects at most 2 dimensions"},
           {"a[:, ::-1] = 2\nout = a", "E0608", "expects a positive integer"},
           {"y = a\ny[:, 0] = 0\nout = y", "E0608", "would write into the input 'a'"},
           {"y = a[1:]\ny[0] = 0\nout = a", "E0608", "'y' is a view of"},
           {"y = a * 2\nv = y[1:]\nv[0] = 0\nout = y", "E0608", "would change 'y'"},
           {"v = a[0]\na[:, 0] = 0\nout = a + v", "E0608", "of which 'v' is a view"},
           {"def f(v):\n    v[:, 0] = 1\n    return v\ny = a * 2\nout = f(y) + y", "E0608",
            "would change what the function is called with"},
           {"out = a * 2\nout[row > 1] = 0", "E0604", "a mask expects the first dimensions"},
           {"nothing[0] = 2\nout = a * 2", "E0608", "'nothing' is not defined"},
           {"a[a > 1] = b\nout = a", "E0608", "expects a number, but got a tensor"},
           {"out = a.fill_(b)", "E0608", "expects a number, but got a tensor"},
           {"out = a.fill_()", "E0608", "expects the argument 'value'"},
           {"out = a.zero_(1)", "E0608", "expects at most 0 arguments"},
           {"out = a.exponential_()", "E0608", "expects the argument 'seed'"},
           {"out = a.exponential_(1.5, 3)", "E0608", "expects at most 1 arguments"},
           {"out = a.exponential_(b, seed=seed)", "E0608", "expects a number"},
           {"out = a.mul_(2).exponential_(seed=seed)", "E0608", "no tensor of [inputs]"},
           {"out = a.exponential_(1.5, seed=0.5)", "E0608", "expects an integer"},
       }) {
    Loaded loaded = load(definition(each.body));
    ASSERT_FALSE(loaded.op) << each.body;
    EXPECT_EQ(loaded.code(), each.code) << each.body << loaded.diags.render();
    EXPECT_NE(loaded.first().message.find(each.words), std::string::npos)
        << each.body << loaded.diags.render();
  }
}

TEST(InPlace, AMaskAmongIndicesIsToldFromAnIndexOfAnotherType) {
  Loaded loaded = load(definition("y = a.clone()\nm = row[0] > 1\ny[:, m] = 0\nout = y"));
  ASSERT_FALSE(loaded.op);
  EXPECT_NE(loaded.diags.all().front().message.find("but got bool"), std::string::npos)
      << loaded.diags.render();
  EXPECT_NE(loaded.diags.all().front().help.find("torch.where(mask, a, b)"), std::string::npos);
}

TEST(InPlace, TypesThatTheInputCannotHold) {
  struct Refused {
    const char *body, *dtypes;
  };
  for (const Refused &each : std::vector<Refused>{{"out = a.div_(b)", "\"int32\""},
                                                  {"out = a.div_(b)", "\"float32\", \"int8\""},
                                                  {"out = a.add_(s)", "\"int64\""},
                                                  {"a *= 0.5\nout = a", "\"uint8\""},
                                                  {"out = a.sigmoid_()", "\"int32\""},
                                                  {"out = a.normal_(seed=seed)", "\"int32\""}}) {
    Loaded loaded = load(definition(each.body, each.dtypes));
    ASSERT_FALSE(loaded.op) << each.body;
    EXPECT_EQ(loaded.code(), "E0605") << each.body << loaded.diags.render();
    EXPECT_NE(loaded.first().message.find("cannot hold"), std::string::npos) << each.body;
  }
  // copy_ converts to any type.
  EXPECT_TRUE(load(definition("out = a.copy_(b * s)", "\"int32\"")).op);
  EXPECT_TRUE(load(definition("out = a.add_(2)", "\"int32\"")).op);
}

TEST(InPlace, SeveralOutputsCannotBeOneInput) {
  Loaded loaded = load(definition("a.add_(b)\nout = a\nother = a", "\"float32\"",
                                  "[outputs.other]\nshape = [\"N\", \"D\"]\n"));
  ASSERT_FALSE(loaded.op);
  EXPECT_EQ(loaded.code(), "E0608");
  EXPECT_NE(loaded.first().message.find("several outputs"), std::string::npos)
      << loaded.diags.render();
}

} // namespace
} // namespace nereid::definition
