// SPDX-License-Identifier: Apache-2.0
#include "lib/cli/develop/KernelLadder.h"

#include "lib/bench/ladder/LadderReport.h"
#include "lib/cli/OptionUse.h"
#include "lib/cli/process/StandardStreams.h"
#include "lib/measure/peaks/ThisChip.h"
#include "lib/measure/results/Environment.h"
#include "lib/support/AtomicFile.h"
#include "lib/support/Interrupt.h"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <filesystem>

namespace nereid::cli {
namespace {

using Json = nlohmann::ordered_json;

/// Where and when, in a line.
std::string circumstances(const Machine &chip, const measure::Environment &environment,
                          const std::string &target) {
  return fmt::format("target {}, machine {}, {} threads, {}, revision {}\n", target, chip.name,
                     environment.threads, environment.date, environment.revision);
}

/// The Markdown, and the pictures beside it, which it names.
Status writeReport(const std::string &path, const std::string &head,
                   const std::vector<bench::Ladder> &ladders) {
  const std::filesystem::path file(path);
  std::string text = head;
  for (size_t i = 0; i < ladders.size(); ++i) {
    text += "\n" + bench::ladderMarkdown(ladders[i]);
    const std::string picture = bench::ladderPicture(ladders[i]);
    if (picture.empty()) {
      continue;
    }
    const std::string name = fmt::format("{}-{}.svg", file.stem().string(), i + 1);
    text += fmt::format("\n![{}]({})\n", ladders[i].name, name);
    if (Status done = writeFileAtomically((file.parent_path() / name).string(), picture); !done) {
      return done;
    }
  }
  return writeFileAtomically(path, text);
}

bool hasFailed(const bench::Ladder &ladder) {
  return std::any_of(ladder.rungs.begin(), ladder.rungs.end(),
                     [](const bench::Rung &rung) { return !rung.failure().empty(); });
}

} // namespace

std::optional<Diagnostic> unusedLadderOption(const CLI::App &command) {
  return unusedOption(command, "--ladder",
                      {"--ladder", "--report", "--target", "--chip", "--seconds-per-case",
                       "--import-path", "--blocking"});
}

void runKernelLadder(const KernelBenchOptions &options, Session &session) {
  const std::string &folder = options.given.kernel;
  std::error_code ignored;
  if (!std::filesystem::is_directory(folder, ignored)) {
    return session.fail(makeError("E0013", fmt::format("--ladder expects a folder of kernels, but "
                                                       "got '{}'",
                                                       folder)));
  }
  auto cases = launch::loadCases(folder);
  if (!cases) {
    return session.fail(cases.error());
  }
  auto plans = bench::ladderPlans(folder, *cases);
  if (!plans) {
    return session.fail(plans.error());
  }
  watchInterrupt();
  const Machine chip = measure::thisChip();
  const measure::Environment environment = measure::describeEnvironment(chip);
  const bench::KernelMeasurement how{.execution = {.target = options.target,
                                                   .chip = options.chip,
                                                   .importPaths = session.importPaths},
                                     .secondsPerCase = options.secondsPerCase};
  std::vector<bench::Ladder> ladders;
  for (const bench::LadderPlan &plan : *plans) {
    if (isInterrupted()) {
      break;
    }
    Diagnostics diags;
    auto ladder = bench::measureLadder(plan, *cases, how, chip, diags);
    if (!ladder) {
      return session.fail(diags);
    }
    printWarnings(diags);
    if (!session.json) {
      fmt::print("{}{}", ladders.empty() ? "" : "\n", bench::ladderText(*ladder));
    }
    if (hasFailed(*ladder)) {
      session.status = exitCheckFailed;
    }
    ladders.push_back(std::move(*ladder));
  }
  if (session.json) {
    Json all = {{"schema", 1},
                {"subject", std::filesystem::path(folder).lexically_normal().stem().string()},
                {"target", options.target},
                {"environment", Json::parse(measure::toJson(environment))},
                {"ladders", Json::array()}};
    for (const bench::Ladder &ladder : ladders) {
      all["ladders"].push_back(bench::ladderJson(ladder));
    }
    fmt::print("{}\n", all.dump(2));
  }
  if (!options.report.empty()) {
    const std::string head =
        fmt::format("# Ladders of {}\n\nEach rung's gain is over the one above, as the median over "
                    "turns in which all were timed.\n{}",
                    folder, circumstances(chip, environment, options.target));
    if (Status done = writeReport(options.report, head, ladders); !done) {
      return session.fail(done.error());
    }
  }
  if (isInterrupted()) {
    session.status = interruptStatus();
    printError("interrupted: the rungs above have fewer samples, or none\n");
  }
}

} // namespace nereid::cli
