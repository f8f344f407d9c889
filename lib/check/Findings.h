// SPDX-License-Identifier: Apache-2.0
// What a check has found: one report for each kind of mistake and source line, with the first
// occurrence in full and a count of all of them.
#pragma once

#include "lib/interpreter/Instance.h"
#include "lib/support/Diagnostics.h"

#include "llvm/ADT/STLFunctionalExtras.h"

#include <cstdint>
#include <map>
#include <string>
#include <tuple>
#include <unordered_set>
#include <vector>

namespace nereid::check {

struct Finding {
  Diagnostic diagnostic;
  uint64_t occurrences = 0; ///< elements, over all programs
  std::unordered_set<uint64_t> programs;
};

class Findings {
public:
  /// Counts one more occurrence. Returns the diagnostic to complete when it is the first, for which
  /// alone the message is asked: there may be millions.
  Diagnostic *add(const interpreter::Instance &instance, mlir::Operation *op,
                  const std::string &code, llvm::function_ref<std::string()> message);
  /// The same without a program, at the kernel itself.
  Diagnostic &add(Diagnostic diagnostic);

  std::vector<Finding> take() { return std::move(list); }

private:
  /// Place of an operation and code, so that operations of one line share a report.
  using Key = std::tuple<std::string, std::string, int>;
  std::map<std::pair<mlir::Operation *, std::string>, size_t> byOperation;
  std::map<Key, size_t> byLine;
  std::vector<Finding> list;
};

/// A program's number in the grid, x running first.
uint64_t programNumber(const interpreter::Instance &instance);

} // namespace nereid::check
