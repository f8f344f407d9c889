// SPDX-License-Identifier: Apache-2.0
// Finds the ends of string literals. f-string fields are followed as Python 3.12 does, so that a
// field may hold the quotes of its own string; where that finds no end, the first closing quote
// ends the literal, as in earlier versions.
#include "lib/language/syntax/StringExtent.h"

#include <algorithm>
#include <cctype>

namespace nereid::language {
namespace {

constexpr size_t npos = std::string_view::npos;
constexpr size_t longestField = 4096; // bounds the work on text that only looks like a field
constexpr int deepestField = 8;

size_t findClosingQuotes(std::string_view text, size_t at, char quote, size_t quoteLength,
                         bool followFields);

/// End of a string nested in a field, or npos.
size_t skipNestedString(std::string_view text, size_t at) {
  StringOpening opening = readStringOpening(text, at);
  return findClosingQuotes(text, at + opening.length(), opening.quote, opening.quoteLength, false);
}

FieldExtent findFieldAtDepth(std::string_view text, size_t at, size_t limit, int depth);

/// Position of the '}' that ends a format spec, or npos.
size_t findSpecEnd(std::string_view text, size_t at, size_t limit, int depth) {
  for (size_t i = at; i < limit; ++i) {
    if (text[i] == '}') {
      return i;
    }
    if (text[i] == '\n') {
      return npos;
    }
    if (text[i] == '{') {
      FieldExtent nested = findFieldAtDepth(text, i, limit, depth + 1);
      if (nested.end == npos) {
        return npos;
      }
      i = nested.end - 1;
    }
  }
  return npos;
}

void trimSpaces(std::string_view text, size_t &begin, size_t &end) {
  auto isSpace = [&](size_t i) { return text[i] == ' ' || text[i] == '\t' || text[i] == '\n'; };
  while (begin < end && isSpace(begin)) {
    ++begin;
  }
  while (end > begin && isSpace(end - 1)) {
    --end;
  }
}

/// Fills what follows the expression, which ends at `i` with '=', '!', ':' or '}'.
void finishField(FieldExtent &field, std::string_view text, size_t i, size_t limit, int depth) {
  field.expressionEnd = i;
  if (text[i] == '=') {
    field.showsItself = true;
    for (++i; i < limit && text[i] == ' ';) {
      ++i;
    }
  }
  if (i + 1 < limit && text[i] == '!') {
    char letter = text[i + 1];
    if (letter != 'r' && letter != 's' && letter != 'a') {
      return;
    }
    field.conversion = letter;
    i += 2;
  }
  if (i < limit && text[i] == ':') {
    field.hasSpec = true;
    field.specBegin = i + 1;
    i = findSpecEnd(text, i + 1, limit, depth);
    field.specEnd = i;
  }
  if (i != npos && i < limit && text[i] == '}') {
    field.end = i + 1;
  }
}

FieldExtent findFieldAtDepth(std::string_view text, size_t at, size_t limit, int depth) {
  FieldExtent field;
  field.expressionBegin = at + 1;
  limit = std::min({limit, text.size(), at + longestField});
  if (depth > deepestField) {
    return field;
  }
  int brackets = 0;
  for (size_t i = at + 1; i < limit; ++i) {
    char c = text[i];
    char next = i + 1 < limit ? text[i + 1] : '\0';
    if (c == '\'' || c == '"') {
      size_t end = skipNestedString(text.substr(0, limit), i);
      if (end == npos) {
        return field;
      }
      i = end - 1;
    } else if (c == '(' || c == '[' || c == '{') {
      ++brackets;
    } else if (brackets > 0 && (c == ')' || c == ']' || c == '}')) {
      --brackets;
    } else if (brackets > 0) {
      continue;
    } else if (next == '=' && (c == '!' || c == '=' || c == '<' || c == '>')) {
      ++i;
    } else if (c == '}' || c == '!' || c == ':' || c == '=') {
      finishField(field, text, i, limit, depth);
      trimSpaces(text, field.expressionBegin, field.expressionEnd);
      return field;
    }
  }
  return field;
}

size_t findClosingQuotes(std::string_view text, size_t at, char quote, size_t quoteLength,
                         bool followFields) {
  for (size_t i = at; i < text.size(); ++i) {
    char c = text[i];
    if (c == '\\') {
      ++i;
    } else if (c == '\n' && quoteLength == 1) {
      return npos;
    } else if (c == quote && (quoteLength == 1 || (i + 2 < text.size() && text[i + 1] == quote &&
                                                   text[i + 2] == quote))) {
      return i + quoteLength;
    } else if (followFields && c == '{') {
      if (i + 1 < text.size() && text[i + 1] == '{') {
        ++i;
        continue;
      }
      size_t lineEnd = quoteLength == 1 ? text.find('\n', i) : npos;
      FieldExtent field = findFieldAtDepth(text, i, std::min(lineEnd, text.size()), 0);
      if (field.end == npos) {
        return npos;
      }
      i = field.end - 1;
    }
  }
  return npos;
}

} // namespace

StringOpening readStringOpening(std::string_view text, size_t at) {
  StringOpening opening;
  size_t i = at;
  for (; i < text.size() && i < at + 2; ++i) {
    char c = static_cast<char>(std::tolower(static_cast<unsigned char>(text[i])));
    bool isUnicode =
        c == 'u' && i == at && i + 1 < text.size() && (text[i + 1] == '"' || text[i + 1] == '\'');
    bool fits = isUnicode || (c == 'r' && !opening.isRaw) ||
                (c == 'b' && !opening.isBytes && !opening.isFormatted) ||
                (c == 'f' && !opening.isFormatted && !opening.isBytes);
    if (!fits) {
      break;
    }
    opening.isRaw |= c == 'r';
    opening.isBytes |= c == 'b';
    opening.isFormatted |= c == 'f';
  }
  opening.prefixLength = i - at;
  if (i < text.size() && (text[i] == '"' || text[i] == '\'')) {
    opening.quote = text[i];
    bool isTriple = i + 2 < text.size() && text[i + 1] == text[i] && text[i + 2] == text[i];
    opening.quoteLength = isTriple ? 3 : 1;
  }
  return opening;
}

size_t findStringEnd(std::string_view text, size_t at, const StringOpening &opening) {
  size_t inside = at + opening.length();
  size_t end = npos;
  if (opening.isFormatted) {
    end = findClosingQuotes(text, inside, opening.quote, opening.quoteLength, true);
  }
  return end != npos ? end
                     : findClosingQuotes(text, inside, opening.quote, opening.quoteLength, false);
}

FieldExtent findField(std::string_view text, size_t at, size_t limit) {
  return findFieldAtDepth(text, at, limit, 0);
}

} // namespace nereid::language
