// SPDX-License-Identifier: Apache-2.0
#include "lib/words/numbers/Axes.h"

#include "lib/words/Facts.h"
#include "lib/words/Shapes.h"
#include "lib/words/Shipped.h"

#include <algorithm>
#include <set>

namespace nereid::words {
namespace {

/// "dim 4" is one of the first dimensions, "dim 2048" a length.
constexpr int64_t mostRank = 16;

using Texts = std::initializer_list<std::string_view>;

bool isWord(const std::vector<Token> &tokens, size_t at, Texts texts) {
  return at < tokens.size() &&
         std::find(texts.begin(), texts.end(), lowerCase(tokens[at].name)) != texts.end();
}

bool isDimension(const std::vector<Token> &tokens, size_t at) {
  return isWord(tokens, at, {"dim", "dims", "dimension", "dimensions", "axis", "axes"});
}

/// "two", "2", "两": 0 of anything else.
int64_t countAt(const std::vector<Token> &tokens, size_t at) {
  if (const auto size = sizeAt(tokens, at)) {
    return *size < mostRank ? *size : 0;
  }
  static const std::vector<std::vector<std::string_view>> words = {
      {"one", "一"}, {"two", "both", "两", "二"}, {"three", "三"}};
  const std::string word = at < tokens.size() ? lowerCase(tokens[at].name) : "";
  for (size_t i = 0; i < words.size(); ++i) {
    if (std::find(words[i].begin(), words[i].end(), word) != words[i].end()) {
      return static_cast<int64_t>(i) + 1;
    }
  }
  return 0;
}

std::vector<int64_t> lastOnes(int64_t count) {
  std::vector<int64_t> dims;
  for (int64_t dim = -count; dim < 0; ++dim) {
    dims.push_back(dim);
  }
  return dims;
}

/// "the last two dimensions", whose noun is at `at`.
std::optional<AxesFact> readLast(const std::vector<Token> &tokens, size_t at) {
  const auto isLast = [&](size_t place) {
    return isWord(tokens, place, {"last", "trailing", "innermost", "final"});
  };
  if (at > 0 && isLast(at - 1)) {
    return AxesFact{{-1}, at - 1, at, tokens[at - 1].range};
  }
  const int64_t count = at > 1 && isLast(at - 2) ? countAt(tokens, at - 1) : 0;
  return count > 0 ? std::optional(AxesFact{lastOnes(count), at - 2, at, tokens[at - 2].range})
                   : std::nullopt;
}

/// "最后一维", "最后两个维度", "第0维", "第1维", "第二维", whose 维 is at `at`.
std::optional<AxesFact> readHan(const std::vector<Token> &tokens, size_t at) {
  const size_t count = at > 0 && isWord(tokens, at - 1, {"个"}) ? at - 2 : at - 1;
  if (at < 2 || count == 0 || count > at) {
    return std::nullopt;
  }
  const int64_t number = countAt(tokens, count);
  if (isWord(tokens, count - 1, {"后"}) && number > 0) {
    return AxesFact{lastOnes(number), count - 1, at, tokens[count - 1].range};
  }
  if (isWord(tokens, count - 1, {"第"})) {
    const auto digit = sizeAt(tokens, count);
    const int64_t dim = digit ? (*digit == 0 ? 0 : untoldDim) : number - 1;
    return dim < 0 ? std::nullopt
                   : std::optional(AxesFact{{dim}, count - 1, at, tokens[count - 1].range});
  }
  return std::nullopt;
}

/// "dim=-1", "dimensions 1 and 2", "axes (1, 2)", whose noun is at `at`.
std::optional<AxesFact> readNumbers(const std::vector<Token> &tokens, size_t at) {
  if (at > 0 && isWord(tokens, at - 1, {"_", "head", "hidden", "feature", "model", "embedding"})) {
    return std::nullopt; // their size
  }
  AxesFact fact{{}, at, at, tokens[at].range};
  size_t next = at + 1;
  while (isWord(tokens, next, {"=", ":", "number", "no", "("}) || isSymbol(tokens, next, "[")) {
    ++next;
  }
  for (;; ++next) {
    const size_t place = isSymbol(tokens, next, "-") ? next + 1 : next;
    const auto size = sizeAt(tokens, place);
    if (!size || *size >= mostRank || isWord(tokens, place + 1, {"x", "×", "*", "by"})) {
      break;
    }
    fact.dims.push_back(place > next ? -*size : *size);
    fact.last = place;
    next = place + 1;
    if (!isWord(tokens, next, {",", "and", "&", "，", "、", "和", "与"})) {
      break;
    }
  }
  if (fact.dims.empty()) {
    return std::nullopt;
  }
  if (isWord(tokens, fact.last + 1, {")", "]"})) {
    ++fact.last;
  }
  return fact;
}

/// "the whole tensor", "all elements", "everything", 所有元素.
std::optional<AxesFact> readAll(const std::vector<Token> &tokens, size_t at) {
  const bool isWhole =
      isWord(tokens, at, {"everything"}) ||
      (isWord(tokens, at, {"whole", "entire"}) &&
       isWord(tokens, at + 1, {"tensor", "matrix", "array", "input"})) ||
      (isWord(tokens, at, {"all"}) && (isWord(tokens, at + 1, {"elements", "values", "entries"}) ||
                                       isDimension(tokens, at + 1))) ||
      (isWord(tokens, at, {"整"}) && isWord(tokens, at + 1, {"个"}) &&
       isWord(tokens, at + 2, {"张", "矩", "数"})) ||
      (isWord(tokens, at, {"所", "全"}) && isWord(tokens, at + 1, {"有", "部"}) &&
       isWord(tokens, at + 2, {"元", "维"}));
  return isWhole ? std::optional(AxesFact{{allDims}, at, at, tokens[at].range}) : std::nullopt;
}

/// Reads of bodies: what a call is along. Those that only turn or stretch a tensor are none.
bool isAlong(const BodyArgument &argument) {
  static const std::set<std::string> views = {"unsqueeze", "squeeze", "unflatten",
                                              "flatten",   "permute", "expand"};
  return (argument.name == "dim" || argument.name == "dims" || argument.name == "axis") &&
         !argument.values.empty() && !views.contains(argument.function);
}

} // namespace

std::optional<AxesFact> findAxes(const std::vector<Token> &tokens) {
  for (size_t at = 0; at < tokens.size(); ++at) {
    std::optional<AxesFact> fact;
    if (isDimension(tokens, at)) {
      fact = readLast(tokens, at);
      fact = fact ? fact : readNumbers(tokens, at);
    } else if (isSymbol(tokens, at, "维")) {
      fact = readHan(tokens, at);
    } else {
      fact = readAll(tokens, at);
    }
    if (fact) {
      std::sort(fact->dims.begin(), fact->dims.end());
      return fact;
    }
  }
  return std::nullopt;
}

bool hasAxesOf(const Shipped &shipped, const Facts &facts) {
  if (!facts.axes) {
    return true;
  }
  const auto tensor = std::find_if(shipped.op.parameters.begin(), shipped.op.parameters.end(),
                                   [](const auto &parameter) { return !parameter.isScalar; });
  const bool isClosed = tensor != shipped.op.parameters.end() && !tensor->shape.empty() &&
                        !tensor->shape.front().isRest();
  if (isClosed && !facts.shapes.empty() &&
      facts.shapes.front().sizes.size() != tensor->shape.size()) {
    return false; // its dimensions are others
  }
  const auto rank =
      static_cast<int64_t>(isClosed                ? tensor->shape.size()
                           : !facts.shapes.empty() ? facts.shapes.front().sizes.size()
                           : !facts.ranks.empty()  ? static_cast<size_t>(facts.ranks.front().value)
                                                   : 0);
  const auto fromEnd = [&](std::vector<int64_t> dims) {
    for (int64_t &dim : dims) {
      dim = dim >= 0 && rank > 0 && dim < allDims ? dim - rank : dim;
    }
    std::sort(dims.begin(), dims.end());
    return dims;
  };
  const std::vector<int64_t> said = fromEnd(facts.axes->dims);
  bool isAnywhere = false;
  for (const BodyArgument &argument : shipped.arguments) {
    std::vector<int64_t> dims;
    if (isAlong(argument)) {
      dims.assign(argument.values.begin(), argument.values.end());
    } else if (argument.name == "normalized_shape") {
      dims = lastOnes(static_cast<int64_t>(argument.members));
    } else {
      continue;
    }
    isAnywhere = true;
    if (fromEnd(dims) == said) {
      return true;
    }
  }
  // Of the largest of all elements none is the larger one of two tensors.
  const bool isAll = said == std::vector<int64_t>{allDims} && shipped.structure.contains("rows") &&
                     (shipped.structure.at("rows") || !shipped.structure.at("two_tensors"));
  return !isAnywhere &&
         (isAll || said == std::vector<int64_t>{-1}); // as functions are that take no "dim"
}

} // namespace nereid::words
