// SPDX-License-Identifier: Apache-2.0
// Text to tokens, as Python cuts them: indentation, joined lines, every string form. Tokens hold
// positions only; Literals.h reads their values when the parser needs them. What cannot be cut is
// an Error token with its diagnostic, so that code nobody asks for stays silent.
// Stands before Parser.h; expects text that normalizeText has accepted.
#pragma once

#include "lib/support/Diagnostics.h"

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace nereid::language {

enum class TokenKind : uint8_t {
  Name,
  Keyword,
  Integer,
  Float,
  String, // f-strings included: the prefix tells
  Operator,
  Newline,
  Indent,
  Dedent,
  End,
  Error, // `error` is an index into TokenStream::errors
};

struct Token {
  TokenKind kind = TokenKind::End;
  bool isFirstOnLine = false;
  uint16_t error = 0;
  uint32_t begin = 0, end = 0; // bytes of the text
  int line = 0, column = 0;    // 1-based; columns count bytes
};

struct TokenStream {
  std::vector<Token> tokens; // ends with one End
  std::vector<Diagnostic> errors;
};

/// Largest text that is read. Generated kernels have been seen with a megabyte; a syntax tree takes
/// up to a hundred times its text.
inline constexpr size_t maxFileBytes = size_t(16) << 20;

/// Removes a byte order mark and makes every line end '\n'. Fails with E0109 on a zero byte or
/// invalid UTF-8, E0001 above maxFileBytes.
Status normalizeText(std::string_view path, std::string &text);

/// A whole file, with Newline, Indent and Dedent tokens.
TokenStream tokenize(std::string_view text);

/// Part of a text as if it stood in brackets: line ends and indentation mean nothing.
TokenStream tokenizePart(std::string_view text, uint32_t begin, uint32_t end, int line, int column);

bool isIdentifier(std::string_view text);

} // namespace nereid::language
