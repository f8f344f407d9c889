// SPDX-License-Identifier: Apache-2.0
#include "lib/words/Tokens.h"

#include <fmt/format.h>

#include <cctype>

namespace nereid::words {
namespace {

/// Bytes of the valid UTF-8 sequence at `at`; 0 when there is none.
size_t sequenceLength(std::string_view text, size_t at) {
  const auto byte = [&](size_t i) { return static_cast<unsigned char>(text[i]); };
  const unsigned char first = byte(at);
  const size_t length = first < 0x80                     ? 1
                        : first >= 0xC2 && first < 0xE0  ? 2
                        : first >= 0xE0 && first < 0xF0  ? 3
                        : first >= 0xF0 && first <= 0xF4 ? 4
                                                         : 0;
  if (length == 0 || at + length > text.size()) {
    return 0;
  }
  for (size_t i = 1; i < length; ++i) {
    if ((byte(at + i) & 0xC0) != 0x80) {
      return 0;
    }
  }
  const unsigned char second = length > 1 ? byte(at + 1) : 0;
  const bool isOverlong = (first == 0xE0 && second < 0xA0) || (first == 0xF0 && second < 0x90);
  const bool isOutside = (first == 0xED && second >= 0xA0) || (first == 0xF4 && second >= 0x90);
  return isOverlong || isOutside ? 0 : length;
}

bool isDigit(char letter) { return letter >= '0' && letter <= '9'; }
bool isLetter(char letter) { return std::isalpha(static_cast<unsigned char>(letter)) != 0; }

/// "8", "1.5", "1e-3".
size_t numberLength(std::string_view text, size_t at) {
  size_t end = at;
  const auto digits = [&] {
    while (end < text.size() && isDigit(text[end])) {
      ++end;
    }
  };
  digits();
  if (end + 1 < text.size() && text[end] == '.' && isDigit(text[end + 1])) {
    ++end;
    digits();
  }
  if (end + 1 < text.size() && (text[end] == 'e' || text[end] == 'E')) {
    const size_t exponent = end + (text[end + 1] == '-' || text[end + 1] == '+' ? 2 : 1);
    if (exponent < text.size() && isDigit(text[exponent])) {
      end = exponent;
      digits();
    }
  }
  return end - at;
}

Diagnostic refuse(std::string_view path, std::string_view text, SourceRange range,
                  const std::string &why) {
  auto error = makeError("E0623", why);
  if (range.line > 0) {
    error.at(path, text, range);
  }
  return error.withHelp("give a sentence or a document in English or Chinese, as UTF-8");
}

} // namespace

std::string lowerCase(std::string word) {
  for (char &letter : word) {
    letter = static_cast<char>(std::tolower(static_cast<unsigned char>(letter)));
  }
  return word;
}

std::string stem(std::string word) {
  if (word == "normalisation" || word == "normalization") {
    return "normalization";
  }
  for (std::string_view end : {"isation", "ization", "ise", "ises", "ised", "ising"}) {
    if (word.size() > end.size() + 3 && word.ends_with(end)) {
      return word.substr(0, word.size() - end.size()) + "iz";
    }
  }
  for (std::string_view end : {"ing", "ed", "s"}) {
    if (word.size() > end.size() + 2 && word.ends_with(end) && !word.ends_with("ss")) {
      word.resize(word.size() - end.size());
      break;
    }
  }
  if (word.size() > 3 && word.back() == 'e') {
    word.pop_back();
  }
  return word;
}

Result<std::vector<Token>> tokenize(std::string_view path, std::string_view text) {
  if (text.size() > mostBytes) {
    return refuse(
        path, text, {},
        fmt::format("the text expects at most {} bytes, but got {}", mostBytes, text.size()));
  }
  std::vector<Token> tokens;
  int line = 1, column = 1;
  for (size_t at = 0; at < text.size();) {
    size_t length = sequenceLength(text, at);
    const unsigned char first = static_cast<unsigned char>(text[at]);
    if (length == 0) {
      return refuse(path, "", {line, column, column + 1},
                    fmt::format("the text expects UTF-8, but got the byte 0x{:02x}", first));
    }
    if ((first < 0x20 && first != '\n' && first != '\t' && first != '\r') || first == 0x7F) {
      return refuse(path, "", {line, column, column + 1},
                    fmt::format("the text expects no control characters, but got 0x{:02x}", first));
    }
    if (first == '\n') {
      ++line;
      column = 1;
      ++at;
      continue;
    }
    TokenKind kind =
        length == 3 && first >= 0xE4 && first <= 0xE9 ? TokenKind::Han : TokenKind::Symbol;
    int columns = 1;
    if (isDigit(text[at]) || isLetter(text[at])) {
      kind = isDigit(text[at]) ? TokenKind::Number : TokenKind::Word;
      size_t end = at;
      while (end < text.size() && (isLetter(text[end]) || isDigit(text[end]))) {
        ++end;
      }
      length = kind == TokenKind::Number ? numberLength(text, at) : end - at;
      columns = static_cast<int>(length);
    }
    if (std::string name(text.substr(at, length)); name.find_first_of(" \t\r") != 0) {
      std::string lower = lowerCase(name);
      // "8x1024", "8×1024": the sign between two sizes is no word.
      const bool isCross = !tokens.empty() && tokens.back().kind == TokenKind::Number &&
                           kind == TokenKind::Word && lower[0] == 'x' && lower.size() > 1 &&
                           isDigit(lower[1]);
      if (isCross) {
        length = 1;
        columns = 1;
        kind = TokenKind::Symbol;
        name = lower = "×";
      }
      tokens.push_back({kind,
                        kind == TokenKind::Word ? stem(lower) : lower,
                        name,
                        {line, column, column + columns}});
    }
    at += length;
    column += columns;
  }
  if (tokens.empty()) {
    return refuse(path, text, {}, "the text expects words, but is empty");
  }
  return tokens;
}

} // namespace nereid::words
