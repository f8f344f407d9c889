// SPDX-License-Identifier: Apache-2.0
// `nereid tune`: times the configs of triton.autotune that cases leave open, or searches block
// sizes that nobody wrote down, and keeps the quickest one of each for `nereid bench`.
#include "lib/bench/tuning/OpenConfigs.h"
#include "lib/cli/OptionUse.h"
#include "lib/cli/develop/CaseProcesses.h"
#include "lib/cli/develop/KernelBench.h"
#include "lib/cli/process/ChildProcess.h"
#include "lib/cli/process/StandardStreams.h"
#include "lib/cli/tune/TuneSearch.h"
#include "lib/cli/tune/TunedCase.h"
#include "lib/measure/peaks/ThisChip.h"
#include "lib/pipeline/Target.h"
#include "lib/support/Interrupt.h"

#include <CLI/CLI.hpp>
#include <fmt/format.h>
#include <nlohmann/json.hpp>

namespace nereid::cli {
namespace {

using Json = nlohmann::ordered_json;

/// The cases of a folder or of one file, one after another.
class Tuning {
public:
  Tuning(const KernelBenchOptions &options, const std::vector<launch::KernelCase> &cases,
         Session &session)
      : options(options), cases(cases), session(session), chip(measure::thisChip()),
        how{.execution = {.target = options.target,
                          .chip = options.chip,
                          .importPaths = session.importPaths},
            .secondsPerCase = options.secondsPerCase} {}

  void run();
  /// One case of another process, without the configs that it names.
  void runForParent();

private:
  using Points = std::vector<std::string>;

  bool tuneAll();
  /// Those of triton.autotune, or those at `points`. Nothing when the session has failed.
  std::optional<bench::OpenConfigs> configsOf(size_t number, const Points &points);
  /// Nothing when the session has failed, or without anything to search.
  std::optional<bench::SearchSpace> spaceOf(size_t number);
  /// Nothing when the session has failed; a case that leaves nothing open has no JSON.
  std::optional<TunedCase> tuneHere(size_t number, const Points &points, const ConfigFates &fates);
  /// In processes of their own, each without the configs that have taken the device from one.
  std::optional<TunedCase> tuneInChildren(size_t number, const Points &points);
  std::optional<TunedCase> tuneOne(size_t number, const Points &points) {
    return casesRunHere(options) ? tuneHere(number, points, {}) : tuneInChildren(number, points);
  }
  /// Round by round, see TuneSearch.h.
  std::optional<TunedCase> search(size_t number);

  const KernelBenchOptions &options;
  const std::vector<launch::KernelCase> &cases;
  Session &session;
  Machine chip;
  bench::KernelMeasurement how;
  Json all = Json::array();
};

std::optional<bench::SearchSpace> Tuning::spaceOf(size_t number) {
  const launch::KernelCase &one = cases[number];
  auto machine = bench::machineOf(how.execution, chip);
  if (!machine) {
    session.fail(machine.error());
    return std::nullopt;
  }
  if (one.reference.empty()) {
    session.fail(
        makeError("E0013", fmt::format("--search expects a reference, but '{}' has none", one.name))
            .withHelp("block sizes that nobody wrote down may be wrong: write --reference "
                      "\"out=x + y\", with the names of the kernel's arguments"));
    return std::nullopt;
  }
  Diagnostics diags;
  auto space = bench::searchSpace(one, how.execution, *machine, chip, diags);
  if (!space) {
    session.fail(diags);
  } else if (space->start.empty()) {
    session.fail(makeError("E0029", fmt::format("'{}' has nothing to search", one.kernel))
                     .withHelp("lengths of tiles are constexpr parameters, powers of two, that "
                               "stand in tl.arange or in the shape of a tile"));
    return std::nullopt;
  }
  return space;
}

std::optional<bench::OpenConfigs> Tuning::configsOf(size_t number, const Points &points) {
  if (!points.empty()) {
    const auto space = spaceOf(number);
    if (!space) {
      return std::nullopt;
    }
    bench::OpenConfigs open{.configs = {}, .key = space->key, .areGuessed = true};
    for (const std::string &point : points) {
      open.configs.push_back(
          bench::configAt(*space, bench::pointFromText(point).value_or(space->start)));
    }
    return open;
  }
  auto machine = bench::machineOf(how.execution, chip);
  if (!machine) {
    session.fail(machine.error());
    return std::nullopt;
  }
  Diagnostics diags;
  auto open = bench::openConfigs(cases[number], how.execution, *machine, diags);
  if (!open) {
    session.fail(diags);
  }
  return open;
}

std::optional<TunedCase> Tuning::tuneHere(size_t number, const Points &points,
                                          const ConfigFates &fates) {
  const auto open = configsOf(number, points);
  if (!open) {
    return std::nullopt;
  }
  return open->configs.empty() ? TunedCase()
                               : searchedCase(cases[number].name, *open, fates, how, chip);
}

std::optional<TunedCase> Tuning::search(size_t number) {
  const auto space = spaceOf(number);
  if (!space) {
    return std::nullopt;
  }
  TuneSearch walk(*space);
  bool isLost = false;
  while (!isLost && !isInterrupted()) {
    Points points;
    for (const bench::SearchPoint &point : walk.next()) {
      points.push_back(bench::pointText(point));
    }
    if (points.empty()) {
      break;
    }
    const auto round = tuneOne(number, points);
    if (!round) {
      return std::nullopt;
    }
    isLost = round->lostBy.has_value();
    walk.take(round->json);
  }
  if (walk.hasRight() && !isLost && !isInterrupted()) {
    bench::keepConfig(space->key, walk.kept());
  }
  return TunedCase{
      .json = walk.json(cases[number].name), .hasRight = walk.hasRight(), .lostBy = {}};
}

std::optional<TunedCase> Tuning::tuneInChildren(size_t number, const Points &points) {
  ConfigFates fates;
  while (true) {
    std::vector<std::string> words = caseWords("tune", options, {number}, session);
    for (const auto &[config, fate] : fates) {
      words.insert(words.end(), {"--without", std::to_string(config)});
    }
    for (const std::string &point : points) {
      words.insert(words.end(), {"--point", point});
    }
    const ChildResult child = runChild(words);
    if (!child.report) {
      if (child.fate.empty()) { // it has said what it could not do
        session.status = child.status;
      } else {
        session.fail(makeError(
            "E0421", fmt::format("the search of case '{}' {}", cases[number].name, child.fate)));
      }
      return std::nullopt;
    }
    const Json &told = *child.report;
    TunedCase tuned{.json = told["case"], .hasRight = told["has_right"], .lostBy = std::nullopt};
    for (const auto &[config, fate] : fates) {
      tuned.json["configs"][config]["refused"] = fate;
    }
    if (told["lost_by"].is_null() || isInterrupted()) {
      return tuned;
    }
    const size_t lostBy = told["lost_by"];
    fates[lostBy] = tuned.json["configs"][lostBy]["refused"];
  }
}

void Tuning::runForParent() {
  endWithParent();
  ConfigFates fates;
  for (const size_t config : options.without) {
    fates[config] = "left out";
  }
  for (const size_t number : askedCases(cases.size(), options)) {
    const auto tuned = tuneHere(number, options.points, fates);
    if (tuned) {
      leaveReport(options.reportTo, {{"case", tuned->json},
                                     {"has_right", tuned->hasRight},
                                     {"lost_by", tuned->lostBy ? Json(*tuned->lostBy) : Json()}});
    }
  }
}

bool Tuning::tuneAll() {
  for (size_t number = 0; number < cases.size() && !isInterrupted(); ++number) {
    const auto tuned = options.isSearch ? search(number) : tuneOne(number, {});
    if (!tuned) {
      return false;
    }
    if (tuned->json.is_null()) {
      continue;
    }
    if (!tuned->hasRight) {
      session.status = exitCheckFailed;
    }
    if (!session.json) {
      fmt::print("{}{}", all.empty() ? "" : "\n",
                 options.isSearch ? searchText(tuned->json) : tunedText(tuned->json));
    }
    all.push_back(tuned->json);
  }
  return true;
}

void Tuning::run() {
  if (!tuneAll()) {
    return;
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
                      "give; --search tries block sizes that the kernel does not name"));
  }
  if (session.json) {
    fmt::print("{}\n", Json{{"schema", 1}, {"cases", all}}.dump(2));
  }
}

void runTune(const KernelBenchOptions &options, Session &session) {
  auto cases = benchCases(options);
  if (!cases) {
    return session.fail(cases.error());
  }
  if (pipeline::runsOnDevice(options.target)) {
    if (auto device = pipeline::deviceFor(options.target); !device) {
      return session.fail(device.error());
    }
  }
  watchInterrupt();
  Tuning tuning(options, *cases, session);
  options.reportTo.empty() ? tuning.run() : tuning.runForParent();
}

} // namespace

void addTune(CLI::App &app, Session &session) {
  auto options = std::make_shared<KernelBenchOptions>();
  CLI::App *command = app.add_subcommand(
      "tune", "times the configs of triton.autotune, or with --search block sizes around the "
              "kernel's, and keeps the quickest one for bench");
  command->add_option("kernel", options->given.kernel, "kernels/OP or FILE.py[:function]")
      ->required();
  command->add_option("--target", options->target, "cpu, or a device, nvidia:0");
  command->add_option("--chip", options->chip, chipHelp);
  command
      ->add_option("--seconds-per-case", options->secondsPerCase,
                   "timing budget of each config of a case")
      ->check(between(0.001, 3600.0));
  addKernelBenchOptions(*command, *options);
  addProcessOptions(*command, *options);
  command->add_flag(
      "--search", options->isSearch,
      "lengths of tiles, and warps and stages on a device, that no config names: from "
      "those of the signature, or of the chip, to what is quickest around them");
  command->add_option("--without", options->without)->group("");
  command->add_option("--point", options->points)->group("");
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
