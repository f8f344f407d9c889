// SPDX-License-Identifier: Apache-2.0
// Functions, loops and conditions of bodies: that they become the graph that the same lines written
// out become, and what is refused.
#include "unittests/definition/Loading.h"

#include "lib/definition/operations/Operations.h"

#include <fmt/format.h>

namespace nereid::definition {
namespace {

/// Everything that is computed, whatever it is called.
std::string formulas(const std::string &body) {
  Loaded loaded = load(withBody(body));
  EXPECT_TRUE(loaded.op) << body << loaded.diags.render();
  std::string text;
  // Constants that nothing uses are gone, but their order follows the text.
  std::map<int, std::string> values;
  for (size_t i = 0; loaded.op && i < loaded.op->nodes.size(); ++i) {
    const Node &node = loaded.op->nodes[i];
    std::string value = node.op == "constant" ? fmt::format("{}", constantValue(node)) : node.name;
    if (!isLeaf(node)) {
      value = describe(node) + "(";
      for (int input : node.inputs) {
        value += values[input] + " ";
      }
      value += ")";
    }
    values[static_cast<int>(i)] = value;
  }
  return loaded.op ? values[loaded.op->outputs[0]] : "";
}

TEST(Statements, BecomeWhatTheLinesWrittenOutBecome) {
  const std::string powers = "p0 = x\np1 = p0 * x\np2 = p1 * x\nout = p2 + 1";
  for (const char *body :
       {"p = x\nfor i in range(2):\n    p = p * x\nout = p + 1",
        "p = x\nfor i in range(5, 1, -2):\n    p = p * x\nout = p + 1",
        "p = x\nfor i in range(-1, 1):\n    p = p * x\nout = p + 1",
        "p = x\nfor i in range(9):\n    if i >= 2:\n        break\n    p = p * x\nout = p + 1",
        "p = x\nfor i in range(4):\n    if i % 2 == 1:\n        continue\n    p = p * x\nout = p + "
        "1",
        "p = x\nfor mode in (\"a\", \"b\", \"c\"):\n    if mode != \"b\":\n        p = p * x\nout "
        "= p "
        "+ 1",
        "n = 2\np = x\nfor i in range(n):\n    p = p * x\nout = p + 1",
        "def cube(v):\n    w = v * v\n    return w * v\nout = cube(x) + 1",
        "def times(v, n):\n    for i in range(10):\n        if i == n:\n            return v\n     "
        "   v "
        "= v * x\nout = times(x, 2) + 1",
        "def times(a, b=x):\n    return a * b\nout = times(times(x), b=x) + 1",
        "def pair(v):\n    return v * v, v\na, b = pair(x)\nout = a * b + 1",
        "def f(y):\n    return y * y\ndef g(v):\n    return f(v) * v\nout = g(x) + 1"}) {
    EXPECT_EQ(formulas(body), formulas(powers)) << body;
  }
}

TEST(Statements, IntegersAreComputedAsPythonDoes) {
  for (const char *factor : {"5 // 2", "-7 % 3", "-3 // -2 + 1", "7 // -2 + 6", "-7 % -5 + 4"}) {
    EXPECT_EQ(formulas(std::string("out = x * (") + factor + ")"), formulas("out = x * 2"))
        << factor;
  }
  EXPECT_EQ(formulas("out = x\nfor i in range(4):\n    out = out * (i // 2 + 1)"),
            formulas("out = x * 1 * 1 * 2 * 2"));
}

TEST(Statements, ConditionsAreThoseOfKnownValues) {
  const std::string twice = "out = x * 2", thrice = "out = x * 3";
  const std::pair<const char *, bool> conditions[] = {
      {"1 < 2", true},
      {"1 > 2", false},
      {"not 1 > 2", true},
      {"mode == \"mean\"", true},
      {"mode != \"mean\"", false},
      {"mode == \"mean\" and n == 4", true},
      {"n == 5 or mode == 'sum'", false},
      {"flag", true},
      {"not flag", false},
      {"nothing is None", true},
      {"nothing is not None", false},
      {"x is None", false},
      {"x is not None", true},
      {"y.dim() == 1", true},
      {"y.ndim == 2", false},
      {"n // 3 == 1 and n % 3 == 1 and -n // 3 == -2", true},
      {"-7 % 3 == 2 and -7 // 2 == -4", true},
      {"n ** 2 == 16", true},
      {"n / 8 == 0.5", true},
      {"2 if flag else 0", true},
      {"\"\"", false},
      {"0.0", false},
  };
  for (const auto &[condition, isMet] : conditions) {
    const std::string head = "mode = \"mean\"\nn = 4\nflag = True\nnothing = None\n";
    EXPECT_EQ(
        formulas(head + fmt::format("if {}:\n    out = x * 2\nelse:\n    out = x * 3", condition)),
        formulas(isMet ? twice : thrice))
        << condition;
  }
  EXPECT_EQ(
      formulas("n = 3\nif n == 1:\n    out = x * 1\nelif n == 3:\n    out = x * 3\nelse:\n    "
               "out = x"),
      formulas(thrice));
}

/// Where PyTorch wants literals, what is known serves.
TEST(Statements, KnownValuesServeAsArguments) {
  EXPECT_EQ(
      formulas("def f(v, d, k):\n    return v.sum(dim=d, keepdim=k)\nout = x - f(x, -1, True)"),
      formulas("out = x - x.sum(dim=-1, keepdim=True)"));
  EXPECT_EQ(formulas("def f(v, how=\"tanh\"):\n    return F.gelu(v, approximate=how)\nout = f(x)"),
            formulas("out = F.gelu(x, approximate=\"tanh\")"));
  EXPECT_EQ(formulas("d = (-1,)\nout = x - x.sum(dim=d, keepdim=True)"),
            formulas("out = x - x.sum(dim=-1, keepdim=True)"));
  EXPECT_EQ(formulas("d = -1\nout = x - F.normalize(x, dim=d)"),
            formulas("out = x - F.normalize(x, dim=-1)"));
  EXPECT_EQ(formulas("shape = (D,)\nout = F.layer_norm(x, shape)"),
            formulas("out = F.layer_norm(x, (D,))"));
}

/// A parameter or a variable of a function is another one than the body's of that name.
TEST(Statements, FunctionsHaveNamesOfTheirOwn) {
  EXPECT_EQ(formulas("def f(y):\n    x = y * 2\n    return x\nout = f(x) + x"),
            formulas("a = x * 2\nout = a + x"));
  EXPECT_EQ(formulas("k = 2\ndef f(v):\n    return v * k\nk = 3\nout = f(x)"),
            formulas("out = x * 3"))
      << "as in Python, the body's value at the call";
  EXPECT_EQ(formulas("k = 2\ndef f(v, n=k):\n    return v * n\nk = 3\nout = f(x)"),
            formulas("out = x * 2"))
      << "as in Python, a default is computed at the definition";
  EXPECT_EQ(formulas("def f(v):\n    return v * k\ndef g(k):\n    return f(k)\nk = 5\nout = g(x)"),
            formulas("out = x * 5"))
      << "a function does not see the variables of who calls it";
  EXPECT_EQ(load(withBody("def f(v):\n    w = v * 2\n    return w\nout = f(x) + w")).code(),
            "E0608");
  EXPECT_EQ(
      load(withBody("k = 2\ndef f(v):\n    v = v * k\n    k = 3\n    return v\nout = f(x)")).code(),
      "E0608")
      << "a name that a function assigns is never the body's";
}

std::string message(const std::string &body) {
  Loaded loaded = load(withBody(body));
  EXPECT_FALSE(loaded.op) << body;
  EXPECT_EQ(loaded.code(), "E0608") << body << loaded.diags.render();
  return loaded.diags.all().empty() ? "" : loaded.first().message;
}

TEST(Statements, WhatCannotBeWrittenOutIsRefused) {
  const std::pair<const char *, const char *> wrong[] = {
      {"def f(v):\n    return f(v)\nout = f(x)", "'f' calls itself: f -> f"},
      {"def f(v):\n    return g(v)\ndef g(v):\n    return f(v)\nout = g(x)",
       "'g' calls itself: g -> f -> g"},
      {"def f(v):\n    w = v * 2\nout = f(x)", "ends without 'return'"},
      {"def f(v):\n    return\nout = f(x)", "expects a value"},
      {"def f(v):\n    return v * 2, v\nout = f(x)", "is a list of 2 values"},
      {"def f(v):\n    return v * 2, v\na, b, c = f(x)\nout = a", "3 names are assigned 2"},
      {"def f(v):\n    return v * 2\nout = f(x, y)", "at most 1 arguments, but got 2"},
      {"def f(v, w):\n    return v * w\nout = f(x)", "expects the argument 'w'"},
      {"def f(v):\n    return v * 2\nout = f(x, v=x)", "given twice"},
      {"def f(v):\n    return v * 2\nout = f(x, w=x)", "has no argument 'w'"},
      {"def f(*v):\n    return x * 2\nout = f(x)", "one by one"},
      {"def f(v):\n    return v * 2\ndef f(v):\n    return v * 3\nout = f(x)", "defined twice"},
      {"def relu(v):\n    return v * 2\nout = relu(x)", "bodies have already"},
      {"def torch(v):\n    return v * 2\nout = torch(x)", "bodies have already"},
      {"def x(v):\n    return v * 2\nout = x(y)", "the name of a value"},
      {"def D(v):\n    return v * 2\nout = D(x)", "a size, an output or the operator"},
      {"def out(v):\n    return v * 2\nout = out(x)", "a size, an output or the operator"},
      {"def _f(v):\n    return v * 2\nout = _f(x)", "generated files"},
      {"def f(v):\n    return v * 2\nf = x * 2\nout = f", "is a function and cannot be assigned"},
      {"def f(v):\n    return v * 2\nout = f * x", "'f' is a function"},
      {"def f(v):\n    def g(w):\n        return w\n    return g(v) * 2\nout = f(x)",
       "first level"},
      {"for i in range(2):\n    def f(v):\n        return v\nout = f(x) * 2", "first level"},
      {"return x", "another statement"},
      {"break", "another statement"},
      {"while True:\n    out = x * 2", "another statement"},
      {"for i in range(2):\n    out = x * 2\nelse:\n    out = x", "'else' of a loop"},
      {"for i in range(D):\n    out = x * 2", "known when the definition is read"},
      {"for i in x:\n    out = i * 2", "expects range(…), a list or a tuple"},
      {"for i in range():\n    out = x * 2", "one to three"},
      {"for i in range(1, 2, 3, 4):\n    out = x * 2", "one to three"},
      {"for i in range(1, 5, 0):\n    out = x * 2", "not to be 0"},
      {"for i in range(1.5):\n    out = x * 2", "integers that are known"},
      {"for i in range(1000000):\n    out = x * 2", "at most 1024 turns, but got 1000000"},
      {"for i in range(-9223372036854775807, 9223372036854775807):\n    out = x * 2", "1024 turns"},
      {"for i in range(0):\n    out = x * 2", "does not assign the output"},
      {"for i, j in range(2):\n    out = x * 2", "2 names are assigned 1 value"},
      {"if x > 0:\n    out = x * 2", "the condition of 'if' is not known"},
      {"if D > 4:\n    out = x * 2", "the condition of 'if' is not known"},
      {"if x.dim() == 2:\n    out = x * 2", "the condition of 'if' is not known"},
      {"if 1 / 0 == 1:\n    out = x * 2", "the condition of 'if' is not known"},
      {"out = x * 2 if x > 0 else x", "the condition of a conditional expression"},
      {"mode = \"mean\"\nout = x * mode", "no tensor and no number"},
      {"a, b = x\nout = a", "2 names are assigned 1"},
      {"a.b, c = x, y\nout = c * 2", "expects names on its left"},
  };
  for (const auto &[body, expected] : wrong) {
    const std::string found = message(body);
    EXPECT_NE(found.find(expected), std::string::npos) << body << "\nsays: " << found;
  }
}

TEST(Statements, FunctionsAreDefinedBeforeTheyAreCalled) {
  EXPECT_EQ(load(withBody("out = f(x) * 2\ndef f(v):\n    return v")).code(), "E0603");
  EXPECT_EQ(load(withBody("def f(v, v):\n    return v * 2\nout = f(x, x)")).code(), "E0105");
}

/// Each function calls the one before twice: a million operations from 20 lines.
TEST(Statements, WhatBecomesTooMuchIsRefused) {
  std::string body = "def f0(v):\n    return v * x\n";
  for (int i = 1; i <= 20; ++i) {
    body += fmt::format("def f{}(v):\n    return f{}(f{}(v))\n", i, i - 1, i - 1);
  }
  EXPECT_NE(message(body + "out = f20(x)").find("more than"), std::string::npos);
  EXPECT_NE(message("out = x * 2\nfor i in range(1000):\n    for j in range(1000):\n        pass")
                .find("more than"),
            std::string::npos);
  EXPECT_NE(
      message("p = x\nfor i in range(1000):\n    for j in range(1000):\n        p = p * x\nout = p")
          .find("more than"),
      std::string::npos);
}

TEST(Statements, ErrorsSayWhereTheyHappened) {
  Loaded loaded =
      load(withBody("def f(v):\n    return v.sum(dim=3)\nfor i in range(2):\n    out = f(x)"));
  ASSERT_FALSE(loaded.op);
  EXPECT_EQ(loaded.code(), "E0604");
  EXPECT_EQ(loaded.diags.all().size(), 1u) << "once, not in every turn" << loaded.diags.render();
  EXPECT_EQ(loaded.first().range.line, 7);
  EXPECT_EQ(loaded.first().lineText, "    return v.sum(dim=3)");
  ASSERT_EQ(loaded.first().notes.size(), 2u);
  EXPECT_EQ(loaded.first().notes[0], "in 'f', called in line 9");
  EXPECT_EQ(loaded.first().notes[1], "in turn 1 of the loop over 'i'");
}

/// Functions that are written out in others have statements of their own, whose names are none of
/// the body's, and know no functions that it defines.
TEST(Statements, OfWrittenFunctionsAreApart) {
  for (const char *body :
       {"out = F.glu(x)", "value = x\nout = F.glu(value)", "dim = 7\nout = F.glu(x, -1)",
        "def value(v):\n    return F.glu(v)\nout = value(x)",
        "def gate(v):\n    return v\nout = F.glu(gate(x))", "last = -1\nout = F.glu(x, last)"}) {
    std::string text =
        std::string("[operator]\nname = \"t\"\nsummary = \"s\"\ndtypes = ") +
        "[\"float32\"]\nbody = \"\"\"\n" + body +
        "\n\"\"\"\n[inputs.x]\nshape = "
        "[\"N\", 6]\n[outputs.out]\nshape = [\"N\", 3]\n[performance]\ncases = [{ N = 4 }]\n";
    Loaded loaded = load(text);
    EXPECT_TRUE(loaded.op) << body << loaded.diags.render();
  }
}

} // namespace
} // namespace nereid::definition
