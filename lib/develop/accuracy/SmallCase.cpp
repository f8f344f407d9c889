// SPDX-License-Identifier: Apache-2.0
#include "lib/develop/accuracy/SmallCase.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <charconv>
#include <vector>

namespace nereid::develop {

using definition::Binding;

namespace {

constexpr std::string_view between = ", made small to ";
constexpr std::string_view ofRest = "..."; ///< what stands for the sizes without names

/// One size of a binding, by its place among all of them.
int64_t &sizeAt(Binding &sizes, size_t place) {
  for (auto &[name, size] : sizes.symbols) {
    if (place-- == 0) {
      return size;
    }
  }
  return sizes.rest[place];
}

std::optional<int64_t> readSize(std::string_view text) {
  int64_t value = 0;
  const auto [stop, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  const bool isRead = error == std::errc() && stop == text.data() + text.size() && value >= 0;
  return isRead ? std::optional(value) : std::nullopt;
}

std::vector<std::string_view> split(std::string_view text, char separator) {
  std::vector<std::string_view> parts;
  for (size_t begin = 0; begin <= text.size();) {
    const size_t end = std::min(text.find(separator, begin), text.size());
    parts.push_back(text.substr(begin, end - begin));
    begin = end + 1;
  }
  return parts;
}

} // namespace

Binding smallestFailing(const Binding &sizes, const std::function<bool(const Binding &)> &fails,
                        int mostTries) {
  Binding smallest = sizes;
  std::vector<size_t> places(sizes.symbols.size() + sizes.rest.size());
  for (size_t i = 0; i < places.size(); ++i) {
    places[i] = i;
  }
  int tries = 0;
  const auto failsWith = [&](size_t place, int64_t size) {
    Binding tried = smallest;
    sizeAt(tried, place) = size;
    return tries++ < mostTries && fails(tried);
  };
  for (bool isSmaller = true; isSmaller && tries < mostTries;) {
    isSmaller = false;
    std::stable_sort(places.begin(), places.end(),
                     [&](size_t a, size_t b) { return sizeAt(smallest, a) > sizeAt(smallest, b); });
    for (const size_t place : places) {
      int64_t passing = 0, failing = sizeAt(smallest, place);
      const int64_t before = failing;
      for (int64_t next = 1; next > passing && next < failing && tries < mostTries;
           next = passing + (failing - passing) / 2) {
        (failsWith(place, next) ? failing : passing) = next;
      }
      sizeAt(smallest, place) = failing;
      isSmaller = isSmaller || failing < before;
    }
  }
  return smallest;
}

std::string smallName(const std::string &name, const Binding &sizes) {
  std::vector<std::string> parts;
  for (const auto &[symbol, size] : sizes.symbols) {
    parts.push_back(fmt::format("{}={}", symbol, size));
  }
  if (!sizes.rest.empty()) {
    parts.push_back(fmt::format("{}={}", ofRest, fmt::join(sizes.rest, "x")));
  }
  return fmt::format("{}{}{}", name, between, fmt::join(parts, ","));
}

std::optional<SmallName> readSmallName(const std::string &name) {
  const size_t at = name.find(between);
  if (at == std::string::npos) {
    return std::nullopt;
  }
  SmallName read{name.substr(0, at), {}};
  for (const std::string_view part :
       split(std::string_view(name).substr(at + between.size()), ',')) {
    const size_t equals = part.find('=');
    if (equals == std::string_view::npos) {
      return std::nullopt;
    }
    const std::string symbol(part.substr(0, equals));
    for (const std::string_view text : split(part.substr(equals + 1), 'x')) {
      const auto size = readSize(text);
      if (!size) {
        return std::nullopt;
      }
      if (symbol == ofRest) {
        read.sizes.rest.push_back(*size);
      } else {
        read.sizes.symbols[symbol] = *size;
      }
    }
  }
  return read;
}

} // namespace nereid::develop
