// SPDX-License-Identifier: Apache-2.0
// `nereid check` as a function: runs a kernel in the interpreter and reports accesses outside a
// tensor, reads of memory without contents, races, overlapping arguments, broken hints, overflowing
// addresses, undefined values, divisions by zero and failed assertions. docs/check.md has an
// example of each. This header knows no MLIR.
#pragma once

#include "lib/pipeline/Compiler.h"

#include <cstdint>
#include <set>
#include <string>
#include <vector>

namespace nereid::check {

struct CheckOptions {
  /// Pointer parameters whose tensors have no contents before the launch.
  std::set<std::string> emptyTensors = {};
  std::string schedule = "in-order"; ///< one of scheduleNames()
  uint64_t seed = 0;                 ///< of the random schedule
  /// Programs that may have started and not ended at a time, as on a chip with so many places; 0 =
  /// any number.
  uint64_t residentPrograms = 0;
};

/// Orders in which the programs of a grid may run: "in-order", "round-robin", "random".
const std::vector<std::string> &scheduleNames();

/// One kind of mistake at one line: the first occurrence, and how many elements in how many
/// programs of the grid share it.
struct Report {
  Diagnostic diagnostic;
  uint64_t occurrences = 1;
  uint64_t programs = 0; ///< 0: it belongs to no program
};

/// Runs the whole grid, on the arguments themselves, and appends what it found. False when the
/// kernel could not be checked; `diags` then says why.
bool checkKernel(const pipeline::CompileInput &input, runtime::Grid grid,
                 std::span<const runtime::ArgumentValue> arguments, const CheckOptions &options,
                 std::vector<Report> &reports, Diagnostics &diags);

/// What a check found first, in a line for people.
struct FirstFinding {
  /// "x.py:7:5: load reads outside 'x' … [E0801]; byte 4 behind …; mask …", with both values and
  /// what to do; "" = nothing was found.
  std::string text;
  std::string code;

  bool isEndless() const { return code == "E0404"; }
};

/// The same for who wants a line; the first error where the kernel could not be checked.
/// `emptyTensors` as in the options.
Result<FirstFinding> firstFinding(const pipeline::CompileInput &input, runtime::Grid grid,
                                  std::span<const runtime::ArgumentValue> arguments,
                                  std::set<std::string> emptyTensors);

} // namespace nereid::check
