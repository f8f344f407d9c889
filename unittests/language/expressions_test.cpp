// SPDX-License-Identifier: Apache-2.0
// Every form of expression, its precedence and its place in the text.
#include "unittests/language/Dump.h"

#include <gtest/gtest.h>

using namespace nereid;
using namespace nereid::language;

namespace {

TEST(Expressions, Atoms) {
  EXPECT_EQ(expression("x"), "x");
  EXPECT_EQ(expression("größe"), "größe");
  EXPECT_EQ(expression("True"), "True");
  EXPECT_EQ(expression("False"), "False");
  EXPECT_EQ(expression("None"), "None");
  EXPECT_EQ(expression("..."), "...");
  EXPECT_EQ(expression("()"), "(tuple)");
  EXPECT_EQ(expression("(a,)"), "(tuple a)");
  EXPECT_EQ(expression("(a)"), "a");
  EXPECT_EQ(expression("[]"), "(list)");
  EXPECT_EQ(expression("[a, b,]"), "(list a b)");
  EXPECT_EQ(expression("{}"), "(dict)");
  EXPECT_EQ(expression("{'A': 1, 'B': x,}"), "(dict \"A\" 1 \"B\" x)");
}

TEST(Expressions, Numbers) {
  EXPECT_EQ(expression("0"), "0");
  EXPECT_EQ(expression("00"), "0");
  EXPECT_EQ(expression("1_000_000"), "1000000");
  EXPECT_EQ(expression("0xFF"), "255");
  EXPECT_EQ(expression("0x_f_f"), "255");
  EXPECT_EQ(expression("0O17"), "15");
  EXPECT_EQ(expression("0b1010"), "10");
  EXPECT_EQ(expression("18446744073709551615"), "-1");
  EXPECT_EQ(expression("0xFFFF_FFFF_FFFF_FFFF"), "-1");
  EXPECT_EQ(expression("1.5"), "1.5f");
  EXPECT_EQ(expression("1."), "1f");
  EXPECT_EQ(expression(".5"), "0.5f");
  EXPECT_EQ(expression("1e3"), "1000f");
  EXPECT_EQ(expression("1E-3"), "0.001f");
  EXPECT_EQ(expression("1_0.2_5e+1_0"), "1.025e+11f");
  EXPECT_EQ(expression("1e999"), "inff");
  EXPECT_EQ(expression("1e-999"), "0f");
}

TEST(Expressions, BinaryPrecedence) {
  EXPECT_EQ(expression("a + b * c"), "(+ a (* b c))");
  EXPECT_EQ(expression("a * b + c"), "(+ (* a b) c)");
  EXPECT_EQ(expression("a - b - c"), "(- (- a b) c)");
  EXPECT_EQ(expression("a / b // c % d @ e"), "(@ (% (// (/ a b) c) d) e)");
  EXPECT_EQ(expression("a | b ^ c & d << e + f"), "(| a (^ b (& c (<< d (+ e f)))))");
  EXPECT_EQ(expression("a >> b << c"), "(<< (>> a b) c)");
  EXPECT_EQ(expression("(a + b) * c"), "(* (+ a b) c)");
}

TEST(Expressions, PowerBindsTighterThanUnaryOnItsLeftOnly) {
  EXPECT_EQ(expression("-a ** b"), "(- (** a b))");
  EXPECT_EQ(expression("a ** -b"), "(** a (- b))");
  EXPECT_EQ(expression("a ** b ** c"), "(** a (** b c))");
  EXPECT_EQ(expression("- - ~+a"), "(- (- (~ (+ a))))");
}

TEST(Expressions, ComparisonsAndLogic) {
  for (const char *op : {"<", "<=", ">", ">=", "==", "!=", "is", "is not", "in", "not in"}) {
    EXPECT_EQ(expression("a " + std::string(op) + " b"), "(" + std::string(op) + " a b)");
  }
  EXPECT_EQ(expression("a < b + c"), "(< a (+ b c))");
  EXPECT_EQ(expression("0 <= a < b"), "(chained 0 a b)");
  EXPECT_EQ(expression("not a == b"), "(not (== a b))");
  EXPECT_EQ(expression("a or b and not c or d"), "(or a (and b (not c)) d)");
  EXPECT_EQ(expression("a and b and c"), "(and a b c)");
  EXPECT_EQ(expression("a | b < c"), "(< (| a b) c)");
}

TEST(Expressions, ConditionalAndLambda) {
  EXPECT_EQ(expression("a if c else b"), "(if c a b)");
  EXPECT_EQ(expression("a if c else b if d else e"), "(if c a (if d b e))");
  EXPECT_EQ(expression("lambda: 0"), "(lambda () 0)");
  EXPECT_EQ(expression("lambda args, x=2: args['n'] % 16 == 0"),
            "(lambda (args x) (== (% (index args \"n\") 16) 0))");
  EXPECT_EQ(expression("lambda *a, **k: a"), "(lambda (*a **k) a)");
}

TEST(Expressions, CallsAttributesSubscripts) {
  EXPECT_EQ(expression("tl.load(p + o, mask=m, other=0.0)"),
            "(call (. tl load) (+ p o) mask=m other=0f)");
  EXPECT_EQ(expression("f(*a, **b)"), "(call f (* a) **b)");
  EXPECT_EQ(expression("f(a,)(b)[c].d"), "(. (index (call (call f a) b) c) d)");
  EXPECT_EQ(expression("x[:, None]"), "(index x (tuple (slice _ _ _) None))");
  EXPECT_EQ(expression("x[None, :]"), "(index x (tuple None (slice _ _ _)))");
  EXPECT_EQ(expression("x[1:2]"), "(index x (slice 1 2 _))");
  EXPECT_EQ(expression("x[::2]"), "(index x (slice _ _ 2))");
  EXPECT_EQ(expression("x[a:b:c, ...]"), "(index x (tuple (slice a b c) ...))");
  EXPECT_EQ(expression("x[:-1]"), "(index x (slice _ (- 1) _))");
  EXPECT_EQ(expression("x[a,]"), "(index x (tuple a))");
  EXPECT_EQ(expression("x[-1]"), "(index x (- 1))");
}

TEST(Expressions, Comprehensions) {
  EXPECT_EQ(expression("[f(x) for x in xs]"), "(listcomp (call f x) for x in xs)");
  EXPECT_EQ(expression("[(a, b) for a in [1, 2] for b, c in d if a if b > 2]"),
            "(listcomp (tuple a b) for a in (list 1 2) for (tuple b c) in d if a if (> b 2))");
}

TEST(Expressions, ListsOfExpressions) {
  EXPECT_EQ(expression("cdiv(n, BLOCK), 1, 1"), "(tuple (call cdiv n BLOCK) 1 1)");
  EXPECT_EQ(expression("a, *b"), "(tuple a (* b))");
  EXPECT_EQ(expression("a,"), "(tuple a)");
}

TEST(Expressions, LineEndsMeanNothingInAnExpression) {
  EXPECT_EQ(expression("a +\n  b # comment\n + c"), "(+ (+ a b) c)");
}

TEST(Expressions, RangesCoverTheFirstLineOfTheSource) {
  Diagnostics diags;
  ExprPtr sum = parseExpression("t", "aa + f(b,\n  c) * d", diags);
  ASSERT_TRUE(sum);
  EXPECT_EQ(sum->range.column, 1);
  EXPECT_EQ(sum->range.endColumn, 10);
  const Expr &product = *sum->operands[1];
  EXPECT_EQ(product.range.line, 1);
  EXPECT_EQ(product.range.column, 6);
  EXPECT_EQ(product.operands[1]->range.line, 2);
  EXPECT_EQ(product.operands[1]->range.column, 8);
  EXPECT_EQ(product.operands[1]->range.endColumn, 9);
  const Expr &call = *product.operands[0];
  EXPECT_EQ(call.range.column, 6);
}

TEST(Expressions, RangeOfAMethodOnBracketsBeginsAtTheBracket) {
  Diagnostics diags;
  ExprPtr call = parseExpression("t", "  (a + b).to(c)", diags);
  ASSERT_TRUE(call);
  EXPECT_EQ(call->range.column, 3);
  EXPECT_EQ(call->range.endColumn, 16);
}

TEST(Expressions, IntegersKeepTheirSpelling) {
  Diagnostics diags;
  EXPECT_EQ(parseExpression("t", "0x10", diags)->text, "0x10");
  EXPECT_EQ(parseExpression("t", "1.50", diags)->text, "1.50");
}

} // namespace
