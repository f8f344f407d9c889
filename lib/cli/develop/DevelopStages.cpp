// SPDX-License-Identifier: Apache-2.0
#include "lib/cli/develop/DevelopStages.h"

#include "lib/bench/Against.h"
#include "lib/cli/develop/Against.h"
#include "lib/cli/develop/BackwardDefinition.h"
#include "lib/cli/develop/DevelopReport.h"
#include "lib/cli/develop/KernelVerify.h"
#include "lib/cli/process/ChildProcess.h"
#include "lib/cli/process/Progress.h"
#include "lib/report/GateReport.h"
#include "lib/support/Interrupt.h"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <filesystem>

namespace nereid::cli {

using develop::Development;
using develop::StageResult;

namespace {

constexpr const char *leftOutText = "accuracy has not passed, and nothing unverified is timed";

/// In the place of the definition the one of its backward operator.
Status turnBackward(StageOptions &options, const Session &session, Diagnostics &diags) {
  auto written = writeBackward(options.input, options.out, options.by,
                               options.develop.seed.value_or(1), diags);
  if (!written) {
    return written.error();
  }
  options.input = written->path;
  if (!session.json) {
    fmt::print("Gradient against finite differences: {} compared, largest error {:.1g}\n",
               written->compared, written->worstError);
  }
  return Done{};
}

/// The project named by a definition (made if needed) or by its folder.
Result<std::unique_ptr<Development>> open(StageOptions &options, const Session &session,
                                          Progress &progress, Diagnostics &diags) {
  if (Status read = readWords(options); !read) {
    return read.error();
  }
  watchInterrupt();
  if (!options.by.empty() && !options.isBackward) {
    return makeError("E0013", "--by expects --backward beside it");
  }
  if (options.isBackward) {
    if (Status turned = turnBackward(options, session, diags); !turned) {
      return turned.error();
    }
  }
  options.develop.importPaths = session.importPaths;
  options.develop.progress = [&progress](const std::string &line) { progress.show(line); };
  if (!isDefinition(options.input)) {
    return Development::fromProject(options.input, options.develop, diags);
  }
  return Development::fromDefinition(options.input, folderOf(options), options.develop, diags);
}

/// Fails the session for a diagnostic or an unhappy result; true when the next stage may run.
bool proceed(const Result<StageResult> &result, const Diagnostics &diags, Session &session) {
  if (!result) {
    if (diags.hasErrors()) {
      session.fail(diags);
    } else {
      session.fail(result.error());
    }
    return false;
  }
  if (*result == StageResult::Interrupted) {
    session.status = interruptStatus(); // neither done nor failed
    return false;
  }
  if (*result == StageResult::Failed) {
    session.status = exitCheckFailed;
  }
  return true;
}

/// The rows judged against the earlier file; printed, and in JSON returned.
Result<nlohmann::ordered_json>
judgePerformance(Development &development, const measure::ResultFile &earlier, Session &session) {
  auto recorded = [](const std::vector<develop::PerformanceRow> &rows) {
    std::vector<measure::RecordedCase> cases;
    for (const develop::PerformanceRow &row : rows) {
      cases.push_back(bench::recordedCase(row, std::string(torchName(row.dtype))));
    }
    return cases;
  };
  auto judged = bench::judgeAgainst(
      earlier, recorded(development.performance()), [&](const std::vector<std::string> &slower) {
        return recorded(development.measureCases([&](const std::string &name, DType dtype) {
          const std::string own = measure::recordedName(name, std::string(torchName(dtype)));
          return std::find(slower.begin(), slower.end(), own) != slower.end();
        }));
      });
  if (!judged) {
    return judged.error();
  }
  reportGate(*judged, session);
  return report::gateJson(*judged);
}

/// `results`: what --json prints, where there is anything.
void developUntil(StageOptions &options, Until until, Session &session,
                  nlohmann::ordered_json &results) {
  Progress progress(session.json);
  Diagnostics diags;
  auto opened = open(options, session, progress, diags);
  if (!opened) {
    return diags.hasErrors() ? session.fail(diags) : session.fail(opened.error());
  }
  Development &development = **opened;
  const auto &dtypes = options.develop.dtypes;
  auto earlier =
      bench::openEarlier(options.against, development.op().name, [&](const std::string &name) {
        return dtypes.empty() || std::any_of(dtypes.begin(), dtypes.end(), [&](DType dtype) {
                 return name.ends_with(measure::recordedName("", std::string(torchName(dtype))));
               });
      });
  if (!earlier) {
    return session.fail(earlier.error());
  }
  bool mayGoOn = proceed(development.writeDefinition(), diags, session) &&
                 proceed(development.generateFiles(diags), diags, session);
  bool isComplete = mayGoOn;
  if (mayGoOn && until >= Until::Verify) {
    isComplete = proceed(development.verify(diags), diags, session);
  }
  progress.end();
  printInterfaces(development, session);
  if (mayGoOn && until >= Until::Verify) {
    printAccuracy(development, session);
    mayGoOn = isComplete && session.status == exitDone;
  }
  const bool isLeftOut = until >= Until::Bench && isComplete && session.status == exitCheckFailed;
  if (isLeftOut && !session.json) {
    fmt::print("Performance: left out, {}\n", leftOutText);
  }
  if (mayGoOn && until >= Until::Bench) {
    mayGoOn = isComplete = proceed(development.bench(), diags, session);
  }
  if (mayGoOn && until >= Until::Optimize) {
    isComplete = proceed(development.optimize(), diags, session);
  }
  progress.end();
  const bool isUsable = session.status != exitBadInput && session.status != exitInternal;
  // First: what was measured stays, whatever becomes of the printing.
  if (isUsable) {
    if (auto finished = development.finish(); !finished) {
      return session.fail(finished.error());
    }
  }
  if (until >= Until::Bench) {
    printPrediction(development, session);
    printPerformance(development, session);
    printChoices(development, session);
    printRounds(development, session);
  }
  if (!isUsable) {
    return;
  }
  nlohmann::ordered_json against;
  if (*earlier && mayGoOn && !isInterrupted()) {
    auto judged = judgePerformance(development, **earlier, session);
    if (!judged) {
      return session.fail(judged.error());
    }
    against = std::move(*judged);
  }
  if (until >= Until::Optimize && !isInterrupted()) {
    printVerdict(development, session);
    if (options.requiresTarget && !development.isTargetMet().value_or(false)) {
      session.status = exitCheckFailed;
    }
  }
  printShares(development, session);
  results = developmentJson(development, against, session);
  if (isLeftOut) {
    results["performance_left_out"] = leftOutText;
  }
  if (session.json) {
    return fmt::print("{}\n", results.dump(2));
  }
  printKept(options.develop.keepIn, development.accuracy().kept);
  if (!isComplete && isInterrupted()) {
    fmt::print("interrupted: what is done is kept; run the same command again to go on\n");
  }
  fmt::print("Folder: {}\n", development.project().directory());
}

} // namespace

bool isDefinition(const std::string &path) {
  return std::filesystem::path(path).extension() == ".toml";
}

std::string folderOf(const StageOptions &options) {
  return options.out.empty() ? std::filesystem::path(options.input).stem().string() : options.out;
}

Status readWords(StageOptions &options) {
  for (const auto &name : options.dtypes) {
    auto dtype = parseDType(name);
    if (!dtype) {
      return makeError("E0605", fmt::format("unknown type '{}'", name))
          .withHelp("use float32, float16, bfloat16, float64 or an integer type");
    }
    options.develop.dtypes.push_back(*dtype);
  }
  if (!options.start.empty()) {
    options.develop.start = generator::parseStart(options.start);
    if (!options.develop.start) {
      return makeError("E0013", fmt::format("unknown start '{}'", options.start))
          .withHelp(fmt::format("--start takes {}", fmt::join(generator::startNames(), " or ")));
    }
  }
  if (!options.language.empty()) {
    options.develop.language = generator::parseLanguage(options.language);
    if (!options.develop.language) {
      return makeError("E0013", fmt::format("unknown language '{}'", options.language))
          .withHelp(
              fmt::format("--language takes {}", fmt::join(generator::languageNames(), ", ")));
    }
  }
  if (!options.mode.empty()) {
    auto mode = develop::parseMode(options.mode);
    if (!mode) {
      return mode.error();
    }
    options.develop.mode = *mode;
  }
  if (options.develop.isConservative && develop::searchesSchedules(options.develop.mode)) {
    return makeError("E0013", fmt::format("--conservative changes one parameter at a time, and "
                                          "--mode {} searches all of them",
                                          options.mode))
        .withHelp("leave one of them out");
  }
  return Done{};
}

void runStages(StageOptions &options, Until until, Session &session) {
  if (!options.reportTo.empty()) {
    endWithParent();
  }
  nlohmann::ordered_json results;
  developUntil(options, until, session, results);
  if (options.reportTo.empty()) {
    return;
  }
  nlohmann::ordered_json report;
  if (!results.is_null()) {
    report["development"] = std::move(results);
  }
  if (session.failure) {
    report["failure"] = {{"code", session.failure->code},
                         {"message", session.failure->message},
                         {"notes", session.failure->notes}};
  }
  if (!leaveReport(options.reportTo, report)) {
    session.status = exitInternal;
  }
}

} // namespace nereid::cli
