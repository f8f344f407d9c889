// SPDX-License-Identifier: Apache-2.0
// The table of docs/coverage.md.
#include "lib/language/emit/Builtins.h"
#include "test/language/Case.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <set>

namespace nereid::conformance {
namespace {

std::string prefixOf(char scope) {
  switch (scope) {
  case 'T':
    return "tl.";
  case 'M':
    return "tl.math.";
  case 'L':
    return "libdevice.";
  case 'C':
    return "tl.extra.cuda.";
  case 'R':
    return "triton.";
  case 'd':
    return "descriptor.";
  default:
    return "";
  }
}

std::string typesText(const std::vector<DType> &types) {
  std::set<DType> unique(types.begin(), types.end());
  std::vector<std::string> names;
  for (DType type : unique) {
    names.emplace_back(kernelName(type));
  }
  return names.empty() ? "-" : fmt::format("{}", fmt::join(names, " "));
}

} // namespace

std::string coverageTable(const std::map<std::string, Outcome> &outcomes) {
  std::string text =
      "# Coverage of the kernel language\n\n"
      "Written by `./dev conformance`: every function, whether the front end takes it, and the "
      "element\n"
      "types for which the interpreter and the CPU target gave the values computed "
      "independently.\n\n"
      "| function | category | parsed | interpreter | CPU |\n|---|---|---|---|---|\n";
  std::set<std::string> listed;
  auto row = [&](const std::string &name, std::string_view category, bool isParsed) {
    if (!listed.insert(name).second) {
      return;
    }
    auto found = outcomes.find(name);
    Outcome none;
    const Outcome &outcome = found == outcomes.end() ? none : found->second;
    text += fmt::format("| `{}` | {} | {} | {} | {} |\n", name, category, isParsed ? "yes" : "no",
                        typesText(outcome.interpreted), typesText(outcome.compiled));
  };
  for (const auto &entry : language::emit::builtins()) {
    for (char scope : entry.scopes) {
      if (scope != 'm' || entry.scopes == "m") {
        row(prefixOf(scope) + std::string(entry.name), entry.category, entry.function != nullptr);
      }
    }
  }
  for (const auto &[name, outcome] : outcomes) {
    row(name, name.starts_with("tl.") ? "standard library" : "syntax", true);
  }
  return text;
}

} // namespace nereid::conformance
