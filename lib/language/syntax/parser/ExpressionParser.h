// SPDX-License-Identifier: Apache-2.0
// Expressions of Python. ExpressionParser.cpp has operators, from the loosest binding to the
// tightest, calls and indices; ExpressionAtoms.cpp names, numbers and displays. A rule that fails
// has reported why (once) and returns null.
#pragma once

#include "lib/language/syntax/parser/ExpressionBuilder.h"
#include "lib/language/syntax/parser/StringParser.h"

namespace nereid::language {

class ExpressionParser {
public:
  ExpressionParser(TokenCursor &tokens, SyntaxErrors &errors)
      : tokens(tokens), errors(errors), build(tokens, errors),
        strings(tokens, errors, build, *this) {}

  ExprPtr parseExpressionList(); ///< bare tuple or one expression, stars allowed
  ExprPtr parseExpression();     ///< conditional or lambda
  ExprPtr parseTargetList();
  /// Whether the expression can be assigned to, or whatever the verb says.
  bool checkTarget(const Expr &target, std::string_view verb);

  /// Counts one level of recursion while it lives.
  struct Level {
    explicit Level(ExpressionParser &parser) : parser(parser) { ++parser.depth; }
    ~Level() { --parser.depth; }
    Level(const Level &) = delete;
    bool isTooDeep() const { return parser.depth > maxExpressionDepth; }
    ExpressionParser &parser;
  };

private:
  ExprPtr parseStarOrExpression();
  ExprPtr parseConditional();
  ExprPtr parseLambda();
  ExprPtr parseLogical(std::string_view word, ExprKind kind,
                       ExprPtr (ExpressionParser::*operand)());
  ExprPtr parseOr();
  ExprPtr parseAnd();
  ExprPtr parseNot();
  ExprPtr parseComparison();
  std::string acceptComparison();
  ExprPtr parseBinary(int minLevel);
  ExprPtr parseUnary();
  ExprPtr parsePower();
  ExprPtr parsePostfix();
  ExprPtr parseCall(ExprPtr callee, size_t start);
  bool parseArgument(Expr &call);
  ExprPtr parseSubscript(ExprPtr base, size_t start);
  ExprPtr parseIndex();
  ExprPtr parseAtom();
  ExprPtr parseNumber();
  ExprPtr parseParenthesized();
  ExprPtr parseListDisplay();
  ExprPtr parseDictDisplay();
  bool parseComprehension(Expr &list);

  TokenCursor &tokens;
  SyntaxErrors &errors;
  ExpressionBuilder build;
  StringParser strings;
  int depth = 0;
};

} // namespace nereid::language
