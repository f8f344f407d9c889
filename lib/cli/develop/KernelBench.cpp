// SPDX-License-Identifier: Apache-2.0
#include "lib/cli/develop/KernelBench.h"

#include "lib/bench/Against.h"
#include "lib/bench/KernelReport.h"
#include "lib/bench/SweepReport.h"
#include "lib/bench/tuning/ConfigSearch.h"
#include "lib/cli/OptionUse.h"
#include "lib/cli/develop/Against.h"
#include "lib/cli/develop/CaseProcesses.h"
#include "lib/cli/process/ChildProcess.h"
#include "lib/cli/process/StandardStreams.h"
#include "lib/develop/performance/CaseForm.h"
#include "lib/launch/KernelReference.h"
#include "lib/measure/peaks/ThisChip.h"
#include "lib/measure/peers/Peers.h"
#include "lib/measure/results/Environment.h"
#include "lib/pipeline/Target.h"
#include "lib/report/GateReport.h"
#include "lib/support/AtomicFile.h"
#include "lib/support/Interrupt.h"

#include <CLI/CLI.hpp>
#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <filesystem>
#include <utility>

namespace nereid::cli {

using bench::KernelRow;
using launch::KernelCase;

namespace {

using Json = nlohmann::ordered_json;

/// A row as it is told, whatever process it was measured in.
struct ToldRow {
  std::string name; ///< of the case, with its kernel
  Json json;
  std::vector<bench::KernelLine> lines; ///< of the table
  measure::RecordedCase recorded;
  std::optional<KernelRow> row = {}; ///< of one measured in this process
  bool failed = false, isDeviceLost = false;
};

ToldRow toldRow(const KernelRow &row) {
  return {.name = measure::recordedName(row.caseName, row.file),
          .json = bench::kernelJson(row),
          .lines = bench::kernelLines(row),
          .recorded = bench::recordedCase(row, row.file),
          .row = row,
          .failed = !row.failure.empty(),
          .isDeviceLost = row.isDeviceLost};
}

std::vector<measure::RecordedCase> recorded(const std::vector<ToldRow> &rows) {
  std::vector<measure::RecordedCase> cases;
  for (const ToldRow &row : rows) {
    cases.push_back(row.recorded);
  }
  return cases;
}

/// Libraries that may have had an operation of a row without a peer, but are not there. Asked
/// behind the timing, since it loads those that are.
std::vector<measure::PeerSource> missingPeers(const std::vector<ToldRow> &rows,
                                              const std::string &target) {
  std::vector<measure::PeerSource> missing;
  const bool hasRowWithout = std::any_of(rows.begin(), rows.end(), [](const ToldRow &row) {
    return !row.failed && !row.json.contains("peer");
  });
  if (hasRowWithout && !pipeline::runsOnDevice(target)) {
    missing = measure::peerSources();
    std::erase_if(missing, [](const measure::PeerSource &one) { return one.isThere; });
  }
  return missing;
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
  KernelBench(const KernelBenchOptions &options, const std::vector<KernelCase> &cases,
              Session &session)
      : options(options), cases(cases), session(session), chip(measure::thisChip()),
        environment(measure::describeEnvironment(chip)) {}

  void run(const std::optional<measure::ResultFile> &earlier);
  /// The cases that another process asks for, until the device is lost.
  void runForParent();

private:
  /// False when one could not be measured; the session has failed then.
  bool measureAll(const CaseNumbers &numbers, std::vector<ToldRow> &rows);
  bool measureHere(const CaseNumbers &numbers, std::vector<ToldRow> &rows);
  bool measureInChildren(const CaseNumbers &numbers, std::vector<ToldRow> &rows);
  /// Those that another process reported; how many, nothing when they cannot be read.
  std::optional<size_t> takeRows(const Json &told, std::vector<ToldRow> &rows);
  ToldRow deadRow(const KernelCase &one, const std::string &fate) const;
  Json json(const std::vector<ToldRow> &rows) const;
  Json withEnvironment(Json rows) const;
  /// Markdown of a sweep with a picture beside it.
  Status writeReport(const std::vector<ToldRow> &rows) const;
  std::optional<measure::GateResult> judge(const std::vector<ToldRow> &rows,
                                           const measure::ResultFile &earlier);

  const KernelBenchOptions &options;
  const std::vector<KernelCase> &cases;
  Session &session;
  Machine chip;
  measure::Environment environment; ///< before anything is measured
};

bool KernelBench::measureAll(const CaseNumbers &numbers, std::vector<ToldRow> &rows) {
  const bool isDone =
      casesRunHere(options) ? measureHere(numbers, rows) : measureInChildren(numbers, rows);
  if (std::any_of(rows.begin(), rows.end(), [](const ToldRow &row) { return row.failed; }) &&
      isDone) {
    session.status = exitCheckFailed;
  }
  return isDone;
}

bool KernelBench::measureHere(const CaseNumbers &numbers, std::vector<ToldRow> &rows) {
  for (const size_t number : numbers) {
    if (isInterrupted()) {
      break;
    }
    Diagnostics diags;
    const launch::Execution execution{
        .target = options.target, .chip = options.chip, .importPaths = session.importPaths};
    const bench::KernelMeasurement how{.execution = execution,
                                       .secondsPerCase = options.secondsPerCase,
                                       .makeForm = develop::caseForm};
    const auto chosen = bench::chooseConfig(cases[number], how, chip, diags);
    auto row = !chosen        ? std::nullopt
               : chosen->lost ? chosen->lost
                              : bench::measureKernel(chosen->asked, how, chip, diags);
    if (!row) {
      session.fail(diags);
      return false;
    }
    row->config = chosen->config;
    printWarnings(diags);
    rows.push_back(toldRow(*row));
    if (row->isDeviceLost) {
      break;
    }
  }
  if (rows.size() < numbers.size() && !rows.empty() && rows.back().isDeviceLost &&
      options.reportTo.empty()) {
    printError("the device is lost to this process: the cases behind were not measured\n");
  }
  return true;
}

ToldRow KernelBench::deadRow(const KernelCase &one, const std::string &fate) const {
  KernelRow row;
  row.caseName = one.name;
  row.file = std::filesystem::path(one.kernel).filename().string();
  row.failure = fate;
  return toldRow(row);
}

std::optional<size_t> KernelBench::takeRows(const Json &told, std::vector<ToldRow> &rows) {
  Json all = Json::array();
  for (const Json &row : told["rows"]) {
    all.push_back(row["json"]);
  }
  // As a result file would be read, which has all that is compared.
  auto read = measure::resultsFromJson(withEnvironment(all).dump(), "of another process");
  if (!read) {
    session.fail(read.error());
    return std::nullopt;
  }
  for (size_t i = 0; i < read->cases.size(); ++i) {
    const Json &row = told["rows"][i];
    rows.push_back({.name = read->cases[i].name,
                    .json = row["json"],
                    .lines = row["lines"],
                    .recorded = read->cases[i],
                    .failed = !read->cases[i].failure.empty()});
  }
  return read->cases.size();
}

bool KernelBench::measureInChildren(const CaseNumbers &numbers, std::vector<ToldRow> &rows) {
  CaseProcesses processes("bench", options, session);
  processes.take = [&](const Json &told) { return takeRows(told, rows); };
  processes.takeDead = [&](size_t number, const std::string &fate) {
    rows.push_back(deadRow(cases[number], fate));
  };
  return processes.run(numbers);
}

Json KernelBench::withEnvironment(Json rows) const {
  Json all;
  all["schema"] = 1;
  all["subject"] = subjectOf(options.given.kernel);
  const auto target = pipeline::findTarget(options.target, options.chip);
  all["measured_with"] = {{"target", target ? (*target)->name() : options.target},
                          {"chip_file", options.chip},
                          {"seconds_per_case", options.secondsPerCase}};
  all["environment"] = Json::parse(measure::toJson(environment));
  all["rows"] = std::move(rows);
  return all;
}

Json KernelBench::json(const std::vector<ToldRow> &rows) const {
  Json all = Json::array();
  for (const ToldRow &row : rows) {
    all.push_back(row.json);
  }
  return withEnvironment(std::move(all));
}

std::optional<measure::GateResult> KernelBench::judge(const std::vector<ToldRow> &rows,
                                                      const measure::ResultFile &earlier) {
  auto judged =
      bench::judgeAgainst(earlier, recorded(rows), [&](const std::vector<std::string> &names) {
        CaseNumbers slower;
        for (size_t i = 0; i < rows.size(); ++i) {
          if (std::find(names.begin(), names.end(), rows[i].name) != names.end()) {
            slower.push_back(i);
          }
        }
        std::vector<ToldRow> again;
        (void)measureAll(slower, again);
        return recorded(again);
      });
  if (!judged) {
    session.fail(judged.error());
    return std::nullopt;
  }
  return std::move(*judged);
}

void KernelBench::runForParent() {
  std::vector<ToldRow> rows;
  if (!measureAll(askedCases(cases.size(), options), rows)) {
    return;
  }
  Json all = Json::array();
  for (const ToldRow &row : rows) {
    all.push_back({{"json", row.json}, {"lines", row.lines}});
  }
  leaveReport(options.reportTo, {{"rows", all}});
}

Status KernelBench::writeReport(const std::vector<ToldRow> &rows) const {
  std::vector<bench::KernelLine> lines;
  std::vector<KernelRow> swept;
  for (const ToldRow &row : rows) {
    lines.insert(lines.end(), row.lines.begin(), row.lines.end());
    swept.push_back(*row.row);
  }
  const std::filesystem::path file(options.report);
  const std::string title = subjectOf(options.given.kernel);
  std::string text = fmt::format(
      "# {}, {}\n\nTarget {}, machine {}, {} threads, {}, revision {}; {} s a size.\n\n{}", title,
      options.formulas.sweep.substr(0, options.formulas.sweep.find('=')), options.target, chip.name,
      environment.threads, environment.date, environment.revision, options.secondsPerCase,
      bench::kernelTable(lines).markdown());
  const std::string picture = bench::sweepPicture(title, swept);
  if (!picture.empty()) {
    const std::string name = file.stem().string() + ".svg";
    text += fmt::format("\n![{}]({})\n", title, name);
    if (Status done = writeFileAtomically((file.parent_path() / name).string(), picture); !done) {
      return done;
    }
  }
  return writeFileAtomically(options.report, text);
}

void KernelBench::run(const std::optional<measure::ResultFile> &earlier) {
  const CaseNumbers numbers = askedCases(cases.size(), options);
  std::vector<ToldRow> rows;
  if (!measureAll(numbers, rows)) {
    return;
  }
  const std::vector<measure::PeerSource> missing = missingPeers(rows, options.target);
  if (!session.json) {
    std::vector<bench::KernelLine> lines;
    for (const ToldRow &row : rows) {
      lines.insert(lines.end(), row.lines.begin(), row.lines.end());
    }
    fmt::print("{}{}", bench::kernelTable(lines).text(), measure::uncertaintyNote(chip));
    for (const measure::PeerSource &one : missing) {
      fmt::print("no peer of {}: {}\n", one.name, one.state);
    }
    if (!options.chip.empty()) {
      fmt::print("code is shaped for the chip of '{}'; it was measured on this machine\n",
                 options.chip);
    }
  }
  Json results = json(rows);
  results["missing_peers"] = Json::array();
  for (const measure::PeerSource &one : missing) {
    results["missing_peers"].push_back(one.name);
  }
  if (!options.chip.empty()) {
    results["code_shaped_for"] = options.chip;
  }
  if (earlier && !isInterrupted()) {
    auto judged = judge(rows, *earlier);
    if (!judged) {
      return;
    }
    reportGate(*judged, session);
    results["against"] = report::gateJson(*judged);
  }
  if (session.json) {
    fmt::print("{}\n", results.dump(2));
  }
  if (!options.report.empty()) {
    if (Status done = writeReport(rows); !done) {
      return session.fail(done.error());
    }
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
  command.add_option(
      "--reference", options.formulas.references,
      "name=expression for each output, of a single .py kernel: what it should give");
  command.add_option("--bytes", options.given.bytes, "expression: bytes the kernel must move");
  command.add_option("--flops", options.given.flops, "expression: floating-point operations");
  command.add_option("--case", options.caseName, "only this case of cases.toml");
}

void addProcessOptions(CLI::App &command, bool &isInProcess, std::string &reportTo) {
  command.add_flag("--in-process", isInProcess,
                   "all kernels in this process, also those of a device, which a fault of one then "
                   "takes from the others");
  command.add_option(reportOption, reportTo)->group(""); // hidden: between our own processes
}

void addProcessOptions(CLI::App &command, KernelBenchOptions &options) {
  addProcessOptions(command, options.isInProcess, options.reportTo);
  command.add_option("--numbers", options.numbers)->delimiter(',')->group("");
}

std::optional<Diagnostic> unusedBenchOption(const CLI::App &command, const std::string &input) {
  std::error_code ignored;
  const bool isFolder = std::filesystem::is_directory(input, ignored);
  std::vector<std::string> used = {"--target",      "--chip",    "--seconds-per-case",
                                   "--import-path", "--against", "--blocking",
                                   "--search"};
  if (isFolder) {
    used.insert(used.end(),
                {"--case", "--in-process", reportOption, "--numbers", "--without", "--point"});
  } else {
    used.insert(used.end(),
                {"--signature", "--grid", "--arg", "--reference", "--sweep", "--bytes", "--flops"});
    const auto *sweep = command.get_option_no_throw("--sweep");
    if (sweep != nullptr && sweep->count() > 0) {
      used.emplace_back("--report");
    }
  }
  std::erase_if(used, [&](const std::string &name) { return !command.get_option_no_throw(name); });
  return unusedOption(command, isFolder ? "a folder of kernels" : "one kernel's file", used);
}

Result<std::vector<KernelCase>> benchCases(const KernelBenchOptions &options) {
  const std::string &input = options.given.kernel;
  std::error_code ignored;
  if (!std::filesystem::is_directory(input, ignored)) {
    // Seen before this machine is measured, which takes seconds.
    if (auto text = readTextFile(launch::parseKernelReference(input).path); !text) {
      return text.error();
    }
    return launch::givenCases(options.given, options.formulas);
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
  if (pipeline::runsOnDevice(options.target)) { // before this processor is measured for nothing
    if (auto device = pipeline::deviceFor(options.target); !device) {
      return session.fail(device.error());
    }
  }
  watchInterrupt();
  KernelBench bench(options, *cases, session);
  options.reportTo.empty() ? bench.run(*earlier) : bench.runForParent();
}

} // namespace nereid::cli
