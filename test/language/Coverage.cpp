// SPDX-License-Identifier: Apache-2.0
// The table of docs/coverage.md.
#include "lib/language/emit/builtins/Builtins.h"
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
  case 'm':
  case 'b':
    return ".";
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

std::vector<CoverageRow> coverageRows(const std::map<std::string, Outcome> &outcomes) {
  std::vector<CoverageRow> rows;
  std::set<std::string> taken;
  for (const auto &entry : language::emit::builtins()) {
    if (entry.scopes == "S") {
      continue; // the library's own, which kernels cannot name
    }
    CoverageRow row;
    row.category = entry.category;
    row.isParsed = entry.function != nullptr || entry.isLibrary;
    for (char scope : entry.scopes) {
      std::string name = prefixOf(scope) + std::string(entry.name);
      row.names.push_back(name);
      if (auto found = outcomes.find(name); found != outcomes.end()) {
        taken.insert(name);
        for (const auto &[engine, types] : found->second.right) {
          std::vector<DType> &all = row.outcome.right[engine];
          all.insert(all.end(), types.begin(), types.end());
        }
      }
    }
    rows.push_back(std::move(row));
  }
  for (const auto &[name, outcome] : outcomes) {
    if (!taken.contains(name)) {
      rows.push_back({{name}, "syntax", true, outcome});
    }
  }
  return rows;
}

std::string coverageTable(const std::map<std::string, Outcome> &outcomes,
                          const std::vector<std::string> &engines) {
  std::string text =
      "# Coverage of the kernel language\n\n"
      "Written by `./dev conformance`: every function, whether the front end takes it, and the "
      "element\n"
      "types for which each engine gave the values computed independently (`test/language/`): the\n"
      "interpreter, this machine's CPU, and other processors under qemu (docs/processors.md). "
      "\"=\" means the\n"
      "same types as the interpreter. `.name` is a method. Functions that are not parsed exist "
      "upstream and are "
      "refused by name.\n"
      "NVIDIA GPUs have no column, as no GPU is needed to write this. On one, "
      "`language_conformance --engines=nvidia:0` runs every function\n"
      "that is tested, in all types of the interpreter's column; the last run that is kept passed "
      "on an H100 (`bench/results/*-gpu-test.json`).\n"
      "What has no values to compare is tested by its PTX: `tl.device_print`, "
      "`tl.inline_asm_elementwise` and `tl.extra.cuda`.\n"
      "What upstream's own tests say is in [upstream-tests.md](upstream-tests.md).\n\n";
  text += fmt::format("| function | category | parsed | tested | {} |\n|---|---|---|---|",
                      fmt::join(engines, " | "));
  for (size_t i = 0; i < engines.size(); ++i) {
    text += "---|";
  }
  text += "\n";
  for (const CoverageRow &row : coverageRows(outcomes)) {
    text += fmt::format("| `{}` | {} | {} | {} |", fmt::join(row.names, "` `"), row.category,
                        row.isParsed ? "yes" : "no", row.outcome.right.empty() ? "no" : "yes");
    std::string first;
    for (const std::string &engine : engines) {
      auto found = row.outcome.right.find(engine);
      std::string types =
          typesText(found == row.outcome.right.end() ? std::vector<DType>() : found->second);
      bool isSame = &engine != &engines.front() && types == first && types != "-";
      first = &engine == &engines.front() ? types : first;
      text += fmt::format(" {} |", isSame ? "=" : types);
    }
    text += "\n";
  }
  return text;
}

} // namespace nereid::conformance
