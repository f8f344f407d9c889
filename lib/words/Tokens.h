// SPDX-License-Identifier: Apache-2.0
// A text in English or Chinese as tokens with their places. English words are lower-cased and
// stemmed, numbers are kept whole, every Chinese character is a token of its own: terms of several
// characters are found by Vocabulary.h. Linear in the text.
#pragma once

#include "lib/support/Diagnostics.h"

#include <string>
#include <string_view>
#include <vector>

namespace nereid::words {

/// Longest text that is taken.
inline constexpr size_t mostBytes = 1u << 20;

enum class TokenKind { Word, Number, Han, Symbol };

struct Token {
  TokenKind kind;
  std::string text; ///< word: its stem
  std::string name; ///< word: as it was written
  SourceRange range;
};

/// Whether both begin at one place.
inline bool isAt(const SourceRange &one, const SourceRange &other) {
  return one.line == other.line && one.column == other.column;
}

/// E0623 for empty text, invalid UTF-8, control characters, or more than `mostBytes`.
Result<std::vector<Token>> tokenize(std::string_view path, std::string_view text);

/// Of ASCII letters.
std::string lowerCase(std::string word);

/// "masked" → "mask", "quantisation" → "quantiz": plural, past, gerund, a last e and nouns of verbs
/// in -ise or -ize go; "normalisation" → "normalization".
std::string stem(std::string word);

} // namespace nereid::words
