// SPDX-License-Identifier: Apache-2.0
// `nereid tune`: times the configs of triton.autotune that cases leave open, and keeps the quickest
// one of each for `nereid bench`.
#include "lib/bench/tuning/ConfigSearch.h"
#include "lib/cli/OptionUse.h"
#include "lib/cli/develop/KernelBench.h"
#include "lib/cli/process/StandardStreams.h"
#include "lib/measure/peaks/ThisChip.h"
#include "lib/measure/statistics/Statistics.h"
#include "lib/report/Table.h"
#include "lib/support/Interrupt.h"

#include <CLI/CLI.hpp>
#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <algorithm>

namespace nereid::cli {
namespace {

using Json = nlohmann::ordered_json;
using bench::ConfigSearch;
using bench::TriedConfig;

double besideFirst(const ConfigSearch &search, const TriedConfig &tried) {
  const TriedConfig &first = search.tried.front();
  return first.isRight() && tried.isRight()
             ? measure::medianRatio(first.measured.row->kernel.samples,
                                    tried.measured.row->kernel.samples)
             : 0;
}

std::string searchText(const std::string &name, const ConfigSearch &search) {
  report::Table table({"config", ">median", ">RSD", ">rate", ">beside the first", "state"});
  for (size_t i = 0; i < search.tried.size(); ++i) {
    const TriedConfig &tried = search.tried[i];
    if (!tried.isRight()) {
      table.add({tried.config, "-", "-", "-", "-", "refused: " + tried.refusal()});
      continue;
    }
    const bench::KernelRow &row = *tried.measured.row;
    const auto &summary = row.kernel.summary;
    table.add(
        {tried.config, report::formatSeconds(summary.median),
         report::formatPercent(summary.relativeDeviation),
         row.flops > 0   ? report::formatFlops(row.flops / summary.median)
         : row.bytes > 0 ? report::formatRate(row.bytes / summary.median)
                         : "-",
         search.tried.front().isRight() ? report::formatRatio(besideFirst(search, tried)) : "-",
         row.note() + (search.best == i ? ", kept" : "")});
  }
  return fmt::format("case {}\n{}", name, table.text());
}

Json searchJson(const std::string &name, const ConfigSearch &search) {
  Json json = {{"case", name}, {"configs", Json::array()}};
  for (const TriedConfig &tried : search.tried) {
    Json one = {{"config", tried.config}};
    if (tried.isRight()) {
      one["median"] = tried.measured.row->kernel.summary.median;
      one["beside_first"] = besideFirst(search, tried);
      one["state"] = tried.measured.row->state();
    } else {
      one["refused"] = tried.refusal();
    }
    json["configs"].push_back(std::move(one));
  }
  json["kept"] = search.best ? Json(search.tried[*search.best].config) : Json();
  return json;
}

/// False where a case cannot be read.
bool tuneCase(const launch::KernelCase &one, const bench::KernelMeasurement &how,
              const Machine &chip, Session &session, Json &all) {
  auto machine = bench::machineOf(how.execution, chip);
  if (!machine) {
    session.fail(machine.error());
    return false;
  }
  Diagnostics diags;
  const auto open = bench::openConfigs(one, how.execution, *machine, diags);
  if (!open) {
    session.fail(diags);
    return false;
  }
  if (open->configs.empty()) {
    return true;
  }
  const ConfigSearch search = bench::searchConfigs(*open, how, chip);
  if (!search.best) {
    session.status = exitCheckFailed;
  }
  if (!session.json) {
    fmt::print("{}{}", all.empty() ? "" : "\n", searchText(one.name, search));
  }
  all.push_back(searchJson(one.name, search));
  return true;
}

void runTune(const KernelBenchOptions &options, Session &session) {
  auto cases = benchCases(options);
  if (!cases) {
    return session.fail(cases.error());
  }
  watchInterrupt();
  const Machine chip = measure::thisChip();
  const bench::KernelMeasurement how{.execution = {.target = options.target,
                                                   .chip = options.chip,
                                                   .importPaths = session.importPaths},
                                     .secondsPerCase = options.secondsPerCase};
  Json all = Json::array();
  for (const launch::KernelCase &one : *cases) {
    if (isInterrupted()) {
      break;
    }
    if (!tuneCase(one, how, chip, session, all)) {
      return;
    }
  }
  if (isInterrupted()) {
    session.status = interruptStatus();
    return printError("interrupted: nothing is kept of the last search\n");
  }
  if (all.empty()) {
    return session.fail(
        makeError("E0029", fmt::format("no case of '{}' leaves a config of triton.autotune open",
                                       options.given.kernel))
            .withHelp("a search needs two configs at least whose values the signature does not "
                      "give"));
  }
  if (session.json) {
    fmt::print("{}\n", Json{{"schema", 1}, {"cases", all}}.dump(2));
  }
}

} // namespace

void addTune(CLI::App &app, Session &session) {
  auto options = std::make_shared<KernelBenchOptions>();
  CLI::App *command = app.add_subcommand(
      "tune", "times the configs of triton.autotune and keeps the quickest one for bench");
  command->add_option("kernel", options->given.kernel, "kernels/OP or FILE.py[:function]")
      ->required();
  command->add_option("--target", options->target, "cpu, or a device, nvidia:0");
  command->add_option("--chip", options->chip, chipHelp);
  command
      ->add_option("--seconds-per-case", options->secondsPerCase,
                   "timing budget of each config of a case")
      ->check(CLI::Range(0.001, 3600.0));
  addKernelBenchOptions(*command, *options);
  addBlocking(*command);
  addImportPaths(*command, session);
  command->callback([options, command, &session] {
    const std::string &input = options->given.kernel;
    if (!isKernelBench(input)) {
      return session.fail(makeError("E0013", "tune expects kernels/OP with cases.toml or FILE.py, "
                                             "but got '" +
                                                 input + "'"));
    }
    if (auto unused = unusedBenchOption(*command, input)) {
      return session.fail(*unused);
    }
    runTune(*options, session);
  });
}

} // namespace nereid::cli
