// SPDX-License-Identifier: Apache-2.0
#include "lib/cli/KernelBench.h"

#include "lib/bench/CaseMeasurement.h"
#include "lib/cli/Against.h"
#include "lib/cli/OptionUse.h"
#include "lib/cli/StandardStreams.h"
#include "lib/launch/KernelReference.h"
#include "lib/measure/Environment.h"
#include "lib/measure/Statistics.h"
#include "lib/measure/SummaryJson.h"
#include "lib/measure/ThisChip.h"
#include "lib/report/GateReport.h"
#include "lib/report/Table.h"
#include "lib/support/Interrupt.h"
#include "lib/verify/KeptCase.h"

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

std::string memoryText(const std::optional<uint64_t> &bytes) {
  return bytes ? report::formatBytes(static_cast<double>(*bytes)) : std::string("-");
}

std::string tableOf(const std::vector<KernelRow> &rows) {
  std::vector<std::string> titles = {"case",  "kernel",   ">median",      ">p90",    ">RSD",
                                     ">rate", ">GFLOP/s", ">of roofline", ">launch", ">memory",
                                     ">peer", ">vs peer", ">its memory",  "state"};
  if (std::any_of(rows.begin(), rows.end(), [](const auto &row) { return row.unfusedBytes > 0; })) {
    titles.emplace_back(">fewer bytes than unfused");
  }
  report::Table table(titles);
  for (const KernelRow &row : rows) {
    const auto &s = row.kernel.summary;
    if (s.count == 0) {
      table.add({row.caseName, row.file, "-", "-", "-", "-", "-", "-", "-", "-", "-", "-", "-",
                 "FAILED: " + row.failure});
      continue;
    }
    table.add(
        {row.caseName, row.file, report::formatSeconds(s.median), report::formatSeconds(s.p90),
         report::formatPercent(s.relativeDeviation),
         row.bytes > 0 ? report::formatRate(row.bytes / s.median) : "-",
         row.flops > 0 ? fmt::format("{:.1f}", row.flops / s.median / 1e9) : "-",
         row.hasWork() && row.rooflineFault().empty() ? report::formatPercent(row.rooflineShare())
                                                      : "-",
         report::formatSeconds(row.launchSeconds), memoryText(row.memory),
         row.hasPeer()
             ? fmt::format("{} {}", row.peer.name, report::formatSeconds(row.peer.summary.median))
             : "-",
         row.hasPeer()
             ? report::formatRatio(measure::medianRatio(row.peer.samples, row.kernel.samples))
             : "-",
         memoryText(row.peerMemory), row.note(),
         row.unfusedBytes > 0 ? report::formatPercent(1 - row.bytes / row.unfusedBytes) : ""});
  }
  return table.text();
}

Json peerJson(const KernelRow &row) {
  Json json = {{"name", row.peer.name},
               {"ratio", measure::medianRatio(row.peer.samples, row.kernel.samples)}};
  measure::addTiming(json, row.peer);
  if (row.peerMemory) {
    json["memory_bytes"] = *row.peerMemory;
  }
  return json;
}

Json rowJson(const KernelRow &row) {
  Json entry = {{"case", row.caseName}, {"kernel", row.file}};
  if (!row.failure.empty()) {
    entry["failure"] = row.failure;
  }
  if (row.kernel.samples.empty()) {
    return entry;
  }
  measure::addTiming(entry, row.kernel);
  entry["bytes"] = row.bytes;
  entry["flops"] = row.flops;
  entry["launch_seconds"] = row.launchSeconds;
  entry["state"] = row.state();
  entry["copy_seconds"] = row.copySeconds;
  entry["peak_seconds"] = row.peakSeconds;
  if (row.hasWork()) {
    const std::string fault = row.rooflineFault();
    entry["roofline"] = fault.empty() ? Json(row.rooflineShare()) : Json();
    if (!fault.empty()) {
      entry["roofline_fault"] = fault;
    }
  }
  if (row.unfusedBytes > 0) {
    entry["unfused_bytes"] = row.unfusedBytes;
  }
  if (row.memory) {
    entry["memory_bytes"] = *row.memory;
  }
  if (!row.yardstick.samples.empty()) {
    entry["yardstick"] = measure::yardstickJson(row.yardstick, row.yardstickAmount);
  }
  if (row.hasPeer()) {
    entry["peer"] = peerJson(row);
  }
  return entry;
}

/// The folder's or the file's name: what a result file is about.
std::string subjectOf(const std::string &input) {
  const std::filesystem::path path =
      std::filesystem::path(launch::parseKernelReference(input).path).lexically_normal();
  return path.has_filename() ? path.stem().string() : path.parent_path().stem().string();
}

Result<std::vector<KernelCase>> casesOf(const KernelBenchOptions &options) {
  std::vector<KernelCase> cases;
  std::error_code ignored;
  if (!std::filesystem::is_directory(options.input, ignored)) {
    KernelCase one;
    one.name = "command line";
    one.kernel = options.input;
    one.signature = options.signature;
    one.grid = options.grid;
    one.arguments = options.arguments;
    one.bytes = options.bytes;
    one.flops = options.flops;
    return std::vector{std::move(one)};
  }
  auto loaded = launch::loadCases(options.input);
  if (!loaded) {
    return loaded.error();
  }
  std::vector<std::string> names;
  for (auto &one : *loaded) {
    names.push_back(one.name);
    if (options.caseName.empty() ? one.isBench : one.name == options.caseName) {
      cases.push_back(std::move(one));
    }
  }
  if (cases.empty()) {
    return options.caseName.empty()
               ? makeError("E0016", fmt::format("'{}' has no case for bench", options.input))
               : verify::unknownCase(options.input, options.caseName, names);
  }
  return cases;
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
  measure::Chip chip;
  measure::Environment environment; ///< before anything is measured
};

bool KernelBench::measureAll(const std::vector<KernelCase> &cases, std::vector<KernelRow> &rows) {
  for (const KernelCase &one : cases) {
    if (isInterrupted()) {
      break;
    }
    Diagnostics diags;
    const launch::Execution execution{.target = options.target, .importPaths = session.importPaths};
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
  all["subject"] = subjectOf(options.input);
  all["environment"] = Json::parse(measure::toJson(environment));
  all["rows"] = Json::array();
  for (const KernelRow &row : rows) {
    all["rows"].push_back(rowJson(row));
  }
  return all;
}

std::optional<measure::GateResult> KernelBench::judge(const std::vector<KernelCase> &cases,
                                                      const std::vector<KernelRow> &rows,
                                                      const measure::ResultFile &earlier) {
  auto judged = judgeAgainst(earlier, json(rows), [&](const std::vector<std::string> &names) {
    std::vector<KernelCase> slower;
    for (size_t i = 0; i < cases.size(); ++i) {
      const std::string name = measure::recordedName(rows[i].caseName, rows[i].file);
      if (std::find(names.begin(), names.end(), name) != names.end()) {
        slower.push_back(cases[i]);
      }
    }
    std::vector<KernelRow> again;
    (void)measureAll(slower, again);
    return json(again);
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
    fmt::print("{}{}", tableOf(rows), measure::uncertaintyNote(chip));
  }
  Json results = json(rows);
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
  command.add_option("--signature,-s", options.signature, "of a single .py kernel");
  command.add_option("--grid,-g", options.grid, "of a single .py kernel");
  command.add_option("--arg,-a", options.arguments, "name=maker, of a single .py kernel");
  command.add_option("--bytes", options.bytes, "expression: bytes the kernel must move");
  command.add_option("--flops", options.flops, "expression: floating-point operations");
  command.add_option("--case", options.caseName, "only this case of cases.toml");
}

std::optional<Diagnostic> unusedBenchOption(const CLI::App &command, const std::string &input) {
  std::error_code ignored;
  const bool isFolder = std::filesystem::is_directory(input, ignored);
  std::vector<std::string> used = {"--target", "--seconds-per-case", "--import-path", "--against"};
  if (isFolder) {
    used.emplace_back("--case");
  } else {
    used.insert(used.end(), {"--signature", "--grid", "--arg", "--bytes", "--flops"});
  }
  return unusedOption(command, isFolder ? "a folder of kernels" : "one kernel's file", used);
}

bool isKernelBench(const std::string &input) {
  std::string path = launch::parseKernelReference(input).path;
  std::error_code ignored;
  return std::filesystem::path(path).extension() == ".py" ||
         std::filesystem::exists(path + "/cases.toml", ignored);
}

void runKernelBench(const KernelBenchOptions &options, Session &session) {
  auto cases = casesOf(options);
  if (!cases) {
    return session.fail(cases.error());
  }
  auto earlier =
      openEarlier(options.against, subjectOf(options.input), [&](const std::string &name) {
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
