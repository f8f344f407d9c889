// SPDX-License-Identifier: Apache-2.0
// Where a string literal ends. Shared by the lexer, which needs the end, and by Literals.cpp, which
// walks the replacement fields of f-strings the same way.
#pragma once

#include <cstddef>
#include <string_view>

namespace nereid::language {

/// The opening of a string literal: letters, then one or three quotes.
struct StringOpening {
  bool isRaw = false, isBytes = false, isFormatted = false;
  char quote = 0;          // 0: no string starts here
  size_t prefixLength = 0; // letters
  size_t quoteLength = 0;  // 1 or 3
  size_t length() const { return prefixLength + quoteLength; }
};
StringOpening readStringOpening(std::string_view text, size_t at);

/// One past the closing quotes, or npos when the literal does not end inside `text` (for one
/// quote: inside its line).
size_t findStringEnd(std::string_view text, size_t at, const StringOpening &opening);

/// A replacement field of an f-string, `{expression!conversion:spec}`; positions in the text.
struct FieldExtent {
  size_t expressionBegin = 0, expressionEnd = 0;
  bool showsItself = false; // `{x=}`
  char conversion = 0;      // r, s, a or 0
  bool hasSpec = false;
  size_t specBegin = 0, specEnd = 0;
  size_t end = std::string_view::npos; // one past '}'; npos when the field does not end
};
/// Reads the field whose '{' stands at `at`, looking no further than `limit`.
FieldExtent findField(std::string_view text, size_t at, size_t limit);

} // namespace nereid::language
