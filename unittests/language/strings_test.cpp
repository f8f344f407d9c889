// SPDX-License-Identifier: Apache-2.0
// Every string form: quotes, prefixes, escapes, joining, f-strings.
#include "unittests/language/Dump.h"

#include "lib/language/syntax/Literals.h"

#include <gtest/gtest.h>

using namespace nereid;
using namespace nereid::language;

namespace {

std::string valueOf(std::string_view text) {
  Diagnostics diags;
  ExprPtr parsed = parseExpression("t", text, diags);
  return parsed && parsed->kind == ExprKind::String ? parsed->text
                                                    : "not a string: " + diags.render();
}

TEST(Strings, QuotesAndPrefixes) {
  EXPECT_EQ(valueOf("'a'"), "a");
  EXPECT_EQ(valueOf("\"a'b\""), "a'b");
  EXPECT_EQ(valueOf("''"), "");
  EXPECT_EQ(valueOf("''''''"), "");
  EXPECT_EQ(valueOf("'''a\nb''c'''"), "a\nb''c");
  EXPECT_EQ(valueOf("\"\"\"x\"y\"\"\""), "x\"y");
  EXPECT_EQ(valueOf("r'a\\n'"), "a\\n");
  EXPECT_EQ(valueOf("R'\\''"), "\\'");
  EXPECT_EQ(valueOf("u'a'"), "a");
  EXPECT_EQ(valueOf("'a' \"b\" '''c'''"), "abc");
  EXPECT_EQ(valueOf("'a'\n'b'"), "ab");
}

TEST(Strings, Escapes) {
  EXPECT_EQ(valueOf(R"('\n\t\\\'\"\a\b\f\v\r')"), "\n\t\\'\"\a\b\f\v\r");
  EXPECT_EQ(valueOf(R"('\x41\101\u00e9\U0001F600')"), "AAé😀");
  EXPECT_EQ(valueOf(R"('\0')"), std::string(1, '\0'));
  EXPECT_EQ(valueOf("'a\\\nb'"), "ab");
  EXPECT_EQ(valueOf(R"('\d\w')"), "\\d\\w");
}

TEST(Strings, Formatted) {
  EXPECT_EQ(expression("f'uint{n}'"), "(fstring \"uint\" n)");
  EXPECT_EQ(expression("f'{a}{b}c'"), "(fstring a b \"c\")");
  EXPECT_EQ(expression("f'{{}}'"), "(fstring \"{}\")");
  EXPECT_EQ(expression("f'{x + 1 !r}'"), "(fstring (call repr (+ x 1)))");
  EXPECT_EQ(expression("f'{x:>10}'"), "(fstring (call format x \">10\"))");
  EXPECT_EQ(expression("f'{x:{w}.2f}'"), "(fstring (call format x (fstring w \".2f\")))");
  EXPECT_EQ(expression("f'{x=}'"), "(fstring \"x=\" (call repr x))");
  EXPECT_EQ(expression("f'{x != y}'"), "(fstring (!= x y))");
  EXPECT_EQ(expression("f'{a[\"k\"]}'"), "(fstring (index a \"k\"))");
  EXPECT_EQ(expression("f'{a['k']}'"), "(fstring (index a \"k\"))");
  EXPECT_EQ(expression("f'{ {1: 2}[1] }'"), "(fstring (index (dict 1 2) 1))");
  EXPECT_EQ(expression("f'{a, b}'"), "(fstring (tuple a b))");
  EXPECT_EQ(expression("'a' f'{b}' 'c'"), "(fstring \"a\" b \"c\")");
  EXPECT_EQ(expression("rf'\\n{x}'"), "(fstring \"\\n\" x)");
  EXPECT_EQ(expression("f'''a\n{x\n}'''"), "(fstring \"a\n\" x)");
  EXPECT_EQ(expression("f''"), "(fstring)");
}

TEST(Strings, FieldsHavePlacesInTheFile) {
  Diagnostics diags;
  ExprPtr parsed = parseExpression("t", "f'ab{ n }'", diags);
  ASSERT_TRUE(parsed);
  ASSERT_EQ(parsed->operands.size(), 2u);
  EXPECT_EQ(parsed->operands[1]->range.column, 7);
  EXPECT_EQ(parsed->operands[1]->range.endColumn, 8);
}

TEST(Strings, Broken) {
  EXPECT_EQ(expression("'abc"), "text:1:1: error: the string opened with ' does not end [E0103]\n"
                                "'abc\n^~~~\n"
                                "  help: close it with ' on its line, or use three quotes\n");
  EXPECT_EQ(expression("'a\\xg'"),
            "text:1:3: error: the escape '\\x' expects 2 hexadecimal digits [E0108]\n'a\\xg'\n"
            "  ^~\n  help: write '\\\\' for a backslash\n");
  EXPECT_NE(expression("'\\ud800'").find("names no character [E0108]"), std::string::npos);
  EXPECT_NE(expression("'\\U00110000'").find("[E0108]"), std::string::npos);
  EXPECT_NE(expression("'\\N{DASH}'").find("[E0108]"), std::string::npos);
  EXPECT_NE(expression("f'{x'").find("1:3: error: the '{' of the f-string is not closed [E0108]"),
            std::string::npos);
  EXPECT_NE(expression("f'a}'").find("1:4: error: the '}' of the f-string closes nothing [E0108]"),
            std::string::npos);
  EXPECT_NE(expression("f'{}'").find("hold no expression [E0108]"), std::string::npos);
  EXPECT_NE(expression("f'{x y}'")
                .find("1:6: error: expects the end of the expression in the "
                      "f-string, but got 'y' [E0105]"),
            std::string::npos);
  EXPECT_NE(expression("b'a'").find("a bytes literal is not part"), std::string::npos);
  EXPECT_NE(expression("\"\"\"abc").find("1:1: error: the string opened with \"\"\" does not end"),
            std::string::npos);
}

TEST(Strings, QuotingReadsBack) {
  std::string every;
  for (int c = 0; c < 128; ++c) {
    every += static_cast<char>(c);
  }
  every += "é😀";
  EXPECT_EQ(valueOf(quoteString(every)), every);
  EXPECT_EQ(quoteString("it's"), "'it\\'s'");
}

} // namespace
