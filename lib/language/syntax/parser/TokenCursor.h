// SPDX-License-Identifier: Apache-2.0
// Walks over the tokens of a text: what stands here, what it says, where it is. Nothing is reported
// from here.
#pragma once

#include "lib/language/syntax/Lexer.h"
#include "lib/support/Diagnostics.h"

#include <algorithm>

namespace nereid::language {

class TokenCursor {
public:
  TokenCursor(std::string_view text, TokenStream stream) : text(text), stream(std::move(stream)) {}

  size_t position() const { return pos; }
  void moveTo(size_t token) { pos = token; }
  size_t count() const { return stream.tokens.size(); }
  const Token &at(size_t token) const { return stream.tokens[token]; }
  const Token &current() const { return stream.tokens[pos]; }
  const Token &peek(size_t ahead) const {
    return stream.tokens[std::min(pos + ahead, stream.tokens.size() - 1)];
  }
  /// What is wrong with a token of kind Error.
  const Diagnostic &error(const Token &token) const { return stream.errors[token.error]; }
  std::string_view wholeText() const { return text; }
  std::string_view spelling(const Token &token) const {
    return text.substr(token.begin, token.end - token.begin);
  }

  bool is(TokenKind kind) const { return current().kind == kind; }
  bool isOperator(std::string_view op) const {
    return is(TokenKind::Operator) && spelling(current()) == op;
  }
  bool isKeyword(std::string_view word) const {
    return is(TokenKind::Keyword) && spelling(current()) == word;
  }
  bool isOperatorAt(size_t ahead, std::string_view op) const {
    return peek(ahead).kind == TokenKind::Operator && spelling(peek(ahead)) == op;
  }
  /// True as well where nothing can follow, so that the closing bracket is what is missed.
  bool isAtClosing(std::string_view op) const { return isOperator(op) || is(TokenKind::End); }

  bool acceptOperator(std::string_view op);
  bool acceptKeyword(std::string_view word);
  void advance() { pos += !is(TokenKind::End); }
  void skipLine();
  void skipNestedBlock();

  SourceRange rangeOf(const Token &token) const;
  /// From a token to the last one taken, clipped to the first line.
  SourceRange rangeFrom(size_t firstToken) const;
  /// For messages: "the end of the line", "'while'".
  std::string describe(const Token &token) const;

private:
  friend struct InPart;
  std::string_view text;
  TokenStream stream;
  size_t pos = 0;
};

/// While alive, the cursor walks over tokens of its own, such as those inside a string.
struct InPart {
  InPart(TokenCursor &tokens, TokenStream part)
      : tokens(tokens), outer(std::move(part)), outerPos(tokens.pos) {
    std::swap(tokens.stream, outer);
    tokens.pos = 0;
  }
  ~InPart() {
    std::swap(tokens.stream, outer);
    tokens.pos = outerPos;
  }
  InPart(const InPart &) = delete;
  InPart &operator=(const InPart &) = delete;

private:
  TokenCursor &tokens;
  TokenStream outer;
  size_t outerPos;
};

} // namespace nereid::language
