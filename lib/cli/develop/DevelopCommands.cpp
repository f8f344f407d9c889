// SPDX-License-Identifier: Apache-2.0
// `nereid develop`, its five stages as commands of their own, and what they print.
#include "lib/cli/Command.h"
#include "lib/cli/OptionUse.h"
#include "lib/cli/develop/Against.h"
#include "lib/cli/develop/DevelopStages.h"
#include "lib/cli/develop/KernelBench.h"
#include "lib/cli/develop/KernelLadder.h"
#include "lib/cli/develop/KernelVerify.h"
#include "lib/cli/process/ChildProcess.h"
#include "lib/cli/sweep/DevelopAll.h"
#include "lib/definition/Limits.h"
#include "lib/develop/InterfaceTable.h"
#include "lib/develop/edits/FolderDiff.h"
#include "lib/pipeline/Target.h"

#include <CLI/CLI.hpp>
#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <filesystem>

namespace nereid::cli {

using launch::Execution;
using Options = StageOptions;

namespace {

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
  command->add_option("-o,--out", options->out, "folder; default: the definition's name");
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

void addLanguage(CLI::App &command, Options &options) {
  command.add_option("--language", options.language,
                     "of baseline, accuracy and performance: cpp, python or both; a folder keeps "
                     "the files that it has");
}

void addSeed(CLI::App &command, Options &options) {
  command
      .add_option("--seed", options.develop.seed,
                  "of the cases and their data; drawn and printed without it")
      ->check(wholeNumber());
}

void addMode(CLI::App &command, Options &options) {
  command.add_option("--mode", options.mode,
                     "how to look for the quickest form of the operator: default, reduce-overhead, "
                     "max-autotune, max-autotune-no-graphs");
  command
      .add_option(
          "--min-speedup", options.develop.leastSpeedup,
          "over the eager form, from which on the compiled one takes its place: 1.2; 1 takes "
          "it wherever it is not slower")
      ->check(between(1.0, 1e6));
}

void addRounds(CLI::App &command, Options &options) {
  addStart(command, options);
  command
      .add_option("--rounds", options.develop.rounds,
                  "optimisation rounds at most, those of earlier runs included")
      ->check(CLI::Range(0, static_cast<int>(definition::mostRounds)));
  command.add_flag("--conservative", options.develop.isConservative,
                   "rounds change one parameter at a time, and neither the kernel's form nor its "
                   "grid");
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

/// Python is asked for, and the folder has nothing else or is not there yet.
bool isForUpstreamAlone(const Options &options) {
  const bool isPython = options.language == generator::languageName(generator::Language::Python);
  const std::string folder = folderOf(options);
  if (!isPython || !generator::Project::isProject(folder)) {
    return isPython;
  }
  auto project = generator::Project::open(folder);
  return project && project->manifest.language == generator::Language::Python;
}

/// Upstream's compiler runs on devices: schedules are made for one, which need not be here.
void planForDevice(Options &options) {
  for (const std::string &vendor : pipeline::targetVendors()) {
    if (pipeline::runsOnDevice(vendor)) {
      options.develop.target = pipeline::targetAnywhere(vendor);
      return;
    }
  }
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

const std::vector<std::string> roundOptions = {"--conservative",   "--seed",        "--rounds",
                                               "--require-target", "--import-path", "--start",
                                               "--blocking"};

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

/// What each operator of a sweep is developed with, as it is given here.
const std::vector<std::string> sweptOptions = {
    "--target",      "--chip",     "--seed",        "--rounds",
    "--start",       "--mode",     "--min-speedup", "--seconds-per-case",
    "--import-path", "--blocking", "--language"};

std::vector<std::string> givenWords(const CLI::App &command) {
  std::vector<std::string> words;
  for (const std::string &name : sweptOptions) {
    const CLI::Option *option = command.get_option(name);
    const bool isFlag = option->get_items_expected_max() == 0;
    for (const std::string &value : option->results()) {
      words.push_back(name);
      if (!isFlag) {
        words.push_back(value);
      }
    }
  }
  return words;
}

/// `develop --all`: options that no operator could be developed with are refused before the first.
void developAll(const CLI::App &command, Options &options, Session &session) {
  std::vector<std::string> used = sweptOptions;
  used.insert(used.end(), {"--all", "--out", "--dtype", "--fresh", "--require-target",
                           "--seconds-per-operator"});
  if (auto unused = unusedOption(command, "--all", used)) {
    return session.fail(*unused);
  }
  if (isDefinition(options.input)) {
    return session.fail(
        makeError("E0013", "--all expects a folder of definitions, but got '" + options.input + "'")
            .withHelp("leave --all out to develop one definition"));
  }
  Status read = readWords(options);
  if (auto target = pipeline::findTarget(options.develop.target); read && !target) {
    read = target.error();
  }
  if (!options.develop.chipFile.empty() && read) {
    if (auto chip = loadMachine(options.develop.chipFile); !chip) {
      read = chip.error();
    }
  }
  if (!read) {
    return session.fail(read.error());
  }
  runDevelopAll({options.input, options.out, options.develop.target, options.develop.chipFile,
                 options.develop.dtypes, options.develop.isFresh, options.requiresTarget,
                 options.secondsPerOperator, givenWords(command)},
                session);
}

} // namespace

void addDevelop(CLI::App &app, Session &session) {
  auto options = std::make_shared<Options>();
  CLI::App *command = addStage(app, "develop", "all five stages of an operator, one after another",
                               "DEF.toml, or with --all a folder of them", options);
  command->get_option("input")->required(false);
  command->add_flag("--all", options->isAll,
                    "every definition below the folder, those that ship with nereid without one; "
                    "goes on where it was ended");
  command
      ->add_option("--seconds-per-operator", options->secondsPerOperator,
                   "with --all: an operator that takes longer is ended; 3600, 0 = never")
      ->check(between(0.0, 1e9));
  command->add_option(reportOption, options->reportTo)->group(""); // between our own processes
  addSeed(*command, *options);
  addRounds(*command, *options);
  addMode(*command, *options);
  addLanguage(*command, *options);
  command->add_option("--seconds-per-case", options->develop.secondsPerCase, "timing budget")
      ->check(between(0.001, 3600.0));
  addBlocking(*command);
  addImportPaths(*command, session);
  command->callback([options, command, &session] {
    if (options->isAll) {
      return developAll(*command, *options, session);
    }
    if (options->input.empty()) {
      return session.fail(makeError("E0013", "develop expects a definition")
                              .withHelp("name one, or give --all for those that ship with nereid"));
    }
    std::vector<std::string> used = roundOptions;
    used.insert(used.end(), {"--seconds-per-case", reportOption});
    if (isDefinition(options->input)) {
      used.emplace_back("--language");
    }
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
  addLanguage(*command, *options);
  auto isCheck = std::make_shared<bool>(false);
  command->add_flag("--check", *isCheck,
                    "only compare the interfaces of a folder's files; exit 2 where they differ");
  command->callback([options, isCheck, command, &session] {
    if (*isCheck) {
      return checkInterfacesOf(*command, options->input, session);
    }
    std::vector<std::string> used = {"--start"};
    if (isDefinition(options->input)) {
      used.emplace_back("--language");
    }
    if (command->count("--target") == 0 && isForUpstreamAlone(*options)) {
      planForDevice(*options);
    }
    runStagesWith(*command, used, *options, Until::Generate, session);
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
      std::vector<std::string> used = {"--seed",       "--case",     "--dump",
                                       "--in-process", reportOption, "--import-path"};
      std::string input = "a folder of kernels";
      if (execution->interpret) {
        used.emplace_back("--interpret");
        input += " in the interpreter";
      } else {
        used.insert(used.end(), {"--target", "--chip", "--runner", "--blocking"});
      }
      if (auto unused = unusedOption(*command, input, used)) {
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
      ->check(between(0.001, 3600.0));
  command->add_option("--against", options->against,
                      "an earlier result file; exit 1 when a case is slower now");
  addKernelBenchOptions(*command, *kernel);
  command->add_option("--sweep", kernel->formulas.sweep,
                      "name=value,value…: a launch of a single .py kernel for each, whose tensors "
                      "may have sizes such as n");
  command->add_flag("--ladder", kernel->isLadder,
                    "the rungs of kernels/OP in the same turns, with each one's gain");
  command->add_option("--report", kernel->report,
                      "with --ladder or --sweep: a Markdown file for it, pictures beside it");
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
      if (auto unused = kernel->isLadder ? unusedLadderOption(*command)
                                         : unusedBenchOption(*command, options->input)) {
        return session.fail(*unused);
      }
      kernel->against = options->against;
      kernel->given.kernel = options->input;
      kernel->target = options->develop.target;
      kernel->chip = options->develop.chipFile;
      kernel->secondsPerCase = options->develop.secondsPerCase;
      kernel->isLadder ? runKernelLadder(*kernel, session) : runKernelBench(*kernel, session);
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
