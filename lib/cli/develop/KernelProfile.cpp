// SPDX-License-Identifier: Apache-2.0
// `nereid profile`: what kernels take of a device, and what they reach there. Cases of a folder run
// on a device in processes of their own, as those of `nereid bench` do (KernelBench.cpp): one that
// loses the device is the last one in its process.
#include "lib/bench/profile/ProfileReport.h"
#include "lib/cli/develop/KernelBench.h"
#include "lib/cli/process/ChildProcess.h"
#include "lib/cli/process/StandardStreams.h"
#include "lib/pipeline/Target.h"
#include "lib/support/Interrupt.h"

#include <CLI/CLI.hpp>
#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <filesystem>
#include <numeric>
#include <utility>

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
  using Numbers = std::vector<size_t>; ///< of cases

  bool isHere() const;
  /// False when a case cannot be profiled at all; the session has failed then.
  bool profileHere(const Numbers &numbers);
  bool profileInChildren(Numbers numbers);
  std::vector<std::string> childWords(const Numbers &numbers) const;
  void tell(ToldProfile profile);
  ToldProfile deadProfile(const KernelCase &one, const std::string &fate) const;

  const KernelBenchOptions &options;
  const std::vector<KernelCase> &cases;
  Session &session;
  std::vector<ToldProfile> told;
};

bool KernelProfiles::isHere() const {
  std::error_code ignored;
  return options.isInProcess || !options.reportTo.empty() ||
         !std::filesystem::is_directory(options.given.kernel, ignored) ||
         !pipeline::runsOnDevice(options.target);
}

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

bool KernelProfiles::profileHere(const Numbers &numbers) {
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

std::vector<std::string> KernelProfiles::childWords(const Numbers &numbers) const {
  std::vector<std::string> words = {"profile",
                                    options.given.kernel,
                                    "--target",
                                    options.target,
                                    "--seconds-per-case",
                                    fmt::format("{}", options.secondsPerCase),
                                    "--numbers",
                                    fmt::format("{}", fmt::join(numbers, ","))};
  if (!options.chip.empty()) {
    words.insert(words.end(), {"--chip", options.chip});
  }
  if (!options.caseName.empty()) {
    words.insert(words.end(), {"--case", options.caseName});
  }
  for (const std::string &folder : session.importPaths) {
    words.insert(words.end(), {"--import-path", folder});
  }
  if (session.json) {
    words.emplace_back("--json");
  }
  return words;
}

bool KernelProfiles::profileInChildren(Numbers numbers) {
  while (!numbers.empty() && !isInterrupted()) {
    const ChildResult child = runChild(childWords(numbers));
    if (child.report) {
      const Json &profiles = (*child.report)["profiles"];
      if (profiles.empty()) {
        break; // interrupted
      }
      for (const Json &one : profiles) {
        tell({.text = one["text"], .json = one["json"], .failed = one["failed"]});
      }
      numbers.erase(numbers.begin(),
                    numbers.begin() + static_cast<std::ptrdiff_t>(profiles.size()));
    } else if (child.fate.empty()) { // it has said what it could not do
      session.status = child.status;
      return false;
    } else if (numbers.size() == 1) {
      tell(deadProfile(cases[numbers.front()], child.fate));
      numbers.clear();
    } else { // each of them alone
      for (const size_t number : std::exchange(numbers, {})) {
        if (!profileInChildren({number})) {
          return false;
        }
      }
    }
  }
  return true;
}

void KernelProfiles::run() {
  const bool isChild = !options.reportTo.empty();
  Numbers numbers(cases.size());
  std::iota(numbers.begin(), numbers.end(), size_t(0));
  if (isChild) {
    endWithParent();
    numbers = options.numbers;
    std::erase_if(numbers, [&](size_t number) { return number >= cases.size(); });
  }
  if (!(isHere() ? profileHere(numbers) : profileInChildren(numbers))) {
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

void addProfile(CLI::App &app, Session &session) {
  auto options = std::make_shared<KernelBenchOptions>();
  CLI::App *command = app.add_subcommand(
      "profile", "what a kernel takes of a device and what it reaches: time, registers, shared "
                 "memory, occupancy, waves");
  command->add_option("kernel", options->given.kernel, "kernels/OP or FILE.py[:function]")
      ->required();
  command
      ->add_option("--target", options->target,
                   "a device, nvidia:0; or an architecture, nvidia:sm_90a, for all but the time")
      ->required();
  command->add_option("--chip", options->chip,
                      "descriptor of the device: its rates and processors");
  command->add_option("--seconds-per-case", options->secondsPerCase, "timing budget")
      ->check(CLI::Range(0.001, 3600.0));
  addKernelBenchOptions(*command, *options);
  addProcessOptions(*command, *options);
  addImportPaths(*command, session);
  command->callback([options, command, &session] {
    const std::string &input = options->given.kernel;
    if (!isKernelBench(input)) {
      return session.fail(makeError("E0013", "profile expects kernels/OP with cases.toml or "
                                             "FILE.py, but got '" +
                                                 input + "'"));
    }
    if (auto unused = unusedBenchOption(*command, input)) {
      return session.fail(*unused);
    }
    auto cases = benchCases(*options);
    if (!cases) {
      return session.fail(cases.error());
    }
    watchInterrupt();
    KernelProfiles(*options, *cases, session).run();
  });
}

} // namespace nereid::cli
