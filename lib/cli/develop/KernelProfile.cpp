// SPDX-License-Identifier: Apache-2.0
// `nereid profile`: what kernels take of a device, and what they reach there. Cases of a folder run
// on a device in processes of their own, as those of `nereid bench` do (CaseProcesses.h).
#include "lib/bench/profile/ProfileReport.h"
#include "lib/cli/develop/CaseProcesses.h"
#include "lib/cli/process/ChildProcess.h"
#include "lib/cli/process/StandardStreams.h"
#include "lib/develop/OperatorLaunches.h"
#include "lib/pipeline/Target.h"
#include "lib/support/Interrupt.h"

#include <CLI/CLI.hpp>
#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <filesystem>

namespace nereid::cli {
namespace {

using Json = nlohmann::ordered_json;
using launch::KernelCase;

/// A profile as it is told, whatever process it was made in.
struct ToldProfile {
  std::string text;
  Json json;
  bool failed = false;
};

class KernelProfiles {
public:
  KernelProfiles(const KernelBenchOptions &options, const std::vector<KernelCase> &cases,
                 Session &session)
      : options(options), cases(cases), session(session) {}

  void run();

private:
  /// False when a case cannot be profiled at all; the session has failed then.
  bool profileHere(const CaseNumbers &numbers);
  bool profileInChildren(const CaseNumbers &numbers);
  void tell(ToldProfile profile);
  ToldProfile deadProfile(const KernelCase &one, const std::string &fate) const;

  const KernelBenchOptions &options;
  const std::vector<KernelCase> &cases;
  Session &session;
  std::vector<ToldProfile> told;
};

/// At once: profiling goes on for long.
void KernelProfiles::tell(ToldProfile profile) {
  if (profile.failed) {
    session.status = exitCheckFailed;
  }
  if (!session.json && options.reportTo.empty()) {
    fmt::print("{}", profile.text);
  }
  told.push_back(std::move(profile));
}

ToldProfile KernelProfiles::deadProfile(const KernelCase &one, const std::string &fate) const {
  const std::string file = std::filesystem::path(one.kernel).filename().string();
  return {.text = fmt::format("{} {}: no profile, {}\n", one.name, file, fate),
          .json = {{"case", one.name}, {"kernel", file}, {"state", fate}},
          .failed = true};
}

bool KernelProfiles::profileHere(const CaseNumbers &numbers) {
  for (size_t i = 0; i < numbers.size() && !isInterrupted(); ++i) {
    Diagnostics diags;
    const launch::Execution execution{
        .target = options.target, .chip = options.chip, .importPaths = session.importPaths};
    auto profile =
        bench::profileKernel(cases[numbers[i]], {execution, options.secondsPerCase}, diags);
    if (!profile) {
      session.fail(diags);
      return false;
    }
    printWarnings(diags);
    tell({.text = bench::profileText(*profile),
          .json = bench::profileJson(*profile),
          .failed = profile->measured && !profile->measured->failure.empty()});
    if (profile->isDeviceLost()) {
      if (i + 1 < numbers.size() && options.reportTo.empty()) {
        printError("the device is lost to this process: the cases behind were not measured\n");
      }
      break;
    }
  }
  return true;
}

bool KernelProfiles::profileInChildren(const CaseNumbers &numbers) {
  CaseProcesses processes("profile", options, session);
  processes.take = [&](const Json &report) -> std::optional<size_t> {
    for (const Json &one : report["profiles"]) {
      tell({.text = one["text"], .json = one["json"], .failed = one["failed"]});
    }
    return report["profiles"].size();
  };
  processes.takeDead = [&](size_t number, const std::string &fate) {
    tell(deadProfile(cases[number], fate));
  };
  return processes.run(numbers);
}

void KernelProfiles::run() {
  const bool isChild = !options.reportTo.empty();
  const CaseNumbers numbers = askedCases(cases.size(), options);
  if (!(casesRunHere(options) ? profileHere(numbers) : profileInChildren(numbers))) {
    return;
  }
  Json all = Json::array();
  for (const ToldProfile &one : told) {
    all.push_back(isChild ? Json{{"text", one.text}, {"json", one.json}, {"failed", one.failed}}
                          : one.json);
  }
  if (isChild) {
    leaveReport(options.reportTo, {{"profiles", all}});
  } else if (session.json) {
    fmt::print("{}\n", Json{{"schema", 1}, {"profiles", all}}.dump(2));
  }
  if (isInterrupted()) {
    session.status = interruptStatus();
  }
}

} // namespace

namespace {

/// Launches of an operator's folder: of an architecture, as their tensors are nobody's.
Result<std::vector<KernelCase>> launchesOf(const KernelBenchOptions &options) {
  if (pipeline::namesDevice(options.target) || options.target.find(':') == std::string::npos) {
    return makeError("E0013", fmt::format("profile of an operator expects an architecture as "
                                          "--target, but got '{}'",
                                          options.target))
        .withHelp("write --target nvidia:sm_90a for what its kernels take; nereid bench " +
                  options.given.kernel + " --target " + options.target + " has the times");
  }
  auto chip = options.chip.empty() ? Result<Machine>(genericMachine()) : loadMachine(options.chip);
  return chip ? develop::operatorLaunches(options.given.kernel, *chip, options.caseName)
              : Result<std::vector<KernelCase>>(chip.error());
}

} // namespace

void addProfile(CLI::App &app, Session &session) {
  auto options = std::make_shared<KernelBenchOptions>();
  CLI::App *command = app.add_subcommand(
      "profile", "what a kernel takes of a device and what it reaches: time, registers, shared "
                 "memory, occupancy, waves");
  command
      ->add_option("kernel", options->given.kernel,
                   "kernels/OP, FILE.py[:function], or the folder of an operator")
      ->required();
  command
      ->add_option("--target", options->target,
                   "a device, nvidia:0; or an architecture, nvidia:sm_90a, for all but the time")
      ->required();
  command->add_option("--chip", options->chip,
                      "descriptor of the device: its rates and processors");
  command->add_option("--seconds-per-case", options->secondsPerCase, "timing budget")
      ->check(between(0.001, 3600.0));
  addKernelBenchOptions(*command, *options);
  addProcessOptions(*command, *options);
  addBlocking(*command);
  addImportPaths(*command, session);
  command->callback([options, command, &session] {
    const std::string &input = options->given.kernel;
    const bool isOperator = develop::isOperatorFolder(input);
    if (!isOperator && !isKernelBench(input)) {
      return session.fail(
          makeError("E0013", "profile expects kernels/OP with cases.toml, "
                             "FILE.py or the folder of an operator, but got '" +
                                 input + "'")
              .withHelp("nereid generate DEF.toml makes the folder of an operator"));
    }
    if (auto unused = unusedBenchOption(*command, input)) {
      return session.fail(*unused);
    }
    auto cases = isOperator ? launchesOf(*options) : benchCases(*options);
    if (!cases) {
      return session.fail(cases.error());
    }
    watchInterrupt();
    KernelProfiles(*options, *cases, session).run();
  });
}

} // namespace nereid::cli
