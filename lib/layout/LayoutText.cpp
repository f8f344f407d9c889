// SPDX-License-Identifier: Apache-2.0
#include "lib/layout/LayoutText.h"

#include <fmt/format.h>

#include <array>
#include <bit>
#include <charconv>
#include <optional>

namespace nereid::layout {
namespace {

constexpr int64_t mostElements = int64_t{1} << 20;
constexpr int64_t mostBytes = int64_t{1} << 30;
constexpr const char *layoutForm = "write it as \"registers 1 2, lanes 4 8 16 32 64, warps 128 "
                                   "256\": the element that each bit of "
                                   "the number of a register, of a lane and of a warp stands for";

Diagnostic unreadable(std::string message, const char *help) {
  return makeError("E0440", std::move(message)).withHelp(help);
}

struct Kind {
  const char *name;
  size_t mostBits; ///< of the number of such a holder
};
constexpr std::array<Kind, 3> kinds = {{{"registers", 10}, {"lanes", 5}, {"warps", 5}}};

bool isDigit(char c) { return c >= '0' && c <= '9'; }
bool isLetter(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_'; }

/// The words and numbers of a text; what stands between them must be of `marks`.
Result<std::vector<std::string_view>> tokensOf(std::string_view text, std::string_view marks) {
  std::vector<std::string_view> tokens;
  for (size_t at = 0; at < text.size();) {
    if (marks.find(text[at]) != marks.npos) {
      ++at;
      continue;
    }
    const bool isNumber = isDigit(text[at]);
    size_t end = at;
    while (end < text.size() && (isNumber ? isDigit(text[end]) : isLetter(text[end]))) {
      ++end;
    }
    if (end == at) {
      return makeError("E0440", fmt::format("unexpected '{}' in '{}'", text[at], text));
    }
    tokens.push_back(text.substr(at, end - at));
    at = end;
  }
  return tokens;
}

/// Nothing when it does not fit.
std::optional<int64_t> numberOf(std::string_view token) {
  int64_t number = 0;
  const auto [end, error] = std::from_chars(token.data(), token.data() + token.size(), number);
  return error == std::errc() && end == token.data() + token.size() ? std::optional(number)
                                                                    : std::nullopt;
}

/// What stands in the brackets of "#name<…>", or all of it.
std::string_view insideOf(std::string_view text) {
  const size_t first = text.find('<'), last = text.rfind('>');
  return text.starts_with('#') && first != text.npos && last != text.npos && first < last
             ? text.substr(first + 1, last - first - 1)
             : text;
}

} // namespace

Result<LinearLayout::Shape> parseShape(std::string_view text) {
  constexpr const char *help = "write it as \"64x32\"; sizes are powers of two";
  LinearLayout::Shape shape;
  int64_t elements = 1;
  for (size_t start = 0; start <= text.size();) {
    const size_t end = std::min(text.find('x', start), text.size());
    const auto size = numberOf(text.substr(start, end - start));
    if (!size || *size < 1 || !std::has_single_bit(static_cast<uint64_t>(*size))) {
      return unreadable(fmt::format("a shape expects powers of two with 'x' between them, but got "
                                    "'{}'",
                                    text),
                        help);
    }
    if (*size > mostElements || elements * *size > mostElements) {
      return unreadable(
          fmt::format("a tile has at most {} elements, but '{}' has more", mostElements, text),
          help);
    }
    elements *= *size;
    shape.push_back(*size);
    start = end + 1;
  }
  return shape;
}

Result<LinearLayout> parseLayout(std::string_view text, LinearLayout::Shape shape) {
  const auto tokens = tokensOf(insideOf(text), " \t\n=[],");
  if (!tokens) {
    return Diagnostic(tokens.error()).withHelp(layoutForm);
  }
  const int64_t elements = LinearLayout(shape, {}, {}, {}).elementCount();
  std::array<std::optional<LinearLayout::Bases>, kinds.size()> lists;
  LinearLayout::Bases *list = nullptr;
  const Kind *kind = nullptr;
  for (std::string_view token : *tokens) {
    if (!isDigit(token.front())) {
      list = nullptr;
      for (size_t i = 0; i < kinds.size(); ++i) {
        if (token == kinds[i].name && !lists[i]) {
          kind = &kinds[i];
          list = &lists[i].emplace();
        }
      }
      if (!list) {
        return unreadable(fmt::format("a layout has registers, lanes and warps, each once, but got "
                                      "'{}'",
                                      token),
                          layoutForm);
      }
      continue;
    }
    if (!list) {
      return unreadable(fmt::format("'{}' belongs to no registers, lanes or warps", token),
                        layoutForm);
    }
    const auto basis = numberOf(token);
    if (!basis || *basis >= elements) {
      return unreadable(fmt::format("the tile has the elements 0 to {}, but a bit of {} stands for "
                                    "{}",
                                    elements - 1, kind->name, token),
                        layoutForm);
    }
    if (list->size() == kind->mostBits) {
      return unreadable(fmt::format("the number of {} has at most {} bits, but got more",
                                    kind->name, kind->mostBits),
                        layoutForm);
    }
    list->push_back(*basis);
  }
  if (tokens->empty()) {
    return unreadable("the text of a layout is empty", layoutForm);
  }
  auto of = [&](size_t i) { return lists[i].value_or(LinearLayout::Bases()); };
  return LinearLayout(std::move(shape), of(0), of(1), of(2));
}

Result<Places> parsePlaces(std::string_view text, const LinearLayout::Shape &shape) {
  constexpr const char *help = "write the byte for each bit of an element's row-major number, from "
                               "the lowest bit on: \"2 4 8 16\" for 16 elements of two bytes";
  const auto tokens = tokensOf(text, " \t\n[],");
  if (!tokens) {
    return Diagnostic(tokens.error()).withHelp(help);
  }
  const int64_t elements = LinearLayout(shape, {}, {}, {}).elementCount();
  const auto bits = static_cast<size_t>(std::countr_zero(static_cast<uint64_t>(elements)));
  if (tokens->size() != bits) {
    return unreadable(fmt::format("{} elements have numbers of {} bits, but got {} places",
                                  elements, bits, tokens->size()),
                      help);
  }
  Places places;
  for (std::string_view token : *tokens) {
    const auto place = isDigit(token.front()) ? numberOf(token) : std::nullopt;
    if (!place || *place >= mostBytes) {
      return unreadable(
          fmt::format("a place expects a byte below {}, but got '{}'", mostBytes, token), help);
    }
    places.push_back(*place);
  }
  return places;
}

} // namespace nereid::layout
