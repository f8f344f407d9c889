// SPDX-License-Identifier: Apache-2.0
// One checked launch: the interpreter with a Checker as its monitor.
#include "lib/check/Check.h"

#include "lib/check/Checker.h"
#include "lib/support/FirstError.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>

namespace nereid::check {

/// What ends a launch and is the kernel's mistake, not a reason why it cannot be run.
static bool isFinding(const Diagnostic &diagnostic) {
  static constexpr std::array codes = {"E0402", "E0404", "E0407", "E0412", "E0413"};
  return std::find(codes.begin(), codes.end(), diagnostic.code) != codes.end();
}

const std::vector<std::string> &scheduleNames() {
  static const std::vector<std::string> names = {"in-order", "round-robin", "random"};
  return names;
}

bool checkKernel(const pipeline::CompileInput &input, runtime::Grid grid,
                 std::span<const runtime::ArgumentValue> arguments, const CheckOptions &options,
                 std::vector<Report> &reports, Diagnostics &diags) {
  Checker checker(options.emptyTensors);
  InterpretOptions interpretOptions;
  interpretOptions.monitor = &checker;
  interpretOptions.seed = options.seed;
  interpretOptions.residentPrograms = options.residentPrograms;
  const std::vector<std::string> &names = scheduleNames();
  const auto chosen = std::find(names.begin(), names.end(), options.schedule);
  if (chosen == names.end()) {
    diags.add(makeError("E0013", "there is no schedule '" + options.schedule + "'")
                  .withHelp("there are in-order, round-robin and random"));
    return false;
  }
  interpretOptions.schedule = static_cast<Schedule>(chosen - names.begin());
  Diagnostics ended;
  pipeline::interpretKernel(input, grid, arguments, ended, interpretOptions);
  for (Finding &finding : checker.takeFindings()) {
    const uint64_t programs = finding.programs.size();
    reports.push_back({std::move(finding.diagnostic), finding.occurrences, programs});
  }
  bool isChecked = true;
  for (const Diagnostic &diagnostic : ended.all()) {
    if (isFinding(diagnostic)) {
      reports.push_back({diagnostic, 1, 1});
    } else {
      isChecked = isChecked && diagnostic.severity != Severity::Error;
      diags.add(diagnostic);
    }
  }
  return isChecked;
}

Result<FirstFinding> firstFinding(const pipeline::CompileInput &input, runtime::Grid grid,
                                  std::span<const runtime::ArgumentValue> arguments,
                                  std::set<std::string> emptyTensors) {
  CheckOptions options;
  options.emptyTensors = std::move(emptyTensors);
  std::vector<Report> reports;
  Diagnostics diags;
  if (!checkKernel(input, grid, arguments, options, reports, diags)) {
    return firstError(diags);
  }
  if (reports.empty()) {
    return FirstFinding();
  }
  const Diagnostic &first = reports.front().diagnostic;
  FirstFinding finding{fmt::format("{}:{}:{}: {} [{}]", first.file, first.range.line,
                                   first.range.column, first.message, first.code),
                       first.code};
  for (const std::string &note : first.notes) {
    finding.text += "; " + note;
  }
  if (!first.help.empty()) {
    finding.text += "; " + first.help;
  }
  return finding;
}

} // namespace nereid::check
