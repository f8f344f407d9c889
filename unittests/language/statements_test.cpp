// SPDX-License-Identifier: Apache-2.0
// Every form of statement, line structure, and what becomes of code outside kernels.
#include "unittests/language/Dump.h"

#include <gtest/gtest.h>

using namespace nereid;
using namespace nereid::language;

namespace {

TEST(Statements, Assignments) {
  EXPECT_EQ(statements("a = b = 1"), "a = b = 1");
  EXPECT_EQ(statements("a, b = c, d"), "(tuple a b) = (tuple c d)");
  EXPECT_EQ(statements("(a, [b]) = c"), "(tuple a (list b)) = c");
  EXPECT_EQ(statements("a, *b = c"), "(tuple a (* b)) = c");
  EXPECT_EQ(statements("a.b[c] = d"), "(index (. a b) c) = d");
  EXPECT_EQ(statements("x: tl.constexpr = 4"), "x: (. tl constexpr) = 4");
  EXPECT_EQ(statements("x: int"), "x: int = _");
  for (std::string op : {"+", "-", "*", "/", "//", "%", "**", ">>", "<<", "&", "^", "|", "@"}) {
    EXPECT_EQ(statements("a " + op + "= b"), "a " + op + "= b");
  }
}

TEST(Statements, Simple) {
  EXPECT_EQ(statements("pass; break; continue;"), "pass; break; continue");
  EXPECT_EQ(statements("f(x)\n'doc'"), "(call f x); \"doc\"");
  EXPECT_EQ(statements("return"), "return _");
  EXPECT_EQ(statements("return a, b"), "return (tuple a b)");
  EXPECT_EQ(statements("assert a"), "assert a");
  EXPECT_EQ(statements("assert a, 'm'"), "assert a, \"m\"");
  EXPECT_EQ(statements("raise"), "raise _");
  EXPECT_EQ(statements("raise E('x') from e"), "raise (call E \"x\")");
  EXPECT_EQ(statements("del a\nglobal b\nnonlocal c"),
            "opaque del; opaque global; opaque nonlocal");
}

TEST(Statements, Imports) {
  EXPECT_EQ(statements("import triton"), "import triton");
  EXPECT_EQ(statements("import triton.language as tl, os"), "import triton.language/tl os");
  EXPECT_EQ(statements("from triton import jit, cdiv as c"), "from triton import jit cdiv/c");
  EXPECT_EQ(statements("from a.b import (c,\n  d as e,\n)"), "from a.b import c d/e");
  EXPECT_EQ(statements("from . import x"), "from . import x");
  EXPECT_EQ(statements("from ...a import *"), "from ...a import *");
}

TEST(Statements, Blocks) {
  EXPECT_EQ(statements("if a:\n  b\nelif c:\n  d\nelse:\n  e"),
            "if a {b} else {if c {d} else {e}}");
  EXPECT_EQ(statements("if a: b; c\nd"), "if a {b; c}; d");
  EXPECT_EQ(statements("for i in range(4):\n  f(i)\nelse:\n  g"),
            "for i in (call range 4) {(call f i)} else {g}");
  EXPECT_EQ(statements("for i, (j, k) in x, y:\n  pass"),
            "for (tuple i (tuple j k)) in (tuple x y) {pass}");
  EXPECT_EQ(statements("while a < b:\n  a += 1"), "while (< a b) {a += 1}");
  EXPECT_EQ(statements("with a as b, c:\n  d"), "opaque with {d}");
  EXPECT_EQ(statements("try:\n  a\nexcept (E, F) as e:\n  b\nelse:\n  c\nfinally:\n  d"),
            "opaque try {a; c; d} else {opaque except {b}}");
  EXPECT_EQ(statements("class A(B):\n  x: int = 0\n  def f(self): pass"),
            "opaque class {x: int = 0; def f(self) {pass}}");
}

TEST(Statements, Functions) {
  EXPECT_EQ(statements("def f(a, b: tl.constexpr = 1, *c, d=None, **e) -> int:\n  return a"),
            "def f(a, b: (. tl constexpr) = 1, *c, d = None, **e) -> int {return a}");
  EXPECT_EQ(statements("def f(a, /, b, *, c): pass"), "def f(a, b, c) {pass}");
  EXPECT_EQ(statements("def f(\n    a,\n    b,  # why\n): pass"), "def f(a, b) {pass}");
}

TEST(Statements, WhichFunctionsAreKernels) {
  Diagnostics diags;
  std::optional<SourceModule> module = parseModule("k.py",
                                                   R"(
from triton import jit
@triton.jit
def a(): pass
@triton.autotune(configs=[triton.Config({'B': 1}, num_warps=4) for w in [1, 2]], key=['n'])
@triton.jit(do_not_specialize=["n"])
def b(n): pass
@jit
def c(): pass
@numba.jit
def d(): pass
def e(): pass
if X:
    @triton.jit
    def f(): pass
try:
    @triton.jit
    def g(): pass
except E:
    pass
class K:
    @triton.jit
    def h(): pass
)",
                                                   diags);
  ASSERT_TRUE(module) << diags.render();
  EXPECT_EQ(module->jitFunctions(), (std::vector<std::string>{"a", "b", "c", "f", "g"}));
  ASSERT_TRUE(module->find("b"));
  EXPECT_EQ(module->find("b")->decorators.size(), 2u);
  EXPECT_EQ(module->find("b")->nameRange.line, 7);
  EXPECT_EQ(module->find("b")->nameRange.column, 5);
  EXPECT_TRUE(module->find("e"));
  EXPECT_FALSE(module->find("h"));
  EXPECT_FALSE(module->find("nothing"));
}

TEST(Statements, LineStructure) {
  EXPECT_EQ(statements("a = (1 +\n2)\nb = [\n\n3,  # c\n]\n"), "a = (+ 1 2); b = (list 3)");
  EXPECT_EQ(statements("a = 1 + \\\n    2\nb"), "a = (+ 1 2); b");
  EXPECT_EQ(statements("if a:\n\tb\n\tc\n"), "if a {b; c}");
  EXPECT_EQ(statements("if a:\n    b\n        # odd comment\n\n  # another\n    c\n"),
            "if a {b; c}");
  EXPECT_EQ(statements("if a:\r\n  b\r\nc\r\n"), "if a {b}; c");
  EXPECT_EQ(statements("a\rb\r"), "a; b");
  EXPECT_EQ(statements("\xEF\xBB\xBF"
                       "a = 1"),
            "a = 1");
  EXPECT_EQ(statements("a\n\f\nb"), "a; b");
  EXPECT_EQ(statements(""), "");
  EXPECT_EQ(statements("\n\n# only a comment"), "");
  EXPECT_EQ(statements("if a:\n  if b:\n    c"), "if a {if b {c}}");
}

TEST(Statements, RangeIsTheFirstLine) {
  Diagnostics diags;
  std::optional<SourceModule> module =
      parseStatements("k.py", "if a:\n  x = f(1,\n        2)\n", diags);
  ASSERT_TRUE(module);
  const Stmt &inner = *module->body[0]->body[0];
  EXPECT_EQ(inner.range.line, 2);
  EXPECT_EQ(inner.range.column, 3);
  EXPECT_EQ(inner.range.endColumn, 11);
}

TEST(OutsideKernels, AnyPythonIsPassedOver) {
  EXPECT_EQ(file("x = {1, 2}\ny = 1"), "opaque x; y = 1");
  EXPECT_EQ(file("print(i for i in x)\ny = 1"), "opaque print; y = 1");
  EXPECT_EQ(file("match x:\n  case 1:\n    a\ny = 1"), "opaque match; y = 1");
  EXPECT_EQ(file("async def f():\n  await x\ny = 1"), "opaque async; y = 1");
  EXPECT_EQ(file("if (n := 3) > 2:\n  a\nelse:\n  b\ny = 1"), "opaque if; y = 1");
  EXPECT_EQ(file("def g():\n  x = yield 1\n  return x\ny"), "def g() {opaque x; return x}; y");
  EXPECT_EQ(file("def f[T](x): pass\ny"), "opaque def; y");
  EXPECT_EQ(file("@a.b(x for x in y)\n@c\ndef f(): pass\ny"), "def f() {pass}; y");
  EXPECT_EQ(file("a $ b\ny = 1"), "opaque a; y = 1");
  EXPECT_EQ(file("x = b'bytes'\ny = 1j\nz = 1"), "opaque x; opaque y; z = 1");
  EXPECT_EQ(file("  indented\ny"), "indented; y");
}

TEST(OutsideKernels, AnUnclosedBracketDoesNotSwallowTheKernelBelow) {
  EXPECT_EQ(file("x = f(1,\n\n@triton.jit\ndef k(): pass\n"), "opaque x; def k() {pass}");
}

TEST(OutsideKernels, UnreadableDecoratorsOfKernelsAreIgnored) {
  Diagnostics diags;
  std::optional<SourceModule> module =
      parseModule("k.py", "@autotune({c for c in x})\n@triton.jit\ndef k(): pass\n", diags);
  ASSERT_TRUE(module) << diags.render();
  EXPECT_EQ(module->jitFunctions(), std::vector<std::string>{"k"});
}

} // namespace
