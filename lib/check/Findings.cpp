// SPDX-License-Identifier: Apache-2.0
// Collecting findings; see the header.
#include "lib/check/Findings.h"

namespace nereid::check {

uint64_t programNumber(const interpreter::Instance &instance) {
  const runtime::Grid &grid = instance.launch.grid, &id = instance.id;
  return static_cast<uint64_t>(id[0] + grid[0] * (id[1] + grid[1] * id[2]));
}

Diagnostic *Findings::add(const interpreter::Instance &instance, mlir::Operation *op,
                          const std::string &code, llvm::function_ref<std::string()> message) {
  auto [entry, isNew] = byOperation.try_emplace({op, code}, 0);
  Diagnostic *first = nullptr;
  if (isNew) {
    Diagnostic diagnostic = instance.diagnosticAt(op, code, message());
    const int line = diagnostic.range.line;
    // Without a place every operation is on its own.
    const std::string file = line > 0 ? diagnostic.file : std::to_string(list.size());
    auto [place, isNewLine] = byLine.try_emplace({code, file, line}, list.size());
    entry->second = place->second;
    if (isNewLine) {
      list.push_back({std::move(diagnostic), 0, {}});
      first = &list.back().diagnostic;
    }
  }
  Finding &finding = list[entry->second];
  ++finding.occurrences;
  finding.programs.insert(programNumber(instance));
  return first;
}

Diagnostic &Findings::add(Diagnostic diagnostic) {
  list.push_back({std::move(diagnostic), 1, {}});
  return list.back().diagnostic;
}

} // namespace nereid::check
