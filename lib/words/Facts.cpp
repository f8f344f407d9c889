// SPDX-License-Identifier: Apache-2.0
#include "lib/words/Facts.h"

#include "lib/words/Shapes.h"

#include <algorithm>
#include <charconv>

namespace nereid::words {
namespace {

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

void readNumbers(const std::vector<Token> &tokens, const std::vector<Term> &terms, Facts &facts) {
  std::optional<SizeFact> batch;
  for (const Term &term : terms) {
    if (term.idea == "rows" && facts.shapes.empty()) { // "last dimension 768", "rows of 1024"
      if (const Token *size = sizeBehind(tokens, term)) {
        facts.lengths.push_back({term.text, *sizeAt({*size}, 0), size->range});
      }
      continue;
    }
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
    if (term.idea == "batch" || term.idea == "length") {
      if (const Token *size = sizeBehind(tokens, term)) {
        const SizeFact fact = {term.text, *sizeAt({*size}, 0), size->range};
        term.idea == "length" ? facts.lengths.push_back(fact) : void(batch = fact);
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
  if (batch && facts.shapes.empty() && facts.lengths.size() == 1) { // "batch 32, length 1024"
    facts.shapes.push_back({{batch->size, facts.lengths[0].size}, batch->range});
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

} // namespace

Facts findFacts(const std::vector<Token> &tokens, const std::vector<Term> &terms) {
  Facts facts;
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
      at = end;
      continue;
    }
    if (std::string written = noShape(tokens, at); !written.empty()) {
      facts.noShapes.push_back(std::move(written));
    }
    if (tokens[at].kind == TokenKind::Word && isSymbol(tokens, at + 1, "=")) {
      if (auto size = sizeAt(tokens, at + 2)) {
        facts.sizes.push_back({tokens[at].name, *size, tokens[at].range});
      }
    }
    ++at;
  }
  readTerms(tokens, terms, facts);
  readNumbers(tokens, terms, facts);
  resolveNames(facts);
  return facts;
}

} // namespace nereid::words
