// SPDX-License-Identifier: Apache-2.0
#include "lib/words/Facts.h"

#include <algorithm>
#include <charconv>
#include <optional>

namespace nereid::words {
namespace {

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

/// "4", "1.5", "四".
std::optional<double> numberAt(const std::vector<Token> &tokens, size_t at) {
  if (tokens[at].kind == TokenKind::Number) {
    double value = 0;
    const std::string &text = tokens[at].text;
    auto [end, failed] = std::from_chars(text.data(), text.data() + text.size(), value);
    return failed == std::errc() ? std::optional(value) : std::nullopt;
  }
  const std::vector<std::string> digits = {"一", "二", "三", "四", "五", "六", "七", "八"};
  const auto found = std::find(digits.begin(), digits.end(), tokens[at].text);
  return found == digits.end() ? std::nullopt : std::optional<double>(found - digits.begin() + 1);
}

bool isSymbol(const std::vector<Token> &tokens, size_t at, std::string_view text) {
  return at < tokens.size() && tokens[at].text == text;
}

bool isCross(const std::vector<Token> &tokens, size_t at) {
  return isSymbol(tokens, at, "x") || isSymbol(tokens, at, "×") || isSymbol(tokens, at, "*");
}

/// Token behind the shape that begins at `at`, or `at`.
size_t readShape(const std::vector<Token> &tokens, size_t at, std::vector<int64_t> &sizes) {
  const bool isList = isSymbol(tokens, at, "[");
  size_t next = isList ? at + 1 : at;
  while (auto size = sizeAt(tokens, next)) {
    sizes.push_back(*size);
    ++next;
    if (isList ? isSymbol(tokens, next, ",") || isSymbol(tokens, next, "，")
               : isCross(tokens, next) && sizeAt(tokens, next + 1)) {
      ++next;
    } else {
      break;
    }
  }
  const bool isWhole = isList ? isSymbol(tokens, next, "]") && !sizes.empty() : sizes.size() > 1;
  return isWhole ? next + (isList ? 1 : 0) : at;
}

void readNumbers(const std::vector<Token> &tokens, const std::vector<Term> &terms, Facts &facts) {
  for (const Term &term : terms) {
    if (term.kind != TermKind::Fact) {
      continue;
    }
    if (term.idea == "precision") { // "accuracy of 1e-3": among the next words
      for (size_t i = term.last + 1; i < tokens.size() && i <= term.last + 4; ++i) {
        if (auto value = numberAt(tokens, i); value && *value > 0 && *value < 1) {
          facts.precisions.push_back({*value, tokens[i].range});
          break;
        }
      }
      continue;
    }
    const size_t back = term.first > 0 && isSymbol(tokens, term.first - 1, "-") ? 2 : 1;
    auto value = term.first >= back ? numberAt(tokens, term.first - back) : std::nullopt;
    if (value && *value > 0) {
      auto &list = term.idea == "times" ? facts.speedups : facts.ranks;
      list.push_back({*value, tokens[term.first - back].range});
    }
  }
}

} // namespace

Facts findFacts(const std::vector<Token> &tokens, const std::vector<Term> &terms) {
  Facts facts;
  for (size_t at = 0; at < tokens.size();) {
    std::vector<int64_t> sizes;
    const size_t end = readShape(tokens, at, sizes);
    if (end > at) {
      facts.shapes.push_back({std::move(sizes), tokens[at].range});
      at = end;
      continue;
    }
    if (tokens[at].kind == TokenKind::Word && isSymbol(tokens, at + 1, "=")) {
      if (auto size = sizeAt(tokens, at + 2)) {
        facts.sizes.push_back({tokens[at].name, *size, tokens[at].range});
      }
    }
    ++at;
  }
  for (const Term &term : terms) {
    const bool isNew = std::none_of(facts.types.begin(), facts.types.end(),
                                    [&](const Term &one) { return one.idea == term.idea; });
    if (term.kind == TermKind::Type && !term.isNegated && isNew) {
      facts.types.push_back(term);
    }
  }
  readNumbers(tokens, terms, facts);
  return facts;
}

} // namespace nereid::words
