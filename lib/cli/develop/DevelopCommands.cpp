// SPDX-License-Identifier: Apache-2.0
// `nereid develop`, its five stages as commands of their own, and what they print.
#include "lib/bench/Against.h"
#include "lib/cli/Command.h"
#include "lib/cli/OptionUse.h"
#include "lib/cli/develop/Against.h"
#include "lib/cli/develop/BackwardDefinition.h"
#include "lib/cli/develop/DevelopReport.h"
#include "lib/cli/develop/KernelBench.h"
#include "lib/cli/develop/KernelVerify.h"
#include "lib/cli/process/ChildProcess.h"
#include "lib/cli/process/Progress.h"
#include "lib/definition/Limits.h"
#include "lib/develop/Develop.h"
#include "lib/develop/InterfaceTable.h"
#include "lib/develop/edits/FolderDiff.h"
#include "lib/report/GateReport.h"
#include "lib/report/Table.h"
#include "lib/support/Interrupt.h"

#include <CLI/CLI.hpp>
#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <filesystem>

namespace nereid::cli {

using launch::Execution;

using develop::Development;
using develop::StageResult;

namespace {

struct Options {
  std::string input, out, against, start, mode;
  std::vector<std::string> dtypes;
  bool requiresTarget = false, isBackward = false;
  std::vector<std::string> by; ///< inputs to differentiate by
  develop::DevelopOptions develop;
};

bool isDefinition(const std::string &path) {
  return std::filesystem::path(path).extension() == ".toml";
}

/// In the place of the definition the one of its backward operator.
Status turnBackward(Options &options, const Session &session, Diagnostics &diags) {
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
Result<std::unique_ptr<Development>> open(Options &options, const Session &session,
                                          Progress &progress, Diagnostics &diags) {
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
  if (!options.mode.empty()) {
    auto mode = develop::parseMode(options.mode);
    if (!mode) {
      return mode.error();
    }
    options.develop.mode = *mode;
  }
  if (Status known = develop::checkLeastSpeedup(options.develop.leastSpeedup); !known) {
    return known.error();
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
  std::string directory =
      options.out.empty() ? std::filesystem::path(options.input).stem().string() : options.out;
  return Development::fromDefinition(options.input, directory, options.develop, diags);
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

enum class Until { Generate, Verify, Bench, Optimize };

void runStages(Options &options, Until until, Session &session) {
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
  printJson(development, against, session);
  if (session.json) {
    return;
  }
  printKept(options.develop.keepIn, development.accuracy().kept);
  if (!isComplete && isInterrupted()) {
    fmt::print("interrupted: what is done is kept; run the same command again to go on\n");
  }
  fmt::print("Folder: {}\n", development.project().directory());
}

void addBackward(CLI::App &command, Options &options) {
  command.add_flag("--backward", options.isBackward,
                   "of the definition's backward operator, which is written into its folder");
  command.add_option("--by", options.by, "with --backward: the inputs to differentiate by")
      ->delimiter(',');
}

CLI::App *addStage(CLI::App &app, const std::string &name, const std::string &summary,
                   const std::string &inputHelp, std::shared_ptr<Options> options) {
  CLI::App *command = app.add_subcommand(name, summary);
  command->add_option("input", options->input, inputHelp)->required();
  command->add_option("--out", options->out, "folder; default: the definition's name");
  command->add_option("--target", options->develop.target,
                      "cpu, cpu:x86-64-v3, nvidia:0, nvidia:sm_90a and the like");
  command->add_option("--chip", options->develop.chipFile, chipHelp);
  command->add_option("--dtype", options->dtypes, "only these of the definition's types");
  command->add_flag("--fresh", options->develop.isFresh, "forget recorded results");
  addBackward(*command, *options);
  return command;
}

void addStart(CLI::App &command, Options &options) {
  command.add_option("--start", options.start,
                     "schedules to begin with: rule, or naive to see the way from there");
}

void addSeed(CLI::App &command, Options &options) {
  command
      .add_option("--seed", options.develop.seed,
                  "of the cases and their data; drawn and printed without it")
      ->check(CLI::NonNegativeNumber);
}

void addMode(CLI::App &command, Options &options) {
  command.add_option("--mode", options.mode,
                     "how to look for the quickest form of the operator: default, reduce-overhead, "
                     "max-autotune, max-autotune-no-graphs");
  command.add_option("--min-speedup", options.develop.leastSpeedup,
                     "over the eager form, from which on the compiled one takes its place; 1.2");
}

void addRounds(CLI::App &command, Options &options) {
  addStart(command, options);
  command
      .add_option("--rounds", options.develop.rounds,
                  "optimisation rounds at most, those of earlier runs included")
      ->check(CLI::Range(0, static_cast<int>(definition::mostRounds)));
  command.add_flag("--require-target", options.requiresTarget,
                   "exit 1 when the definition's speed-up is not reached");
}

const std::vector<std::string> modeOptions = {"--mode", "--min-speedup"};

void noteMode(const CLI::App &command, Options &options) {
  options.develop.isModeAsked =
      std::any_of(modeOptions.begin(), modeOptions.end(),
                  [&](const std::string &name) { return command.count(name) > 0; });
}

/// What every stage of an operator reads; a folder stays where it is, so that only a definition
/// takes --out.
std::vector<std::string> stageOptions(const Options &options, std::vector<std::string> more) {
  more.insert(more.end(), {"--target", "--chip", "--dtype", "--fresh"});
  if (isDefinition(options.input)) {
    more.insert(more.end(), {"--out", "--backward", "--by"});
  }
  return more;
}

/// Runs the stages when the options that are given mean something for them.
void runStagesWith(const CLI::App &command, const std::vector<std::string> &more, Options &options,
                   Until until, Session &session) {
  const char *input = isDefinition(options.input) ? "a definition" : "an operator's folder";
  if (auto unused = unusedOption(command, input, stageOptions(options, more))) {
    return session.fail(*unused);
  }
  runStages(options, until, session);
}

const std::vector<std::string> roundOptions = {"--seed",        "--rounds", "--require-target",
                                               "--import-path", "--start",  "--blocking"};

/// `generate --check`: compares the files of a folder and writes none.
void checkInterfacesOf(const CLI::App &command, const std::string &input, Session &session) {
  if (isDefinition(input)) {
    return session.fail(
        makeError("E0013", "--check expects an operator's folder, but got '" + input + "'")
            .withHelp("nereid generate DEF.toml --out DIR makes one"));
  }
  if (auto unused = unusedOption(command, "--check", {"--check"})) {
    return session.fail(*unused);
  }
  Diagnostics diags;
  auto report = develop::checkFolder(input, diags);
  if (!report) {
    return session.fail(diags, report.error());
  }
  if (!session.json) {
    fmt::print("Interfaces of the files against the definition\n{}",
               develop::interfaceTable(*report));
  } else {
    fmt::print("{}\n",
               nlohmann::ordered_json({{"folder", input}, {"agrees", report->agrees}}).dump(2));
  }
  if (!report->agrees) {
    session.fail(diags);
  }
}

} // namespace

void addDevelop(CLI::App &app, Session &session) {
  auto options = std::make_shared<Options>();
  CLI::App *command = addStage(app, "develop", "all five stages of an operator, one after another",
                               "DEF.toml", options);
  addSeed(*command, *options);
  addRounds(*command, *options);
  addMode(*command, *options);
  command->add_option("--seconds-per-case", options->develop.secondsPerCase, "timing budget")
      ->check(CLI::Range(0.001, 3600.0));
  addBlocking(*command);
  addImportPaths(*command, session);
  command->callback([options, command, &session] {
    std::vector<std::string> used = roundOptions;
    used.emplace_back("--seconds-per-case");
    used.insert(used.end(), modeOptions.begin(), modeOptions.end());
    noteMode(*command, *options);
    runStagesWith(*command, used, *options, Until::Optimize, session);
  });
}

void addGenerate(CLI::App &app, Session &session) {
  auto options = std::make_shared<Options>();
  CLI::App *command = addStage(app, "generate", "write the definition document and the four files",
                               "DEF.toml, or DIR with --check", options);
  addStart(*command, *options);
  auto isCheck = std::make_shared<bool>(false);
  command->add_flag("--check", *isCheck,
                    "only compare the interfaces of a folder's files; exit 2 where they differ");
  command->callback([options, isCheck, command, &session] {
    if (*isCheck) {
      return checkInterfacesOf(*command, options->input, session);
    }
    runStagesWith(*command, {"--start"}, *options, Until::Generate, session);
  });
}

void addVerify(CLI::App &app, Session &session) {
  auto options = std::make_shared<Options>();
  CLI::App *command = addStage(app, "verify", "accuracy over the case grid; exit 1 when it fails",
                               "DIR, DEF.toml or kernels/OP", options);
  addSeed(*command, *options);
  auto execution = std::make_shared<Execution>();
  command->add_flag("--interpret", execution->interpret, "kernels/OP in the interpreter");
  command->add_option("--runner", execution->runner,
                      "kernels/OP there: \"ssh board ./nereid-runner\"");
  command->add_option("--case", options->develop.onlyCase,
                      "only this case, named as the table and --json name it");
  command->add_option("--dump", options->develop.keepIn,
                      "folder for tensors and command of the first case that fails, or of --case");
  auto verify = std::make_shared<KernelVerifyOptions>();
  addProcessOptions(*command, verify->isInProcess, verify->reportTo);
  addBlocking(*command);
  addImportPaths(*command, session);
  command->callback([options, execution, verify, command, &session] {
    const develop::DevelopOptions &settings = options->develop;
    execution->target = settings.target;
    execution->chip = settings.chipFile;
    if (isKernelBench(options->input)) {
      if (auto unused = unusedOption(*command, "a folder of kernels",
                                     {"--target", "--chip", "--seed", "--interpret", "--runner",
                                      "--case", "--dump", "--in-process", reportOption,
                                      "--import-path", "--blocking"})) {
        return session.fail(*unused);
      }
      execution->importPaths = session.importPaths;
      runKernelVerify({options->input, *execution, settings.seed, settings.onlyCase,
                       settings.keepIn, verify->isInProcess, verify->reportTo},
                      session);
    } else if (!execution->runner.empty()) {
      session.fail(makeError("E0013", "--runner expects kernels/OP, but '" + options->input +
                                          "' has no cases.toml")
                       .withHelp("operators are verified on the machine that develops them"));
    } else {
      runStagesWith(*command, {"--seed", "--case", "--dump", "--import-path", "--blocking"},
                    *options, Until::Verify, session);
    }
  });
}

void addOptimize(CLI::App &app, Session &session) {
  auto options = std::make_shared<Options>();
  CLI::App *command =
      addStage(app, "optimize", "rounds of diagnose, change, verify, measure, log", "DIR", options);
  addSeed(*command, *options);
  addRounds(*command, *options);
  addBlocking(*command);
  addImportPaths(*command, session);
  command->callback([options, command, &session] {
    runStagesWith(*command, roundOptions, *options, Until::Optimize, session);
  });
}

void addBench(CLI::App &app, Session &session) {
  auto options = std::make_shared<Options>();
  auto kernel = std::make_shared<KernelBenchOptions>();
  CLI::App *command = addStage(app, "bench", "performance, only after accuracy passed",
                               "DIR, DEF.toml, kernels/OP or FILE.py[:function]", options);
  addSeed(*command, *options);
  addMode(*command, *options);
  command->add_option("--seconds-per-case", options->develop.secondsPerCase, "timing budget")
      ->check(CLI::Range(0.001, 3600.0));
  command->add_option("--against", options->against,
                      "an earlier result file; exit 1 when a case is slower now");
  addKernelBenchOptions(*command, *kernel);
  addProcessOptions(*command, *kernel);
  addBlocking(*command);
  addImportPaths(*command, session);
  command->callback([options, kernel, command, &session] {
    if (isResultFile(options->input)) {
      if (auto unused = unusedOption(*command, "a result file", {"--against"})) {
        return session.fail(*unused);
      }
      runCompareFiles(options->input, options->against, session);
    } else if (isKernelBench(options->input)) {
      if (auto unused = unusedBenchOption(*command, options->input)) {
        return session.fail(*unused);
      }
      kernel->against = options->against;
      kernel->given.kernel = options->input;
      kernel->target = options->develop.target;
      kernel->chip = options->develop.chipFile;
      kernel->secondsPerCase = options->develop.secondsPerCase;
      runKernelBench(*kernel, session);
    } else {
      std::vector<std::string> used = {"--seed", "--seconds-per-case", "--import-path", "--against",
                                       "--blocking"};
      used.insert(used.end(), modeOptions.begin(), modeOptions.end());
      noteMode(*command, *options);
      runStagesWith(*command, used, *options, Until::Bench, session);
    }
  });
}

} // namespace nereid::cli
