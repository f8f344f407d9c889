// SPDX-License-Identifier: Apache-2.0
#include "lib/words/numbers/LooseNumbers.h"

#include "lib/words/Shapes.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <set>

namespace nereid::words {
namespace {

/// The first of its line, but for marks of headings, lists and tables.
bool isLineStart(const std::vector<Token> &tokens, size_t at) {
  const int line = tokens[at].range.line;
  static const std::set<std::string> marks = {"#", "*", "-", ">", "|", "(", "（"};
  while (at > 0 && tokens[at - 1].range.line == line && marks.contains(tokens[at - 1].text)) {
    --at;
  }
  return at == 0 || tokens[at - 1].range.line != line;
}

} // namespace

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

std::optional<double> factorAt(const std::vector<Token> &tokens, size_t at) {
  static const std::vector<std::string> words = {"two",   "three", "four", "five", "six",
                                                 "seven", "eight", "nine", "ten"};
  const auto word = std::find(words.begin(), words.end(), tokens[at].name);
  return word == words.end() ? numberAt(tokens, at) : std::optional(2.0 + (word - words.begin()));
}

bool isFactorAt(const std::vector<Token> &tokens, size_t at) {
  const size_t next = isSymbol(tokens, at + 1, "-") ? at + 2 : at + 1;
  static const std::set<std::string> behindTimes = {"along", "as",  "in",   "over",   "per",
                                                    "and",   "for", "with", "bigger", "larger"};
  const bool isTimes =
      isSymbol(tokens, next, stem("times")) &&
      (next + 1 >= tokens.size() || // "3 times the input" is a product
       tokens[next + 1].kind == TokenKind::Symbol || behindTimes.contains(tokens[next + 1].name));
  if (isTimes || isSymbol(tokens, next, "x") || isSymbol(tokens, next, "fold") ||
      isSymbol(tokens, next, "倍")) {
    return true;
  }
  size_t front = at;
  while (front > 0 && (isSymbol(tokens, front - 1, "of") || isSymbol(tokens, front - 1, "=") ||
                       isSymbol(tokens, front - 1, "为") || isSymbol(tokens, front - 1, "是"))) {
    --front;
  }
  const bool isNamed =
      front > 0 && (isSymbol(tokens, front - 1, "factor") || isSymbol(tokens, front - 1, "数") ||
                    isSymbol(tokens, front - 1, "子"));
  const bool isBy =
      at > 1 && isSymbol(tokens, at - 1, "by") && tokens[at - 2].kind != TokenKind::Number;
  return isNamed || isBy;
}

bool isPercent(const std::vector<Token> &tokens, size_t at) {
  return isSymbol(tokens, at + 1, "%") || isSymbol(tokens, at + 1, "％") ||
         isSymbol(tokens, at + 1, "percent");
}

bool isOfPeak(const std::vector<Token> &tokens, size_t at) {
  static const std::set<std::string> words = {stem("bandwidth"),
                                              stem("peak"),
                                              stem("roofline"),
                                              stem("utilisation"),
                                              stem("utilization"),
                                              "带",
                                              "峰",
                                              "利"};
  const auto isEnd = [&](size_t i) {
    return tokens[i].range.line != tokens[at].range.line || isSymbol(tokens, i, ";") ||
           isSymbol(tokens, i, "；") || isSymbol(tokens, i, "。");
  };
  return hasAround(tokens, at, at, words, isEnd);
}

bool isListed(const std::vector<Token> &tokens, size_t at) {
  const bool isBeforeMark = isSymbol(tokens, at + 1, ".") || isSymbol(tokens, at + 1, ")") ||
                            isSymbol(tokens, at + 1, "、") || isSymbol(tokens, at + 1, "）");
  const bool isOfHeading = at > 0 && isSymbol(tokens, at - 1, "#"); // "## 1 Overview"
  return isLineStart(tokens, at) && (isBeforeMark || isOfHeading);
}

LooseNumber looseAt(const std::vector<Token> &tokens, size_t at) {
  static const std::vector<std::string> between = {"of", "to", "is", "at", "by",
                                                   "=",  ":",  "为", "是"};
  LooseNumber number;
  number.value = *factorAt(tokens, at);
  number.text = tokens[at].kind == TokenKind::Number
                    ? tokens[at].text
                    : std::to_string(static_cast<int>(number.value));
  number.range = tokens[at].range;
  const bool hasSign = at > 0 && isSymbol(tokens, at - 1, "-") &&
                       isAt(tokens[at - 1].range, {number.range.line, number.range.column - 1, 0});
  const bool isJoined = hasSign && at > 1 && tokens[at - 2].kind != TokenKind::Symbol &&
                        tokens[at - 2].range.line == number.range.line &&
                        tokens[at - 2].range.endColumn == tokens[at - 1].range.column;
  if (hasSign && !isJoined) {
    number.value = -number.value;
    number.text.insert(0, "-");
  }
  size_t front = at - (hasSign ? 1 : 0);
  while (front > 0 &&
         std::find(between.begin(), between.end(), tokens[front - 1].text) != between.end()) {
    --front;
  }
  const Token *before = front > 0 ? &tokens[front - 1] : nullptr;
  if (before && before->kind != TokenKind::Number && before->kind != TokenKind::Symbol) {
    number.before = before->text == "epsilon" ? "eps" : before->text;
  }
  const bool isSize = number.before == stem("size") || number.before == "小";
  if (isSize && front > 1) { // "kernel size 3", 核大小3: of what
    const size_t of = front - (isSymbol(tokens, front - 2, "_") || number.before == "小" ? 3 : 2);
    const bool isWindow =
        of < front && (isSymbol(tokens, of, "kernel") || isSymbol(tokens, of, "window") ||
                       isSymbol(tokens, of, "filter") || isSymbol(tokens, of, "核") ||
                       isSymbol(tokens, of, "口"));
    number.before = isWindow ? "kernel" : number.before;
  }
  const bool isDirect = front == at - (hasSign ? 1 : 0);
  const bool isName = before && isDirect && before->kind == TokenKind::Word &&
                      before->name.front() >= 'A' && before->name.front() <= 'Z' &&
                      before->range.line == number.range.line;
  if (isPercent(tokens, at)) { // "dropout of 10 %"
    number.value /= 100;
    number.text = fmt::format("{}", number.value);
  }
  number.isOfName = isName || isJoined || isListed(tokens, at);
  number.isFactor = !number.isOfName && isFactorAt(tokens, at);
  static const std::vector<std::string> countable = {"group", "head", "expert", "channel",
                                                     "组",    "头",   "专",     "通"};
  const auto isCounted = [&](const std::string &word) {
    return std::find(countable.begin(), countable.end(), word) != countable.end();
  };
  const size_t next = at + 1 + (at + 1 < tokens.size() && tokens[at + 1].text == "个" ? 1 : 0);
  const std::string behind = next < tokens.size() ? tokens[next].text : "";
  if (number.before == "数" && front > 1 && isCounted(tokens[front - 2].text)) { // 组数 32
    number.before = tokens[front - 2].text;
  }
  const bool isSizeOf = number.before == "siz" || number.before == "size"; // "group size 128"
  number.counted = isCounted(behind)          ? behind
                   : isCounted(number.before) ? number.before
                   : isSizeOf && front > 1 && isCounted(tokens[front - 2].text)
                       ? tokens[front - 2].text
                       : "";
  return number;
}

std::string unitBehind(const std::vector<Token> &tokens, size_t at,
                       const std::vector<Term> &terms) {
  if (isSymbol(tokens, at + 1, "个") && isSymbol(tokens, at + 2, "桶")) {
    return "桶";
  }
  const size_t next = at + (isSymbol(tokens, at + 1, "-") ? 2 : 1);
  const bool isNear = next < tokens.size() && tokens[next].kind == TokenKind::Word &&
                      tokens[next].range.line == tokens[at].range.line;
  const auto isUnit = [&](const Term &term) {
    return term.first == next && (term.kind == TermKind::Word || term.kind == TermKind::Unknown);
  };
  return isNear && std::any_of(terms.begin(), terms.end(), isUnit) ? tokens[next].text : "";
}

} // namespace nereid::words
