// SPDX-License-Identifier: Apache-2.0
#include "lib/language/syntax/parser/TokenCursor.h"

#include <algorithm>

namespace nereid::language {

/// Of a token in a message.
static constexpr size_t longestShown = 40;

bool TokenCursor::acceptOperator(std::string_view op) {
  bool found = isOperator(op);
  pos += found;
  return found;
}

bool TokenCursor::acceptKeyword(std::string_view word) {
  bool found = isKeyword(word);
  pos += found;
  return found;
}

SourceRange TokenCursor::rangeOf(const Token &token) const {
  std::string_view shown = spelling(token);
  size_t length = std::min(shown.find('\n'), shown.size());
  int width = static_cast<int>(std::max<size_t>(length, 1));
  return {token.line, token.column, token.column + width};
}

SourceRange TokenCursor::rangeFrom(size_t firstToken) const {
  const Token &first = stream.tokens[firstToken];
  size_t last = pos > firstToken ? pos - 1 : firstToken;
  if (stream.tokens[last].line != first.line) {
    last = firstToken;
    while (last + 1 < stream.tokens.size() && stream.tokens[last + 1].line == first.line) {
      ++last;
    }
  }
  while (last > firstToken && stream.tokens[last].kind == TokenKind::Newline) {
    --last;
  }
  return {first.line, first.column, rangeOf(stream.tokens[last]).endColumn};
}

std::string TokenCursor::describe(const Token &token) const {
  switch (token.kind) {
  case TokenKind::Newline:
    return "the end of the line";
  case TokenKind::Indent:
    return "an indented line";
  case TokenKind::Dedent:
    return "the end of the block";
  case TokenKind::End:
    return "the end of the text";
  case TokenKind::Keyword:
    return "the keyword '" + std::string(spelling(token)) + "'";
  case TokenKind::String:
    return "a string";
  default:
    break;
  }
  std::string_view shown = spelling(token);
  if (shown.size() <= longestShown) {
    return "'" + std::string(shown) + "'";
  }
  size_t cut = longestShown;
  while (cut > 0 && (static_cast<unsigned char>(shown[cut]) & 0xC0) == 0x80) {
    --cut;
  }
  return "'" + std::string(shown.substr(0, cut)) + "…'";
}

void TokenCursor::skipLine() {
  while (!is(TokenKind::Newline) && !is(TokenKind::End) && !is(TokenKind::Dedent) &&
         !is(TokenKind::Indent)) {
    advance();
  }
  if (is(TokenKind::Newline)) {
    advance();
  }
}

void TokenCursor::skipNestedBlock() {
  int open = 0;
  do {
    open += is(TokenKind::Indent);
    open -= is(TokenKind::Dedent);
    advance();
  } while (open > 0 && !is(TokenKind::End));
}

} // namespace nereid::language
