// SPDX-License-Identifier: Apache-2.0
// What syntax errors look like, where their caret stands, and how parsing goes on after them.
#include "unittests/language/Dump.h"

#include <gtest/gtest.h>

using namespace nereid;
using namespace nereid::language;

namespace {

/// The diagnostics of a file as "line:column-end code" words.
std::string places(std::string text) {
  Diagnostics diags;
  std::optional<SourceModule> module = parseModule("k.py", std::move(text), diags);
  EXPECT_EQ(module.has_value(), !diags.hasErrors());
  std::string out;
  for (const Diagnostic &d : diags.all()) {
    out += (out.empty() ? "" : " ") + std::to_string(d.range.line) + ":" +
           std::to_string(d.range.column) + "-" + std::to_string(d.range.endColumn) + " " + d.code;
  }
  return out;
}

std::string messageOf(std::string text) {
  Diagnostics diags;
  parseStatements("k.py", std::move(text), diags);
  return diags.all().empty() ? "no error" : diags.all()[0].message;
}

const std::string head = "@triton.jit\ndef k(x, n):\n"; // a kernel's body begins at line 3

TEST(SyntaxErrors, WrittenForm) {
  EXPECT_EQ(file(head + "    y = x +\n    z = 1\n"),
            "k.py:3:12: error: expects an expression, but got the end of the line [E0105]\n"
            "    y = x +\n"
            "           ^\n");
  EXPECT_EQ(file(head + "    y = tl.load(x, mask=n\n    z = y\n"),
            "k.py:4:5: error: expects ')' or ',' after the arguments, but got 'z' [E0104]\n"
            "    z = y\n"
            "    ^\n"
            "  note: '(' was opened at line 3, column 16\n");
  EXPECT_EQ(file(head + "    if x = 1:\n        pass\n"),
            "k.py:3:10: error: expects ':' after the 'if', but got '=' [E0105]\n"
            "    if x = 1:\n"
            "         ^\n"
            "  help: compare with '=='\n");
}

TEST(SyntaxErrors, EachCodeHasItsPlace) {
  EXPECT_EQ(places(head + "  y = x $ 2\n"), "3:9-10 E0101");
  EXPECT_EQ(places(head + "  y = x ??? 2\n"), "3:9-12 E0101");
  EXPECT_EQ(places(head + "  y = !x\n"), "3:7-8 E0101");
  EXPECT_EQ(places(head + "  y = “x”\n"), "3:7-10 E0101");
  EXPECT_EQ(places(head + "  y = \\ x\n"), "3:7-8 E0101");
  EXPECT_EQ(places(head + "  y = 1\n     z = 2\n"), "4:6-7 E0102");
  EXPECT_EQ(places(head + "    y = 1\n  z = 2\n"), "4:1-3 E0102");
  EXPECT_EQ(places(head + "  if x:\n  y = 1\n"), "4:3-4 E0102");
  EXPECT_EQ(places("@triton.jit\ndef k(x):\n"), "3:1-2 E0102");
  EXPECT_EQ(places(head + "        y = 1\n\tz = 2\n"), "4:1-2 E0102");
  EXPECT_EQ(places(head + "  y = 'abc\n"), "3:7-11 E0103");
  EXPECT_EQ(places(head + "  y = \"\"\"abc\n  z\n"), "3:7-10 E0103");
  EXPECT_EQ(places(head + "  y = x)\n"), "3:8-9 E0104");
  EXPECT_EQ(places(head + "  y = (x\n"), "3:7-8 E0104");
  EXPECT_EQ(places(head + "  y = (x]\n"), "3:9-10 E0105");
  EXPECT_EQ(places(head + "  y = [x, 1\n  return y\n"), "3:7-8 E0104");
  EXPECT_EQ(places(head + "  x y\n"), "3:5-6 E0105");
  EXPECT_EQ(places(head + "  f(x) = 1\n"), "3:3-7 E0105");
  EXPECT_EQ(places(head + "  1 += x\n"), "3:3-4 E0105");
  EXPECT_EQ(places(head + "  a, b += x\n"), "3:3-7 E0105");
  EXPECT_EQ(places(head + "  f(a=1, a=2)\n"), "3:10-11 E0105");
  EXPECT_EQ(places(head + "  f(a=1, 2)\n"), "3:10-11 E0105");
  EXPECT_EQ(places(head + "  x[]\n"), "3:5-6 E0105");
  EXPECT_EQ(places(head + "  x.1\n"), "3:4-6 E0105");
  EXPECT_EQ(places(head + "  x.\n"), "3:5-6 E0105");
  EXPECT_EQ(places(head + "  y = x if n\n"), "3:13-14 E0105");
  EXPECT_EQ(places(head + "  for i range(3):\n    pass\n"), "3:9-14 E0105");
  EXPECT_EQ(places(head + "  while x\n    pass\n"), "3:10-11 E0105");
  EXPECT_EQ(places(head + "  import 3\n"), "3:10-11 E0105");
  EXPECT_EQ(places(head + "  y = 1 if x else\n"), "3:18-19 E0105");
  EXPECT_EQ(places(head + "  y = lambda 1: 2\n"), "3:14-15 E0105");
  EXPECT_EQ(places(head + "  class = 3\n"), "3:9-10 E0105");
  EXPECT_EQ(places(head + "  y = 18446744073709551616\n"), "3:7-27 E0106");
  EXPECT_EQ(places(head + "  y = 0xg\n"), "3:7-10 E0106");
  EXPECT_EQ(places(head + "  y = 1_\n"), "3:7-9 E0106");
  EXPECT_EQ(places(head + "  y = 012\n"), "3:7-10 E0106");
  EXPECT_EQ(places(head + "  y = 0b12\n"), "3:7-11 E0106");
  EXPECT_EQ(places(head + "  y = 0x\n"), "3:7-9 E0106");
  EXPECT_EQ(places(head + "  y = 3j\n"), "3:7-9 E0106");
  EXPECT_EQ(places(head + "  y = 1.5.2\n"), "3:7-12 E0106");
  EXPECT_EQ(places(head + "  y = 1e\n"), "3:7-9 E0106");
  EXPECT_EQ(places(head + "  y = '\\xZZ'\n"), "3:8-10 E0108");
  EXPECT_EQ(places(std::string("x = 1\ny = \0", 11)), "2:5-6 E0109");
  EXPECT_EQ(places("x = 1\n# \xff\n"), "2:3-4 E0109");
  EXPECT_EQ(places("x = '\xed\xa0\x80'\n"), "1:6-7 E0109");
  EXPECT_EQ(places(head + "  y = f(i for i in x)\n"), "3:9-10 E0111");
  EXPECT_EQ(places(head + "  y = {1, 2}\n"), "3:7-8 E0111");
  EXPECT_EQ(places(head + "  y = {a: b for a in x}\n"), "3:7-8 E0111");
  EXPECT_EQ(places(head + "  if (y := 1):\n    pass\n"), "3:9-11 E0111");
  EXPECT_EQ(places(head + "  yield x\n"), "3:3-8 E0111");
  EXPECT_EQ(places("@triton.jit\ndef k(**a): pass\n"), "2:7-9 E0111");
  EXPECT_EQ(places("@triton.jit\ndef k(a, a): pass\n"), "2:10-11 E0105");
  EXPECT_EQ(places("@triton.jit\ndef k(a=1, b): pass\n"), "2:12-13 E0105");
  EXPECT_EQ(places("@triton.jit\ndef (a): pass\n"), "2:5-6 E0105");
  EXPECT_EQ(places("@triton.jit\ndef k(a: pass\n"), "2:10-14 E0105");
  EXPECT_EQ(places("@triton.jit\nx = 1\n"), "2:1-2 E0105");
  EXPECT_EQ(places("@triton.jit(\ndef k(a): pass\n"), "1:12-13 E0104");
}

TEST(SyntaxErrors, ExpressionsAndEmptyTexts) {
  EXPECT_EQ(expression(""),
            "text:1:1: error: expects an expression, but got the end of the text [E0105]\n\n^\n");
  EXPECT_NE(expression("a b").find("1:3: error: expects the end of the expression, but got 'b'"),
            std::string::npos);
  EXPECT_NE(expression("f(").find("note: '(' was opened at line 1, column 2"), std::string::npos);
  EXPECT_NE(expression("a = b").find("1:3: "), std::string::npos);
  EXPECT_NE(expression("return").find("got the keyword 'return'"), std::string::npos);
}

TEST(SyntaxErrors, SeveralInOneRun) {
  EXPECT_EQ(places(head + "  a = $\n  b = 1\n  c = (1]\n  if x\n    d = = 2\n  e = 'ok'\n  f g\n"),
            "3:7-8 E0101 5:9-10 E0105 6:7-8 E0105 7:9-10 E0105 9:5-6 E0105");
  EXPECT_EQ(places(head + "  if x y:\n    pass\n  elif z:\n    q r\n  else:\n    pass\n  s\n"),
            "3:8-9 E0105 6:7-8 E0105");
  EXPECT_EQ(places("@triton.jit\ndef a(:\n  pass\nx = {1}\n@triton.jit\ndef b():\n  1 2\n"),
            "2:7-8 E0105 7:5-6 E0105");
}

TEST(SyntaxErrors, StopAfterMany) {
  std::string text = head;
  for (int i = 0; i < 1000; ++i) {
    text += "  a b\n";
  }
  Diagnostics diags;
  EXPECT_FALSE(parseModule("k.py", text, diags));
  EXPECT_EQ(diags.all().size(), 26u);
  EXPECT_NE(diags.all().back().message.find("too many"), std::string::npos);
}

TEST(SyntaxErrors, OnlyKernelsMatter) {
  EXPECT_EQ(places("def host():\n  a b\n" + head + "  pass\n"), "");
  EXPECT_EQ(places("def host():\n  @triton.jit\n  def inner():\n    a b\n"), "4:7-8 E0105");
}

TEST(SyntaxErrors, DefinitionBodiesReportEverything) {
  EXPECT_EQ(messageOf("y = {1}"), "a set is not part of the kernel language");
  EXPECT_EQ(messageOf("  y = 1"), "the line is indented deeper than its block");
  EXPECT_EQ(messageOf("y = x +"), "expects an expression, but got the end of the line");
}

TEST(SyntaxErrors, LongTokensAreShownShortened) {
  std::string name(5000, 'q');
  EXPECT_LT(messageOf("a " + name).size(), 120u);
  EXPECT_LT(messageOf("a = 0x" + name).size(), 160u);
}

TEST(Files, Unreadable) {
  Diagnostics diags;
  EXPECT_FALSE(parseFile("/nonexistent/kernel.py", diags));
  EXPECT_FALSE(parseFile("/tmp", diags));
  ASSERT_EQ(diags.all().size(), 2u);
  EXPECT_EQ(diags.all()[0].code, "E0001");
  EXPECT_EQ(diags.all()[0].message,
            "cannot read '/nonexistent/kernel.py': No such file or directory");
  EXPECT_EQ(diags.all()[1].message, "cannot read '/tmp': it is a folder");
}

} // namespace
