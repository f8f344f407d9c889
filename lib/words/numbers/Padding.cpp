// SPDX-License-Identifier: Apache-2.0
#include "lib/words/numbers/Padding.h"

#include "lib/words/Shapes.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <regex>

namespace nereid::words {
namespace {

constexpr int64_t mostPadding = 64;
constexpr unsigned left = 1, right = 2, top = 4, bottom = 8, all = 15;

bool isWord(const std::vector<Token> &tokens, size_t at,
            std::initializer_list<std::string_view> texts) {
  return at < tokens.size() &&
         std::find(texts.begin(), texts.end(), lowerCase(tokens[at].name)) != texts.end();
}

/// The sides that the token names, 0 of none.
unsigned sidesAt(const std::vector<Token> &tokens, size_t at) {
  const bool isEach =
      at > 0 && isWord(tokens, at - 1, {"each", "every", "all", "four", "各", "每", "四"});
  if (isWord(tokens, at, {"side", "sides", "edge", "edges", "border", "borders"})) {
    const bool isBoth = at > 0 && isWord(tokens, at - 1, {"both", "two"});
    return isBoth ? left | right : isEach ? all : 0;
  }
  if (isWord(tokens, at, {"left", "左", "front"})) {
    return left;
  }
  if (isWord(tokens, at, {"right", "右", "end", "back"})) {
    return right;
  }
  if (isWord(tokens, at, {"top", "上"})) {
    return top;
  }
  if (isWord(tokens, at, {"bottom", "下"})) {
    return bottom;
  }
  if (isWord(tokens, at, {"两"}) && isWord(tokens, at + 1, {"边", "侧", "端"})) {
    return left | right;
  }
  const bool isAround =
      isWord(tokens, at, {"around"}) || (isEach && isWord(tokens, at, {"边", "周", "侧"}));
  return isAround ? all : 0;
}

std::optional<int64_t> amountAt(const std::vector<Token> &tokens, size_t at) {
  static const std::vector<std::string> words = {"one", "two", "three", "four"};
  const auto word = std::find(words.begin(), words.end(), lowerCase(tokens[at].name));
  const bool isOther = // "last two dimensions", "four sides", "1.5x", "to 128", "a multiple of 64"
      (at > 1 && isWord(tokens, at - 1, {"of"}) && isWord(tokens, at - 2, {"multiple"})) ||
      (at > 0 && isWord(tokens, at - 1, {"to", "length", "size", "到", "至"})) ||
      (at > 0 && isWord(tokens, at - 1, {"last", "trailing", "float", "int", "fp"})) ||
      isWord(tokens, at + 1,
             {"dim", "dims", "dimensions", "axes", "sides", "d", "x", "倍", "维", "tensors"});
  if (isOther) {
    return std::nullopt;
  }
  if (word != words.end()) {
    return word - words.begin() + 1;
  }
  const auto size = sizeAt(tokens, at);
  return size && *size <= mostPadding ? size : std::nullopt;
}

/// Of the body's only padding: the numbers, where they stand, and the tensor.
struct Written {
  std::vector<int64_t> numbers;
  size_t begin, size;
  std::string tensor;
};

std::optional<Written> writtenIn(const std::string &body) {
  static const std::regex call(R"(F\.pad\((\w+), [(\[]([0-9]+(?:, [0-9]+)+)[)\]])");
  static const std::regex number("[0-9]+");
  std::smatch found;
  if (!std::regex_search(body, found, call) ||
      found.suffix().str().find("F.pad") != std::string::npos) {
    return std::nullopt;
  }
  const std::string list = found[2];
  Written written{{}, static_cast<size_t>(found.position(2)), list.size(), found[1]};
  for (std::sregex_iterator at(list.begin(), list.end(), number), end; at != end; ++at) {
    written.numbers.push_back(std::stoll(at->str()));
  }
  return written.numbers.size() % 2 == 0 ? std::optional(written) : std::nullopt;
}

/// "W + 3" in the place of "W"; "" of a shape that is not told so far.
std::string paddedShape(const definition::SymbolicShape &shape,
                        const std::vector<int64_t> &numbers) {
  if (shape.size() < numbers.size() / 2) {
    return "";
  }
  std::vector<std::string> dims;
  for (size_t i = 0; i < shape.size(); ++i) {
    const size_t pair = 2 * (shape.size() - 1 - i);
    const int64_t more = pair < numbers.size() ? numbers[pair] + numbers[pair + 1] : 0;
    const definition::Dim &dim = shape[i];
    dims.push_back(dim.symbol.empty() ? fmt::format("{}", dim.constant + more)
                   : more > 0         ? fmt::format("\"{} + {}\"", dim.symbol, more)
                                      : fmt::format("\"{}\"", dim.symbol));
  }
  return fmt::format("shape = [{}]", fmt::join(dims, ", "));
}

} // namespace

std::optional<PaddingFact> findPadding(const std::vector<Token> &tokens,
                                       const std::vector<bool> &isOfShape,
                                       const std::optional<AxesFact> &axes) {
  struct Group {
    std::optional<int64_t> amount;
    unsigned sides = 0;
    SourceRange range;
  };
  std::vector<Group> groups;
  bool isAmountFirst = false;
  for (size_t at = 0; at < tokens.size(); ++at) {
    const unsigned sides = sidesAt(tokens, at);
    const auto amount = isOfShape[at] ? std::nullopt : amountAt(tokens, at);
    if (sides == 0 && !amount) {
      continue;
    }
    if (groups.empty()) {
      isAmountFirst = amount.has_value();
    }
    // "2 left and 1 right" begins anew with each number, "left 2 and right 1" behind each.
    if (groups.empty() || (isAmountFirst ? amount.has_value() : groups.back().amount.has_value())) {
      groups.emplace_back();
    }
    groups.back().sides |= sides;
    if (amount) {
      groups.back().amount = amount;
      groups.back().range = tokens[at].range;
    }
  }
  const bool isLast = axes && axes->dims == std::vector<int64_t>{-1};
  if (groups.size() == 1 && groups.front().sides == 0) { // "pad by 3"
    groups.front().sides = all;
  }
  PaddingFact fact;
  unsigned seen = 0;
  for (const Group &group : groups) {
    const unsigned sides = isLast && group.sides == all ? left | right : group.sides;
    if (!group.amount || sides == 0 || (seen & sides) != 0 || (isLast && sides > (left | right))) {
      return std::nullopt;
    }
    seen |= sides;
    fact.isAll = sides == all;
    for (size_t i = 0; i < fact.sides.size(); ++i) {
      fact.sides[i] = (sides >> i) & 1 ? *group.amount : fact.sides[i];
    }
    fact.numbers.push_back(group.range);
  }
  return groups.empty() ? std::nullopt : std::optional(fact);
}

bool isPadding(const Shipped &shipped) { return writtenIn(shipped.op.body).has_value(); }

std::optional<OtherNumber> withPadding(const Shipped &shipped, const PaddingFact &padding) {
  const auto written = writtenIn(shipped.op.body);
  if (!written) {
    return std::nullopt;
  }
  std::vector<int64_t> numbers(written->numbers.size(), padding.sides[0]);
  for (size_t i = 0; !padding.isAll && i < std::max(numbers.size(), padding.sides.size()); ++i) {
    const int64_t amount = i < padding.sides.size() ? padding.sides[i] : 0;
    if (i < numbers.size()) {
      numbers[i] = amount;
    } else if (amount > 0) {
      return std::nullopt; // of dimensions that are not padded
    }
  }
  const std::string said = fmt::format("padding ({}) instead of ({})", fmt::join(numbers, ", "),
                                       fmt::join(written->numbers, ", "));
  if (numbers == written->numbers) {
    return OtherNumber{fmt::format("padding ({})", fmt::join(numbers, ", ")), shipped.text,
                       shipped.op};
  }
  const auto tensor =
      std::find_if(shipped.op.parameters.begin(), shipped.op.parameters.end(),
                   [&](const auto &parameter) { return parameter.name == written->tensor; });
  const std::string shape =
      tensor == shipped.op.parameters.end() ? "" : paddedShape(tensor->shape, numbers);
  std::string body = shipped.op.body;
  body.replace(written->begin, written->size, fmt::format("{}", fmt::join(numbers, ", ")));
  return shape.empty() ? std::nullopt : withOtherBody(shipped, body, said, shape);
}

} // namespace nereid::words
