// SPDX-License-Identifier: Apache-2.0
// Products of turned matrices, see Product.h: a grammar over tokens.
#include "lib/words/made/Product.h"

#include "lib/words/made/Made.h"

#include <fmt/format.h>

#include <algorithm>

namespace nereid::words {
namespace {

using Texts = std::initializer_list<std::string_view>;

/// Two names, each turned or not.
struct Factor {
  std::string name;
  bool isTurned = false;
};

class Reader {
public:
  explicit Reader(const std::vector<Token> &tokens) : tokens(tokens) {}

  std::optional<std::pair<Factor, Factor>> read() {
    skip({"comput", "calculat", "write", "the", "求", "计", "算"});
    const bool isNamed = isProductOf();
    auto first = factor();
    bool isBetween = first && (isNamed ? word({"and", "with"}) : isSign());
    bool isBehind = false; // "A与B的乘积"
    if (first && !isNamed && !isBetween) {
      isBehind = word({"和", "与", "跟", "同"});
      isBetween = isBehind || first->isTurned; // "A^T B"
    }
    const auto second = isBetween ? factor() : std::nullopt;
    // "A times B transposed" may be of the product.
    if (!second || isAt(at - 1, {"transpos"}) || (isBehind && !isProductBehind())) {
      return std::nullopt;
    }
    const bool isOther = first->name != second->name;
    const bool isTurned = first->isTurned || second->isTurned;
    return isOther && isTurned && isEnd() ? std::optional(std::pair(*first, *second))
                                          : std::nullopt;
  }

private:
  const std::vector<Token> &tokens;
  size_t at = 0;

  bool isAt(size_t place, Texts texts) const {
    return place < tokens.size() &&
           std::find(texts.begin(), texts.end(), tokens[place].text) != texts.end();
  }
  bool word(Texts texts) {
    at += isAt(at, texts) ? 1 : 0;
    return at > 0 && isAt(at - 1, texts);
  }
  bool all(Texts texts) {
    for (size_t i = 0; i < texts.size(); ++i) {
      if (!isAt(at + i, {texts.begin()[i]})) {
        return false;
      }
    }
    at += texts.size();
    return true;
  }
  void skip(Texts texts) {
    while (isAt(at, texts)) {
      ++at;
    }
  }

  /// "the matrix product of"
  bool isProductOf() {
    const size_t begin = at;
    skip({"the", "matrix"});
    if (all({"product", "of"})) {
      return true;
    }
    at = begin;
    return false;
  }
  bool isSign() {
    return word({"@", "*", "tim", "×", "乘"}) ? (skip({"以"}), true)
                                              : all({"multipli", "by"}) || all({"multiply", "by"});
  }
  bool isProductBehind() {
    skip({"的", "矩", "阵"});
    return all({"乘", "积"}) || all({"相", "乘"});
  }

  std::optional<Factor> factor() {
    Factor made;
    skip({"the", "matrix", "矩", "阵"});
    if (all({"transpos", "of"})) {
      made.isTurned = true;
      skip({"the", "matrix"});
    } else if (word({"transpos"})) {
      made.isTurned = true;
    }
    if (at >= tokens.size() || tokens[at].kind != TokenKind::Word || tokens[at].text.size() != 1) {
      return std::nullopt;
    }
    made.name = tokens[at++].text;
    const bool isMarked = all({"^", "t"}) || all({".", "t"}) || all({"'"}) ||
                          all({"的", "转", "置"}) || word({"transpos"});
    if (isMarked && made.isTurned) {
      return std::nullopt; // turned twice
    }
    made.isTurned |= isMarked;
    return made;
  }

  /// What is left says nothing of an operator: types, sizes, targets.
  bool isEnd() const {
    const std::vector<Token> rest(tokens.begin() + static_cast<std::ptrdiff_t>(at), tokens.end());
    static const std::vector<std::string_view> signs = {"+", "-", "*", "/", "@", "^"};
    for (size_t i = 0; i + 1 < rest.size(); ++i) { // "x @ w.T + bias" is more
      if (std::find(signs.begin(), signs.end(), rest[i].text) != signs.end() &&
          rest[i + 1].kind != TokenKind::Number) {
        return false;
      }
    }
    const auto terms = findTerms(rest);
    return std::all_of(terms.begin(), terms.end(), [](const Term &term) {
      return term.kind == TermKind::Type || term.kind == TermKind::Target ||
             term.kind == TermKind::Fact ||
             (term.kind == TermKind::Context && term.idea != "bias" && term.idea != "activation");
    });
  }
};

} // namespace

std::optional<Shipped> turnedProduct(const std::vector<Token> &tokens) {
  const auto factors = Reader(tokens).read();
  if (!factors) {
    return std::nullopt;
  }
  const auto &[a, b] = *factors;
  const auto shapeOf = [](const char *rows, const char *columns, bool isTurned) {
    return fmt::format("[\"{}\", \"{}\"]", isTurned ? columns : rows, isTurned ? rows : columns);
  };
  const auto textOf = [](const Factor &one) { return one.name + (one.isTurned ? ".T" : ""); };
  MadeParts parts;
  parts.isProduct = true;
  parts.body = fmt::format("out = {} @ {}\n", textOf(a), textOf(b));
  parts.name = fmt::format("matmul_{}", a.isTurned && b.isTurned ? "of_turned"
                                        : a.isTurned             ? "turned_first"
                                                                 : "turned_second");
  parts.summary = fmt::format("The matrix product of {} and {}.",
                              a.isTurned ? "the first matrix, transposed," : "the first matrix",
                              b.isTurned ? "the second, transposed" : "the second");
  parts.origin = fmt::format("the product {} @ {}", textOf(a), textOf(b));
  parts.functions = {"matmul"};
  parts.inputs = {{a.name, shapeOf("M", "K", a.isTurned), "the first matrix"},
                  {b.name, shapeOf("K", "N", b.isTurned), "the second matrix"}};
  return madeDefinition(parts);
}

} // namespace nereid::words
