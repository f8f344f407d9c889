// SPDX-License-Identifier: Apache-2.0
// No text may crash, hang or overflow the stack: deep nesting, long chains, huge tokens, and
// thousands of damaged kernels.
#include "unittests/language/Dump.h"

#include "lib/language/IntegerExpression.h"
#include "lib/language/signature/Signature.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <random>
#include <sstream>

using namespace nereid;
using namespace nereid::language;

namespace {

std::string repeat(std::string_view part, int count) {
  std::string out;
  for (int i = 0; i < count; ++i) {
    out += part;
  }
  return out;
}

/// The code of the first error of an expression, "" when it parses.
std::string codeOf(const std::string &text) {
  Diagnostics diags;
  parseExpression("t", text, diags);
  return diags.all().empty() ? "" : diags.all()[0].code;
}

std::string codeOfStatements(const std::string &text) {
  Diagnostics diags;
  parseStatements("t", text, diags);
  return diags.all().empty() ? "" : diags.all()[0].code;
}

TEST(Nesting, TenThousandLevels) {
  constexpr int levels = 10000;
  EXPECT_EQ(codeOf(repeat("(", levels) + "x" + repeat(")", levels)), "E0107");
  EXPECT_EQ(codeOf(repeat("[", levels)), "E0107");
  EXPECT_EQ(codeOf(repeat("{1: ", levels)), "E0107");
  EXPECT_EQ(codeOf(repeat("f(", levels)), "E0107");
  EXPECT_EQ(codeOf(repeat("x[", levels)), "E0107");
  EXPECT_EQ(codeOf(repeat("-", levels) + "x"), "E0107");
  EXPECT_EQ(codeOf(repeat("not ", levels) + "x"), "E0107");
  EXPECT_EQ(codeOf(repeat("x ** ", levels) + "x"), "E0107");
  EXPECT_EQ(codeOf(repeat("lambda: ", levels) + "x"), "E0107");
  EXPECT_EQ(codeOf(repeat("x if x else ", levels) + "x"), "E0107");
  EXPECT_EQ(codeOf(repeat("x + ", levels) + "x"), "E0107");
  EXPECT_EQ(codeOf("x" + repeat(".a", levels)), "E0107");
  EXPECT_EQ(codeOf("x" + repeat("()", levels)), "E0107");
  EXPECT_EQ(codeOf("x" + repeat("[0]", levels)), "E0107");
  EXPECT_NE(codeOf(repeat("f'{", levels)), "");
  EXPECT_NE(codeOf(repeat("f\"{f'{", levels) + "x" + repeat("}'}\"", levels)), "");
}

TEST(Nesting, UnboundedOnlyWhereTheTreeIsFlat) {
  EXPECT_EQ(codeOf("x" + repeat(" and x", 10000)), "");
  EXPECT_EQ(codeOf("[" + repeat("x, ", 10000) + "]"), "");
  EXPECT_EQ(codeOf(repeat("'a' ", 10000)), "");
}

TEST(Nesting, ModestDepthIsAccepted) {
  EXPECT_EQ(codeOf(repeat("(", 150) + "x" + repeat(")", 150)), "");
  EXPECT_EQ(codeOf("x" + repeat(" + x", 900)), "");
}

TEST(Nesting, Blocks) {
  std::string text;
  for (int i = 0; i < 10000; ++i) {
    text += std::string(i, ' ') + "if x:\n";
    if (text.size() > (size_t(4) << 20)) {
      break;
    }
  }
  EXPECT_EQ(codeOfStatements(text), "E0107");
  std::string arms = "if x:\n  a\n" + repeat("elif x:\n  b\n", 10000);
  EXPECT_EQ(codeOfStatements(arms), "E0107");
  std::string within = "if x:\n  a\n" + repeat("elif x:\n  b\n", 150);
  EXPECT_EQ(codeOfStatements(within), "");
  Diagnostics diags;
  EXPECT_TRUE(parseModule("t", text, diags)); // outside kernels it is nobody's business
}

TEST(Huge, Tokens) {
  constexpr int size = 4 << 20;
  EXPECT_EQ(codeOf(std::string(size, 'a')), "");
  EXPECT_EQ(codeOf("'" + std::string(size, 'a') + "'"), "");
  EXPECT_EQ(codeOf("'" + std::string(size, 'a')), "E0103");
  EXPECT_EQ(codeOf(std::string(size, '9')), "E0106");
  EXPECT_EQ(codeOf("1." + std::string(size, '9')), "");
  EXPECT_EQ(codeOf(std::string(size, '$')), "E0101");
  EXPECT_EQ(codeOf(repeat("$?", size / 2)), "E0101");
  EXPECT_EQ(codeOf("f'" + repeat("{", size) + "'"), "");
  EXPECT_EQ(codeOf("f'''" + repeat("{a ", size / 3)), "E0103");
  EXPECT_EQ(codeOfStatements(std::string(size, ' ') + "x"), "E0102");
  EXPECT_EQ(codeOfStatements(std::string(size, '\n')), "");
  EXPECT_EQ(codeOfStatements(std::string(size, '#')), "");
  EXPECT_EQ(codeOfStatements(repeat("\\\n", size / 2)), "");
}

TEST(Huge, Files) {
  std::string text = repeat("value = function(argument, 12345) + other\n", 200000);
  text += "@triton.jit\ndef k(): pass\n";
  Diagnostics diags;
  std::optional<SourceModule> module = parseModule("t", std::move(text), diags);
  ASSERT_TRUE(module);
  EXPECT_EQ(module->body.size(), 200001u);
}

std::vector<std::string> shippedKernels() {
  std::vector<std::string> out;
  namespace fs = std::filesystem;
  for (const auto &entry : fs::recursive_directory_iterator(NEREID_SOURCE_DIR "/kernels")) {
    if (entry.path().extension() == ".py") {
      std::ifstream file(entry.path());
      std::stringstream content;
      content << file.rdbuf();
      out.push_back(content.str());
    }
  }
  return out;
}

/// One to four damages: a byte changed, inserted, removed, a piece repeated or cut away.
void damage(std::string &text, std::mt19937 &random) {
  constexpr std::string_view telling = "()[]{}'\"\\\n\t :,=#@f0.%*-\xff\xc3";
  int count = 1 + random() % 4;
  for (int i = 0; i < count && !text.empty(); ++i) {
    size_t at = random() % text.size();
    char byte = random() % 2 ? telling[random() % telling.size()] : static_cast<char>(random());
    size_t length = std::min<size_t>(1 + random() % 40, text.size() - at);
    switch (random() % 5) {
    case 0:
      text[at] = byte;
      break;
    case 1:
      text.insert(at, 1, byte);
      break;
    case 2:
      text.erase(at, 1);
      break;
    case 3:
      text.insert(random() % text.size(), text.substr(at, length));
      break;
    default:
      text.erase(at, length);
      break;
    }
  }
}

TEST(Mutations, DamagedKernelsGiveATreeOrAnError) {
  std::vector<std::string> kernels = shippedKernels();
  ASSERT_GE(kernels.size(), 8u);
  constexpr unsigned seed = 20240917;
  std::mt19937 random(seed);
  int accepted = 0, refused = 0;
  for (int round = 0; round < 4000; ++round) {
    std::string text = kernels[random() % kernels.size()];
    damage(text, random);
    Diagnostics diags;
    std::optional<SourceModule> module = parseModule("k.py", text, diags);
    ASSERT_EQ(module.has_value(), !diags.hasErrors()) << text;
    for (const Diagnostic &d : diags.all()) {
      ASSERT_FALSE(d.message.empty());
      ASSERT_FALSE(explainCode(d.code).title.empty()) << d.code;
      ASSERT_GE(d.range.column, d.range.line > 0 ? 1 : 0) << text;
      ASSERT_LE(d.range.line, 1 + std::count(text.begin(), text.end(), '\n') +
                                  std::count(text.begin(), text.end(), '\r'));
      render(d);
    }
    if (module) {
      dump(module->body);
    }
    (module ? accepted : refused)++;
  }
  EXPECT_GT(accepted, 200); // both sides of the parser were exercised
  EXPECT_GT(refused, 200);
}

TEST(Mutations, TruncatedKernels) {
  for (const std::string &kernel : shippedKernels()) {
    for (size_t size = 0; size < kernel.size(); size += 3) {
      Diagnostics diags;
      std::optional<SourceModule> module = parseModule("k.py", kernel.substr(0, size), diags);
      ASSERT_EQ(module.has_value(), !diags.hasErrors());
    }
  }
}

TEST(Mutations, RandomTokenSoup) {
  constexpr std::string_view words[] = {"def ",    "if ",     "else",
                                        "elif ",   "for ",    "in ",
                                        "while ",  "return ", "(",
                                        ")",       "[",       "]",
                                        "{",       "}",       ":",
                                        ",",       "=",       "==",
                                        "\n",      "\n  ",    "\n    ",
                                        "x",       "1",       "'s'",
                                        "f'{x}'",  "@",       "@triton.jit\n",
                                        "lambda ", "not ",    "is ",
                                        "**",      "*",       ".",
                                        "...",     ";",       "import ",
                                        "from ",   "class ",  "with ",
                                        "try:",    "except:", "async ",
                                        "\\\n",    "#c\n",    "\"\"\"",
                                        "$"};
  std::mt19937 random(7);
  for (int round = 0; round < 5000; ++round) {
    std::string text = round % 2 ? "@triton.jit\ndef k(a):\n  " : "";
    for (int i = random() % 40; i > 0; --i) {
      text += words[random() % std::size(words)];
    }
    Diagnostics diags;
    parseModule("k.py", text, diags);
    Diagnostics strict;
    std::optional<SourceModule> module = parseStatements("k.py", text, strict);
    ASSERT_EQ(module.has_value(), !strict.hasErrors()) << text;
    Diagnostics single;
    ExprPtr parsed = parseExpression("t", text, single);
    ASSERT_EQ(parsed != nullptr, !single.hasErrors()) << text;
    if (parsed) {
      (void)evaluateInteger(*parsed, {{"x", 3}});
    }
  }
}

TEST(Mutations, SignaturesAndGrids) {
  Diagnostics diags;
  std::optional<SourceModule> module =
      parseModule("k.py", "@triton.jit\ndef k(x, n, f, BLOCK: tl.constexpr = 4): pass\n", diags);
  ASSERT_TRUE(module);
  std::mt19937 random(11);
  for (int round = 0; round < 5000; ++round) {
    std::string text = "x=*fp32:16, n=i32, f='a,b', BLOCK=1024";
    damage(text, random);
    Result<Signature> signature = parseSignature(text, *module->find("k"));
    if (signature) {
      Result<Signature> again = parseSignature(signature->text(), *module->find("k"));
      ASSERT_TRUE(again) << signature->text();
      ASSERT_EQ(again->text(), signature->text());
    }
    std::string grid = "cdiv(n, BLOCK) * 2, max(1, n % 7), 1 if n else 2";
    damage(grid, random);
    (void)evaluateGrid(grid, {{"n", 1000}, {"BLOCK", 0}});
  }
}

} // namespace
