// SPDX-License-Identifier: Apache-2.0
#include "lib/launch/GivenCases.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>

namespace nereid::launch {

namespace {

/// "name=text" in two; nothing where one of them is empty.
std::optional<std::pair<std::string, std::string>> assignmentOf(const std::string &text) {
  const size_t equals = text.find('=');
  if (equals == std::string::npos || equals == 0 || equals + 1 == text.size()) {
    return std::nullopt;
  }
  return std::pair(text.substr(0, equals), text.substr(equals + 1));
}

Diagnostic badSweep(const std::string &text, const std::string &why) {
  return makeError("E0013", fmt::format("--sweep '{}' {}", text, why))
      .withHelp(
          "write --sweep n=1000000,4000000,16000000; tensors follow it where their sizes name "
          "it, as in --arg \"x=randn(n)\"");
}

Result<std::vector<int64_t>> sweptValues(const std::string &sweep, const std::string &list) {
  std::vector<int64_t> values;
  for (size_t begin = 0; begin <= list.size();) {
    const size_t end = std::min(list.find(',', begin), list.size());
    int64_t value = 0;
    const char *last = list.data() + end;
    const auto [stop, error] = std::from_chars(list.data() + begin, last, value);
    if (error != std::errc() || stop != last) {
      return badSweep(
          sweep, fmt::format("expects an integer, but got '{}'", list.substr(begin, end - begin)));
    }
    if (std::find(values.begin(), values.end(), value) != values.end()) {
      return badSweep(sweep, fmt::format("has {} twice", value));
    }
    values.push_back(value);
    begin = end + 1;
  }
  return values;
}

} // namespace

Result<std::vector<KernelCase>> givenCases(const KernelCase &given, const GivenFormulas &formulas) {
  KernelCase one = given;
  one.name = "command line";
  for (const std::string &text : formulas.references) {
    const auto formula = assignmentOf(text);
    if (!formula) {
      return makeError("E0013", fmt::format("--reference '{}' names no output", text))
          .withHelp("write --reference \"out=x + y\", with the names of the kernel's arguments");
    }
    one.reference[formula->first] = formula->second;
  }
  if (formulas.sweep.empty()) {
    return std::vector{one};
  }
  const auto swept = assignmentOf(formulas.sweep);
  if (!swept) {
    return badSweep(formulas.sweep, "expects a name and values");
  }
  auto values = sweptValues(formulas.sweep, swept->second);
  if (!values) {
    return values.error();
  }
  std::vector<KernelCase> all;
  for (const int64_t value : *values) {
    all.push_back(one);
    all.back().name = fmt::format("{}={}", swept->first, value);
    all.back().addArguments({all.back().name});
  }
  return all;
}

} // namespace nereid::launch
