// SPDX-License-Identifier: Apache-2.0
#include "lib/words/Facts.h"

#include "lib/words/Shapes.h"

#include <algorithm>
#include <charconv>
#include <set>

namespace nereid::words {
namespace {

/// "dim 4" is one of the first dimensions, "dim 2048" a length.
constexpr int64_t mostRank = 16;

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

/// First size behind a term, over "of", "=", ":" and the like.
const Token *sizeBehind(const std::vector<Token> &tokens, const Term &term) {
  for (size_t i = term.last + 1; i < tokens.size() && i <= term.last + 3; ++i) {
    if (sizeAt(tokens, i)) {
      return &tokens[i];
    }
    if (tokens[i].kind == TokenKind::Symbol && tokens[i].text != "=" && tokens[i].text != ":" &&
        tokens[i].text != "：") {
      return nullptr;
    }
  }
  return nullptr;
}

/// "1.5x faster", "提速3倍"; and any other factor, unless something grows by it.
bool isOfSpeed(const std::vector<Token> &tokens, const Term &times,
               const std::vector<Term> &terms) {
  static const std::set<std::string> growing = {
      "interpolate", "pixel_shuffle", "pixel_unshuffle", "repeat", "tile", "repeat_interleave"};
  const bool isBy = times.first > 1 && isSymbol(tokens, times.first - 2, "by");
  if (times.text.find("fast") != std::string::npos || times.text == "speedup" ||
      (!isBy && std::none_of(terms.begin(), terms.end(),
                             [](const Term &term) { return growing.contains(term.idea); }))) {
    return true;
  }
  static const std::set<std::string> words = {"fast", "faster",  "speed", "speedup",
                                              "速",   "quicker", "快"};
  const auto isEnd = [&](size_t i) { // of the clause
    return isSymbol(tokens, i, ",") || isSymbol(tokens, i, "，") || isSymbol(tokens, i, "。") ||
           isSymbol(tokens, i, ";") || isSymbol(tokens, i, "；");
  };
  size_t begin = times.first, end = times.last + 1;
  while (begin > 0 && !isEnd(begin - 1)) {
    --begin;
  }
  while (end < tokens.size() && !isEnd(end)) {
    ++end;
  }
  return std::any_of(tokens.begin() + static_cast<std::ptrdiff_t>(begin),
                     tokens.begin() + static_cast<std::ptrdiff_t>(end),
                     [](const Token &token) { return words.contains(token.text); });
}

void readNumbers(const std::vector<Token> &tokens, const std::vector<Term> &terms,
                 const std::vector<bool> &isOfShape, Facts &facts,
                 std::vector<SourceRange> &joined) {
  std::optional<SizeFact> batch;
  for (const Term &term : terms) {
    if (term.idea == "rows" && facts.shapes.empty()) { // "last dimension 768", "rows of 1024"
      if (const Token *size = sizeBehind(tokens, term)) {
        facts.lengths.push_back({term.text, *sizeAt({*size}, 0), size->range});
      }
      continue;
    }
    if (term.kind != TermKind::Fact || term.idea == "factor") {
      continue; // a factor is the operator's own affair
    }
    if (term.idea == "precision") { // "1e-3 tolerance", "accuracy of 1e-3": among the next words
      const auto small = [&](size_t i) {
        const auto value = numberAt(tokens, i);
        return value && *value > 0 && *value < 1;
      };
      if (term.first > 0 && small(term.first - 1)) {
        facts.precisions.push_back(
            {*numberAt(tokens, term.first - 1), tokens[term.first - 1].range});
        continue;
      }
      for (size_t i = term.last + 1; i < tokens.size() && i <= term.last + 4; ++i) {
        if (auto value = numberAt(tokens, i); value && *value > 0 && *value < 1) {
          facts.precisions.push_back({*value, tokens[i].range});
          break;
        }
      }
      continue;
    }
    if (term.idea == "batch" || term.idea == "length") {
      if (const Token *size = sizeBehind(tokens, term)) {
        const SizeFact fact = {term.text, *sizeAt({*size}, 0), size->range};
        term.idea == "length" ? facts.lengths.push_back(fact) : void(batch = fact);
      }
      continue;
    }
    const size_t back = term.first > 0 && isSymbol(tokens, term.first - 1, "-") ? 2 : 1;
    const bool isFree = term.first >= back && !isOfShape[term.first - back]; // not "8 x 1024"
    auto value = isFree ? numberAt(tokens, term.first - back) : std::nullopt;
    if (const Token *size = sizeBehind(tokens, term);
        term.idea == "dimensions" && !value && size && *sizeAt({*size}, 0) > mostRank) {
      facts.lengths.push_back({term.text, *sizeAt({*size}, 0), size->range}); // "dim 2048"
      continue;
    }
    if (value && *value > 0 && term.idea == "times" && !isOfSpeed(tokens, term, terms)) {
      continue; // a factor of the operator: "upsampling 4x"
    }
    if (value && *value > 0) {
      auto &list = term.idea == "times" ? facts.speedups : facts.ranks;
      list.push_back({*value, tokens[term.first - back].range});
    }
  }
  if (batch && facts.shapes.empty() && facts.lengths.size() == 1) { // "batch 32, length 1024"
    facts.shapes.push_back({{batch->size, facts.lengths[0].size}, batch->range});
    joined.push_back(facts.lengths[0].range);
    facts.lengths.clear();
  } else if (batch && facts.shapes.empty()) {
    facts.sizes.push_back(*batch);
  }
}

void readTerms(const std::vector<Token> &tokens, const std::vector<Term> &terms, Facts &facts) {
  for (const Term &term : terms) {
    const auto addNew = [&](std::vector<Term> &list) {
      if (std::none_of(list.begin(), list.end(),
                       [&](const Term &one) { return one.idea == term.idea; })) {
        list.push_back(term);
      }
    };
    if (term.kind == TermKind::Target && !term.isNegated) {
      addNew(facts.targets);
    }
    if (term.kind == TermKind::Type && !term.isNegated) {
      const size_t back = term.first > 0 && isSymbol(tokens, term.first - 1, "_") ? 2 : 1;
      const bool isCast = term.first >= back && (isSymbol(tokens, term.first - back, "to") ||
                                                 isSymbol(tokens, term.first - back, "into") ||
                                                 isSymbol(tokens, term.first - back, "到") ||
                                                 isSymbol(tokens, term.first - back, "成") ||
                                                 isSymbol(tokens, term.first - back, "为"));
      const std::string behind = term.last + 1 < tokens.size() ? tokens[term.last + 1].text : "";
      if (behind == stem("index") || behind == stem("indices") || behind == "索") {
        continue; // "int64 indices": of one input
      }
      addNew(isCast ? facts.castTypes : facts.types);
    }
    if (term.idea == "channels_first" || term.idea == "channels_last") {
      if (term.text.size() == 4) { // "NCHW"
        facts.ranks.push_back({4, term.range});
      }
    }
  }
}

/// A shape of names becomes one of sizes when the text has them all: "[B, D], B = 8, D = 512".
void resolveNames(Facts &facts) {
  std::erase_if(facts.namedShapes, [&](const NamedShapeFact &shape) {
    ShapeFact sized{{}, shape.range};
    for (const std::string &name : shape.names) {
      const auto size = std::find_if(facts.sizes.begin(), facts.sizes.end(),
                                     [&](const SizeFact &one) { return one.name == name; });
      int64_t number = 0;
      const auto [end, failed] = std::from_chars(name.data(), name.data() + name.size(), number);
      if (size == facts.sizes.end() &&
          (failed != std::errc() || end != name.data() + name.size())) {
        facts.ranks.push_back({static_cast<double>(shape.names.size()), shape.range});
        return false;
      }
      sized.sizes.push_back(size == facts.sizes.end() ? number : size->size);
    }
    facts.shapes.push_back(std::move(sized));
    return true;
  });
}

/// "three tensors", "4 matrices", "三个张量" at a token.
std::optional<int64_t> tensorsAt(const std::vector<Token> &tokens, size_t at) {
  static const std::vector<std::string> words = {"", "one", "two", "three", "four", "five", "six"};
  const auto word = std::find(words.begin() + 1, words.end(), tokens[at].name);
  const auto number =
      word == words.end() ? numberAt(tokens, at) : std::optional<double>(word - words.begin());
  if (!number || *number < 3 || *number > 6) {
    return std::nullopt;
  }
  const size_t next = at + (isSymbol(tokens, at + 1, "个") ? 2 : 1);
  static const std::vector<std::string> things = {"tensor", "matric", "matrice", "vector", "array"};
  const bool isHan =
      isSymbol(tokens, next, "张") || isSymbol(tokens, next, "矩") || isSymbol(tokens, next, "向");
  const bool isThing =
      isHan || (next < tokens.size() &&
                std::find(things.begin(), things.end(), tokens[next].text) != things.end());
  return isThing ? std::optional(static_cast<int64_t>(*number)) : std::nullopt;
}

/// A number, also one that is a word.
std::optional<double> factorAt(const std::vector<Token> &tokens, size_t at) {
  static const std::vector<std::string> words = {"two",   "three", "four", "five", "six",
                                                 "seven", "eight", "nine", "ten"};
  const auto word = std::find(words.begin(), words.end(), tokens[at].name);
  return word == words.end() ? numberAt(tokens, at) : std::optional(2.0 + (word - words.begin()));
}

/// "by a factor of 3", "factor 3", "by 3", "3 times", "3x", "3-fold", "3倍", "倍数为3".
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

/// The tokens of a number, from the sign on, as it stands.
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
  const bool isDirect = front == at - (hasSign ? 1 : 0);
  const bool isName = before && isDirect && before->kind == TokenKind::Word &&
                      before->name.front() >= 'A' && before->name.front() <= 'Z' &&
                      before->range.line == number.range.line;
  const bool isLineStart = at == 0 || tokens[at - 1].range.line != number.range.line;
  const bool isListed =
      isLineStart && (isSymbol(tokens, at + 1, ".") || isSymbol(tokens, at + 1, ")"));
  number.isOfName = isName || isJoined || isListed;
  number.isFactor = !number.isOfName && isFactorAt(tokens, at);
  static const std::vector<std::string> countable = {"group", "head", "expert", "channel",
                                                     "组",    "头",   "专",     "通"};
  const auto isCounted = [&](const std::string &word) {
    return std::find(countable.begin(), countable.end(), word) != countable.end();
  };
  const size_t next = at + 1 + (at + 1 < tokens.size() && tokens[at + 1].text == "个" ? 1 : 0);
  const std::string behind = next < tokens.size() ? tokens[next].text : "";
  const bool isSizeOf = number.before == "siz" || number.before == "size"; // "group size 128"
  number.counted = isCounted(behind)          ? behind
                   : isCounted(number.before) ? number.before
                   : isSizeOf && front > 1 && isCounted(tokens[front - 2].text)
                       ? tokens[front - 2].text
                       : "";
  return number;
}

/// Whether one of the facts, or a term, is made of the token.
bool isTaken(const Token &token, size_t at, const std::vector<Term> &terms, const Facts &facts) {
  const auto anyOf = [&](const auto &list) {
    return std::any_of(list.begin(), list.end(),
                       [&](const auto &one) { return isAt(one.range, token.range); });
  };
  return anyOf(facts.sizes) || anyOf(facts.lengths) || anyOf(facts.ranks) ||
         anyOf(facts.speedups) || anyOf(facts.precisions) || anyOf(facts.shapes) ||
         std::any_of(terms.begin(), terms.end(),
                     [&](const Term &term) { return term.first <= at && at <= term.last; });
}

} // namespace

Facts findFacts(const std::vector<Token> &tokens, const std::vector<Term> &terms) {
  Facts facts;
  std::vector<bool> isOfShape(tokens.size(), false);
  for (size_t at = 0; at < tokens.size();) {
    std::vector<WrittenDim> dims;
    const size_t end = readShape(tokens, at, dims);
    if (end > at) {
      const bool isSized = std::all_of(dims.begin(), dims.end(),
                                       [](const WrittenDim &dim) { return dim.name.empty(); });
      ShapeFact sized{{}, tokens[at].range};
      NamedShapeFact named{{}, tokens[at].range};
      for (const WrittenDim &dim : dims) {
        sized.sizes.push_back(dim.size);
        named.names.push_back(dim.name.empty() ? std::to_string(dim.size) : dim.name);
      }
      isSized ? facts.shapes.push_back(std::move(sized))
              : facts.namedShapes.push_back(std::move(named));
      std::fill(isOfShape.begin() + static_cast<std::ptrdiff_t>(at),
                isOfShape.begin() + static_cast<std::ptrdiff_t>(end), true);
      at = end;
      continue;
    }
    if (std::string written = noShape(tokens, at); !written.empty()) {
      facts.noShapes.push_back(std::move(written));
      for (size_t i = at; i < tokens.size() && !isSymbol(tokens, i, "]"); ++i) {
        isOfShape[i] = true;
      }
    }
    const bool isCount = tokens[at].name == "k"; // "top-k, k = 5" is a number of the call
    if (tokens[at].kind == TokenKind::Word && isSymbol(tokens, at + 1, "=") && !isCount) {
      if (auto size = sizeAt(tokens, at + 2)) {
        facts.sizes.push_back({tokens[at].name, *size, tokens[at].range});
        isOfShape[at + 2] = true;
      }
    }
    ++at;
  }
  readTerms(tokens, terms, facts);
  std::vector<SourceRange> joined; // numbers that are sizes of a shape
  readNumbers(tokens, terms, isOfShape, facts, joined);
  for (size_t at = 0; at < tokens.size(); ++at) {
    if (const auto count = tensorsAt(tokens, at)) {
      facts.tensors = count;
      continue;
    }
    const bool isNumber = tokens[at].kind == TokenKind::Number
                              ? numberAt(tokens, at).has_value()
                              : factorAt(tokens, at) && isFactorAt(tokens, at);
    if (isNumber && !isOfShape[at] && !isTaken(tokens[at], at, terms, facts) &&
        std::none_of(joined.begin(), joined.end(),
                     [&](const SourceRange &one) { return isAt(one, tokens[at].range); })) {
      facts.loose.push_back(looseAt(tokens, at));
    }
  }
  facts.gradients = findGradients(tokens, terms);
  facts.isDocument = !tokens.empty() && tokens.front().range.line != tokens.back().range.line;
  resolveNames(facts);
  return facts;
}

} // namespace nereid::words
