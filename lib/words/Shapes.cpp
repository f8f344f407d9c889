// SPDX-License-Identifier: Apache-2.0
#include "lib/words/Shapes.h"

#include <algorithm>
#include <cctype>
#include <charconv>

namespace nereid::words {
namespace {

/// More are no shape.
constexpr size_t mostDims = 16;

using Texts = std::initializer_list<std::string_view>;
constexpr Texts openBrackets = {"[", "【", "［"}, closeBrackets = {"]", "】", "］"};

bool isAny(const std::vector<Token> &tokens, size_t at, Texts texts) {
  return std::any_of(texts.begin(), texts.end(),
                     [&](std::string_view text) { return isSymbol(tokens, at, text); });
}

bool isCapital(char letter) { return std::isupper(static_cast<unsigned char>(letter)) != 0; }

/// "D", "HIDDEN"; "seq_len" has parts. Between square brackets any word is a name.
bool isDimName(const Token &token, bool isBracket) {
  return token.kind == TokenKind::Word && (isBracket || isCapital(token.name.front()));
}

size_t readList(const std::vector<Token> &tokens, size_t at, std::vector<WrittenDim> &dims) {
  const bool isBracket = isAny(tokens, at, openBrackets);
  if (!isBracket && !isAny(tokens, at, {"(", "（"})) {
    return at;
  }
  for (size_t next = at + 1; next < tokens.size() && dims.size() < mostDims;) {
    if (auto size = sizeAt(tokens, next)) {
      dims.push_back({"", *size});
      ++next;
    } else if (isDimName(tokens[next], isBracket)) {
      dims.push_back({tokens[next].name, 0});
      while (isSymbol(tokens, next + 1, "_") && next + 2 < tokens.size()) {
        dims.back().name += "_" + tokens[next + 2].name;
        next += 2;
      }
      ++next;
    } else {
      break;
    }
    const bool isNext = isAny(tokens, next, {",", "，", "、", "x", "×", "*"});
    next += isNext ? 1 : 0;
    if (isAny(tokens, next, {"]", ")", "】", "）", "］"})) {
      return isBracket || dims.size() > 1 || isNext ? next + 1 : at;
    }
    if (!isNext) {
      break;
    }
  }
  return at;
}

size_t readProduct(const std::vector<Token> &tokens, size_t at, std::vector<WrittenDim> &dims) {
  size_t next = at;
  while (auto size = sizeAt(tokens, next)) {
    dims.push_back({"", *size});
    ++next;
    if (!isAny(tokens, next, {"x", "×", "*", "by", "乘"}) || !sizeAt(tokens, next + 1)) {
      break;
    }
    ++next;
  }
  return dims.size() > 1 && dims.size() <= mostDims ? next : at;
}

/// "B × S × H", "N x C x 4 x 4": three at least, as two are a product of matrices.
size_t readNames(const std::vector<Token> &tokens, size_t at, std::vector<WrittenDim> &dims) {
  size_t next = at;
  bool isNamed = false;
  while (next < tokens.size() && dims.size() < mostDims) {
    const auto size = sizeAt(tokens, next);
    if (!size && !isDimName(tokens[next], false)) {
      break;
    }
    isNamed |= !size;
    dims.push_back({size ? "" : tokens[next].name, size.value_or(0)});
    ++next;
    if (!isAny(tokens, next, {"x", "×"})) {
      break;
    }
    ++next;
  }
  const bool isWhole = dims.size() > 2 && next > at && !isAny(tokens, next - 1, {"x", "×"});
  return isNamed && isWhole ? next : at;
}

/// "BxCxHxW": capital letters with an "x" between.
size_t readLetters(const Token &token, size_t at, std::vector<WrittenDim> &dims) {
  const std::string &name = token.name;
  if (token.kind != TokenKind::Word || name.size() < 3 || name.size() % 2 == 0) {
    return at;
  }
  for (size_t i = 0; i < name.size(); ++i) {
    if (i % 2 == 1 ? name[i] != 'x' : !isCapital(name[i])) {
      return at;
    }
    if (i % 2 == 0) {
      dims.push_back({std::string(1, name[i]), 0});
    }
  }
  return dims.size() <= mostDims ? at + 1 : at;
}

/// "32 rows of 1024", "32行1024列".
size_t readRows(const std::vector<Token> &tokens, size_t at, std::vector<WrittenDim> &dims) {
  const auto rows = sizeAt(tokens, at);
  if (!rows || !isAny(tokens, at + 1, {"row", "行"})) {
    return at;
  }
  size_t next = at + 2;
  while (isAny(tokens, next, {"of", "with", "and", "length", "，", ","})) {
    ++next;
  }
  const auto length = sizeAt(tokens, next);
  if (!length) {
    return at;
  }
  dims = {{"", *rows}, {"", *length}};
  return next + 1;
}

} // namespace

std::optional<int64_t> sizeAt(const std::vector<Token> &tokens, size_t at) {
  if (at >= tokens.size() || tokens[at].kind != TokenKind::Number) {
    return std::nullopt;
  }
  const std::string &text = tokens[at].text;
  int64_t size = 0;
  auto [end, failed] = std::from_chars(text.data(), text.data() + text.size(), size);
  return failed == std::errc() && end == text.data() + text.size() ? std::optional(size)
                                                                   : std::nullopt;
}

bool isSymbol(const std::vector<Token> &tokens, size_t at, std::string_view text) {
  return at < tokens.size() && tokens[at].text == text;
}

bool hasAround(const std::vector<Token> &tokens, size_t first, size_t last,
               const std::set<std::string> &words, const std::function<bool(size_t)> &isEnd) {
  size_t begin = first, end = last + 1;
  while (begin > 0 && !isEnd(begin - 1)) {
    --begin;
  }
  while (end < tokens.size() && !isEnd(end)) {
    ++end;
  }
  return std::any_of(tokens.begin() + static_cast<std::ptrdiff_t>(begin),
                     tokens.begin() + static_cast<std::ptrdiff_t>(end),
                     [&](const Token &token) { return words.contains(token.text); });
}

size_t readShape(const std::vector<Token> &tokens, size_t at, std::vector<WrittenDim> &dims) {
  for (auto *read : {readList, readNames, readProduct, readRows}) {
    dims.clear();
    if (const size_t end = read(tokens, at, dims); end > at) {
      return end;
    }
  }
  dims.clear();
  return readLetters(tokens[at], at, dims);
}

std::string noShape(const std::vector<Token> &tokens, size_t at) {
  const size_t first = at + (isSymbol(tokens, at + 1, "-") ? 2 : 1);
  if (!isAny(tokens, at, openBrackets) || first >= tokens.size() ||
      tokens[first].kind != TokenKind::Number) {
    return "";
  }
  std::string written = "[";
  for (size_t next = at + 1; next < tokens.size() && next < at + 4 * mostDims; ++next) {
    if (isAny(tokens, next, closeBrackets)) {
      return written + "]";
    }
    const bool isComma = isAny(tokens, next, {",", "，", "、"});
    written += isComma ? ", " : tokens[next].text;
  }
  return "";
}

} // namespace nereid::words
