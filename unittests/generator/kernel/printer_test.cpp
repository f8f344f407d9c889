// SPDX-License-Identifier: Apache-2.0
// Text of kernel trees: random expressions are what the language's parser reads back, and
// statements look as they should.
#include "lib/generator/kernel/Printer.h"
#include "lib/language/syntax/Parser.h"

#include <gtest/gtest.h>

#include <random>

namespace nereid::generator::kernel {
namespace {

/// The tree as nested prefix notation, from either side.
std::string structure(const Expr &x) {
  const ExprNode &node = *x;
  std::string parts;
  for (const Expr &operand : node.operands) {
    parts += " " + structure(operand);
  }
  switch (node.kind) {
  case ExprKind::Name:
  case ExprKind::Number:
    return node.text;
  case ExprKind::String:
    return "'" + node.text + "'";
  case ExprKind::Tuple:
    return "(tuple" + parts + ")";
  case ExprKind::Choice:
    return "(if" + parts + ")";
  case ExprKind::Call: {
    for (const std::string &keyword : node.keywords) {
      parts += " " + keyword;
    }
    return "(call" + parts + ")";
  }
  case ExprKind::Member:
    return "(." + node.text + parts + ")";
  case ExprKind::Axis:
    return "(axis " + std::to_string(node.axis) + "/" + std::to_string(node.rank) + parts + ")";
  case ExprKind::Unary:
    return "(unary" + node.text + parts + ")";
  case ExprKind::Binary:
    return "(" + node.text + parts + ")";
  }
  return "";
}

std::string structure(const language::Expr &x) {
  using Kind = language::ExprKind;
  std::string parts;
  for (const language::ExprPtr &operand : x.operands) {
    parts += operand && x.kind != Kind::Subscript ? " " + structure(*operand) : "";
  }
  switch (x.kind) {
  case Kind::Name:
  case Kind::Integer:
  case Kind::Float:
    return x.text;
  case Kind::String:
    return "'" + x.text + "'";
  case Kind::Tuple:
    return "(tuple" + parts + ")";
  case Kind::Conditional: // condition first
    return "(if " + structure(*x.operands[1]) + " " + structure(*x.operands[0]) + " " +
           structure(*x.operands[2]) + ")";
  case Kind::Call: {
    std::string keywords;
    for (const language::Keyword &keyword : x.keywords) {
      parts += " " + structure(*keyword.value);
      keywords += " " + keyword.name;
    }
    return "(call" + parts + keywords + ")";
  }
  case Kind::Attribute:
    return "(." + x.text + parts + ")";
  case Kind::Subscript: {
    const auto &places = x.operands[1]->operands;
    size_t at = 0;
    while (places[at]->kind != Kind::Slice) {
      ++at;
    }
    return "(axis " + std::to_string(at) + "/" + std::to_string(places.size()) + " " +
           structure(*x.operands[0]) + ")";
  }
  case Kind::Unary:
    return "(unary" + x.text + parts + ")";
  case Kind::Or:
    return "(or" + parts + ")";
  case Kind::And:
    return "(and" + parts + ")";
  default:
    return "(" + x.text + parts + ")";
  }
}

Expr random(std::mt19937 &seed, int depth) {
  auto below = [&](unsigned count) { return seed() % count; };
  auto inner = [&] { return random(seed, depth - 1); };
  if (depth == 0 || below(6) == 0) {
    switch (below(4)) {
    case 0:
      return Expr(static_cast<int64_t>(below(100)));
    case 1:
      return real(0.25 * below(9));
    default:
      return name(std::string(1, static_cast<char>('a' + below(20))));
    }
  }
  static const char *signs[] = {"+", "-", "*",  "/",  "//", "%", "&",
                                "|", "^", "<<", ">>", "<",  "=="};
  switch (below(12)) {
  case 0:
    return unary(below(2) ? "-" : "~", inner());
  case 1:
    return method(inner(), "to", {name("t")});
  case 2:
    return axis(inner(), below(2), 2);
  case 3:
    return call("f", {inner(), Argument("mask", inner()), Argument("other", real(-1.5))});
  case 4:
    return choice(inner(), inner(), inner());
  case 5:
    return binary(below(2) ? "or" : "and", name("p"), inner());
  case 6:
    return tuple({inner()});
  default:
    return binary(signs[below(std::size(signs))], inner(), inner());
  }
}

TEST(Printer, RandomExpressionsAreReadBack) {
  std::mt19937 seed(7);
  for (int i = 0; i < 3000; ++i) {
    Expr made = random(seed, 4);
    Diagnostics diags;
    language::ExprPtr read = language::parseExpression("expression", text(made), diags);
    ASSERT_TRUE(read && !diags.hasErrors()) << text(made) << diags.render();
    ASSERT_EQ(structure(*read), structure(made)) << text(made);
  }
}

TEST(Printer, ParenthesesStandWhereTheyAreNeeded) {
  Expr a = name("a"), b = name("b"), c = name("c");
  EXPECT_EQ(text(a - b - c), "a - b - c");
  EXPECT_EQ(text(a - (b - c)), "a - (b - c)");
  EXPECT_EQ(text((a + b) * c), "(a + b) * c");
  EXPECT_EQ(text(a + b * c), "a + b * c");
  EXPECT_EQ(text(binary("&", binary("<", a, b), c)), "(a < b) & c");
  EXPECT_EQ(text(binary("<", a, b + c)), "a < b + c");
  EXPECT_EQ(text(binary("%", binary("//", a, b), c) * b), "((a // b) % c) * b");
  EXPECT_EQ(text(binary("//", a, b) + c), "a // b + c");
  EXPECT_EQ(text(method(a + b, "to", {name("tl.int64")})), "(a + b).to(tl.int64)");
  EXPECT_EQ(text(axis(a, 0, 2) * b), "a[:, None] * b");
  EXPECT_EQ(text(a - Expr(-3)), "a - -3");
}

TEST(Printer, NumbersReadBack) {
  EXPECT_EQ(text(real(1)), "1.0");
  EXPECT_EQ(text(real(1e-5)), "1e-05");
  EXPECT_EQ(text(real(-0.0)), "-0.0");
  EXPECT_EQ(text(real(-1.0 / 0.0)), "-float(\"inf\")");
  EXPECT_EQ(text(integer("-9223372036854775808")), "-9223372036854775808");
  EXPECT_EQ(text(integer("18446744073709551615")), "18446744073709551615");
}

TEST(Printer, LongCallsAreBrokenAndWhatIsInParenthesesStaysANumber) {
  const auto wordOf = [](char c) { return name(std::string(40, c)); };
  Body body;
  body.evaluate(call("f", {wordOf('a'), wordOf('b') + call("g", {wordOf('c'), Expr(1)})}));
  body.evaluate(call("f", {wordOf('a'), wordOf('b')}));
  body.assign("t", name("x") * (wordOf('a') + wordOf('b') + wordOf('c')));
  const std::string a(40, 'a'), b(40, 'b'), c(40, 'c');
  EXPECT_EQ(text(Kernel{"k", {}, body.take()}),
            "@triton.jit\ndef k(\n\n):\n    f(\n        " + a + ",\n        " + b + " + g(" + c +
                ", 1),\n    )\n    f(" + a + ", " + b + ")\n    t = x * (\n        " + a + " + " +
                b + " + " + c + "\n    )\n");
}

TEST(Printer, Statements) {
  Body body;
  body.comment("what it does");
  body.assign("element", name("x_ptr.dtype.element_ty"), "tl.constexpr");
  body.select("compute", name("element"),
              {{name("tl.int8"), name("tl.int32")}, {name("tl.int64"), name("tl.int64")}});
  body.assign("wide", choice(Expr(1), binary("==", name("element"), name("tl.int8")), Expr(2)),
              "tl.constexpr");
  body.loop("i", call("range", {0, name("n")}), [&] {
    EXPECT_EQ(body.depth(), 1u);
    body.update("sum", "+", name("i"));
    body.when(
        binary(">", name("i"), 3), [&] { body.evaluate(call("f", {name("i")})); },
        [&] { body.assign("last", name("i")); });
  });
  Kernel kernel{"k", {{"x_ptr", false}, {"n", false}, {"BLOCK", true}}, body.take()};
  EXPECT_EQ(text(kernel), R"(@triton.jit
def k(
    x_ptr, n,
    BLOCK: tl.constexpr,
):
    # what it does
    element: tl.constexpr = x_ptr.dtype.element_ty
    compute: tl.constexpr = (
        tl.int32 if element == tl.int8 else
        tl.int64
    )
    wide: tl.constexpr = (
        1 if element == tl.int8 else 2
    )
    for i in range(0, n):
        sum += i
        if i > 3:
            f(i)
        else:
            last = i
)");
}

TEST(Printer, LongCallsAndListsAreBroken) {
  Body body;
  const std::string longName(60, 'v');
  body.assign("x", method(call("tl.load", {name(longName), Argument("mask", name("inside")),
                                           Argument("other", real(0))}),
                          "to", {name("tl.float32")}));
  body.assign("y", name(longName) + name(longName));
  Kernel kernel{"k", {}, body.take()};
  for (int i = 0; i < 12; ++i) {
    kernel.parameters.push_back({"parameter_" + std::to_string(i), false});
  }
  kernel.parameters.push_back({"B", true});
  const std::string made = text(kernel);
  EXPECT_NE(made.find("    x = tl.load(\n        " + longName +
                      ", mask=inside, other=0.0\n    ).to(tl.float32)\n"),
            std::string::npos)
      << made;
  EXPECT_NE(made.find("    y = " + longName + " + " + longName + "\n"), std::string::npos);
  EXPECT_NE(made.find("parameter_6,\n    parameter_7,"), std::string::npos) << made;
}

} // namespace
} // namespace nereid::generator::kernel
