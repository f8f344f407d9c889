// SPDX-License-Identifier: Apache-2.0
// Which characters may stand where in Python source: letters of names, digits, spaces, UTF-8
// decoding. Used by the lexer and by the readers of literals and signatures.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace nereid::language {

inline bool isDigit(char c) { return c >= '0' && c <= '9'; }
inline bool isAsciiLetter(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_';
}
/// `text` without `spaces` at its ends.
inline std::string_view trimmed(std::string_view text, std::string_view spaces = " \t\n\r") {
  const size_t first = text.find_first_not_of(spaces);
  return first == std::string_view::npos
             ? std::string_view()
             : text.substr(first, text.find_last_not_of(spaces) - first + 1);
}
/// Value of a digit in bases up to 16, or 16.
inline int digitValue(char c) {
  return isDigit(c)             ? c - '0'
         : c >= 'a' && c <= 'f' ? c - 'a' + 10
         : c >= 'A' && c <= 'F' ? c - 'A' + 10
                                : 16;
}

struct CodePoint {
  uint32_t value = 0;
  size_t bytes = 0; // 0: not valid UTF-8 here
};
/// The character at `at`, which must be inside `text`.
CodePoint decodeUtf8(std::string_view text, size_t at);
void appendUtf8(std::string &out, uint32_t value);

/// A non-ASCII character that may stand in a name. Python asks Unicode's tables; here every
/// character counts as a letter except the blocks of punctuation, arrows, symbols and spaces.
bool isUnicodeLetter(uint32_t value);

/// Bytes of the name that starts at `at`; 0 when none does.
size_t nameLength(std::string_view text, size_t at);

} // namespace nereid::language
