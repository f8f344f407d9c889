// SPDX-License-Identifier: Apache-2.0
// String literals: adjacent ones joined, escapes resolved, f-strings taken apart. A format spec
// becomes the call format(x, "spec"), `!r` becomes repr(x), so that no meaning is lost on the way.
#pragma once

#include "lib/language/syntax/parser/ExpressionBuilder.h"

namespace nereid::language {

class ExpressionParser;

class StringParser {
public:
  StringParser(TokenCursor &tokens, SyntaxErrors &errors, ExpressionBuilder &build,
               ExpressionParser &expressions)
      : tokens(tokens), errors(errors), build(build), expressions(expressions) {}

  /// One or more String tokens.
  ExprPtr parseStrings();

private:
  bool appendStringPart(Expr &whole, size_t token);
  bool appendFormatted(Expr &whole, size_t token, size_t insideBegin, size_t insideEnd, bool isRaw);
  bool appendLiteralText(Expr &whole, size_t token, size_t begin, size_t end, bool isRaw,
                         bool isFormatted);
  ExprPtr parseField(size_t token, size_t begin, size_t end);
  SourceRange rangeInside(size_t token, size_t begin, size_t end) const;

  TokenCursor &tokens;
  SyntaxErrors &errors;
  ExpressionBuilder &build;
  ExpressionParser &expressions;
};

} // namespace nereid::language
