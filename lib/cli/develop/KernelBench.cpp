// SPDX-License-Identifier: Apache-2.0
#include "lib/cli/develop/KernelBench.h"

#include "lib/bench/Against.h"
#include "lib/bench/KernelReport.h"
#include "lib/cli/OptionUse.h"
#include "lib/cli/develop/Against.h"
#include "lib/cli/process/StandardStreams.h"
#include "lib/launch/KernelReference.h"
#include "lib/measure/peaks/ThisChip.h"
#include "lib/measure/results/Environment.h"
#include "lib/report/GateReport.h"
#include "lib/support/Interrupt.h"

#include <CLI/CLI.hpp>
#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <filesystem>

namespace nereid::cli {

using bench::KernelRow;
using launch::KernelCase;

namespace {

using Json = nlohmann::ordered_json;

std::vector<measure::RecordedCase> recorded(const std::vector<KernelRow> &rows) {
  std::vector<measure::RecordedCase> cases;
  for (const KernelRow &row : rows) {
    cases.push_back(bench::recordedCase(row, row.file));
  }
  return cases;
}

/// The folder's or the file's name: what a result file is about.
std::string subjectOf(const std::string &input) {
  const std::filesystem::path path =
      std::filesystem::path(launch::parseKernelReference(input).path).lexically_normal();
  return path.has_filename() ? path.stem().string() : path.parent_path().stem().string();
}

/// The rows of one run and how they were come by.
class KernelBench {
public:
  KernelBench(const KernelBenchOptions &options, Session &session)
      : options(options), session(session), chip(measure::thisChip()),
        environment(measure::describeEnvironment(chip)) {}

  void run(const std::vector<KernelCase> &cases, const std::optional<measure::ResultFile> &earlier);

private:
  /// False when one could not be measured; the session has failed then.
  bool measureAll(const std::vector<KernelCase> &cases, std::vector<KernelRow> &rows);
  Json json(const std::vector<KernelRow> &rows) const;
  std::optional<measure::GateResult> judge(const std::vector<KernelCase> &cases,
                                           const std::vector<KernelRow> &rows,
                                           const measure::ResultFile &earlier);

  const KernelBenchOptions &options;
  Session &session;
  Machine chip;
  measure::Environment environment; ///< before anything is measured
};

bool KernelBench::measureAll(const std::vector<KernelCase> &cases, std::vector<KernelRow> &rows) {
  for (const KernelCase &one : cases) {
    if (isInterrupted()) {
      break;
    }
    Diagnostics diags;
    const launch::Execution execution{
        .target = options.target, .chip = options.chip, .importPaths = session.importPaths};
    auto row = bench::measureKernel(one, {execution, options.secondsPerCase}, chip, diags);
    if (!row) {
      session.fail(diags);
      return false;
    }
    printWarnings(diags);
    if (!row->failure.empty()) {
      session.status = exitCheckFailed;
    }
    rows.push_back(std::move(*row));
  }
  return true;
}

Json KernelBench::json(const std::vector<KernelRow> &rows) const {
  Json all;
  all["schema"] = 1;
  all["subject"] = subjectOf(options.given.kernel);
  all["environment"] = Json::parse(measure::toJson(environment));
  all["rows"] = Json::array();
  for (const KernelRow &row : rows) {
    all["rows"].push_back(bench::kernelJson(row));
  }
  return all;
}

std::optional<measure::GateResult> KernelBench::judge(const std::vector<KernelCase> &cases,
                                                      const std::vector<KernelRow> &rows,
                                                      const measure::ResultFile &earlier) {
  auto judged =
      bench::judgeAgainst(earlier, recorded(rows), [&](const std::vector<std::string> &names) {
        std::vector<KernelCase> slower;
        for (size_t i = 0; i < cases.size(); ++i) {
          const std::string name = measure::recordedName(rows[i].caseName, rows[i].file);
          if (std::find(names.begin(), names.end(), name) != names.end()) {
            slower.push_back(cases[i]);
          }
        }
        std::vector<KernelRow> again;
        (void)measureAll(slower, again);
        return recorded(again);
      });
  if (!judged) {
    session.fail(judged.error());
    return std::nullopt;
  }
  return std::move(*judged);
}

void KernelBench::run(const std::vector<KernelCase> &cases,
                      const std::optional<measure::ResultFile> &earlier) {
  std::vector<KernelRow> rows;
  if (!measureAll(cases, rows)) {
    return;
  }
  if (!session.json) {
    fmt::print("{}{}", bench::kernelTable(rows), measure::uncertaintyNote(chip));
    if (!options.chip.empty()) {
      fmt::print("code is shaped for the chip of '{}'; it was measured on this machine\n",
                 options.chip);
    }
  }
  Json results = json(rows);
  if (!options.chip.empty()) {
    results["code_shaped_for"] = options.chip;
  }
  if (earlier && !isInterrupted()) {
    auto judged = judge(cases, rows, *earlier);
    if (!judged) {
      return;
    }
    reportGate(*judged, session);
    results["against"] = report::gateJson(*judged);
  }
  if (session.json) {
    fmt::print("{}\n", results.dump(2));
  }
  if (isInterrupted()) {
    session.status = interruptStatus();
    printError("interrupted: the cases above are measured, the last one with fewer samples\n");
  }
}

} // namespace

void addKernelBenchOptions(CLI::App &command, KernelBenchOptions &options) {
  command.add_option("--signature,-s", options.given.signature, "of a single .py kernel");
  command.add_option("--grid,-g", options.given.grid, "of a single .py kernel");
  command.add_option("--arg,-a", options.given.arguments, "name=maker, of a single .py kernel");
  command.add_option("--bytes", options.given.bytes, "expression: bytes the kernel must move");
  command.add_option("--flops", options.given.flops, "expression: floating-point operations");
  command.add_option("--case", options.caseName, "only this case of cases.toml");
}

std::optional<Diagnostic> unusedBenchOption(const CLI::App &command, const std::string &input) {
  std::error_code ignored;
  const bool isFolder = std::filesystem::is_directory(input, ignored);
  std::vector<std::string> used = {"--target", "--chip", "--seconds-per-case", "--import-path",
                                   "--against"};
  if (isFolder) {
    used.emplace_back("--case");
  } else {
    used.insert(used.end(), {"--signature", "--grid", "--arg", "--bytes", "--flops"});
  }
  std::erase_if(used, [&](const std::string &name) { return !command.get_option_no_throw(name); });
  return unusedOption(command, isFolder ? "a folder of kernels" : "one kernel's file", used);
}

Result<std::vector<KernelCase>> benchCases(const KernelBenchOptions &options) {
  const std::string &input = options.given.kernel;
  std::error_code ignored;
  if (!std::filesystem::is_directory(input, ignored)) {
    std::vector one = {options.given};
    one.front().name = "command line";
    return one;
  }
  auto cases = launch::loadCases(input);
  if (!cases || !options.caseName.empty()) {
    return cases ? launch::chooseCases(input, *cases, options.caseName) : cases;
  }
  std::erase_if(*cases, [](const KernelCase &one) { return !one.isBench; });
  return cases->empty() ? makeError("E0016", fmt::format("'{}' has no case for bench", input))
                        : cases;
}

bool isKernelBench(const std::string &input) {
  std::string path = launch::parseKernelReference(input).path;
  std::error_code ignored;
  return std::filesystem::path(path).extension() == ".py" ||
         std::filesystem::exists(path + "/cases.toml", ignored);
}

void runKernelBench(const KernelBenchOptions &options, Session &session) {
  auto cases = benchCases(options);
  if (!cases) {
    return session.fail(cases.error());
  }
  auto earlier = bench::openEarlier(
      options.against, subjectOf(options.given.kernel), [&](const std::string &name) {
        return options.caseName.empty() ||
               name.starts_with(measure::recordedName(options.caseName, ""));
      });
  if (!earlier) {
    return session.fail(earlier.error());
  }
  watchInterrupt();
  KernelBench(options, session).run(*cases, *earlier);
}

} // namespace nereid::cli
