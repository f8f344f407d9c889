// SPDX-License-Identifier: Apache-2.0
// `nereid check`: one launch, or the cases of a kernel, under the interpreter with every access
// watched. Findings are the result and go to standard output; status 1 says that there are some.
// With --target a launch without findings is made there too, and has to leave the same.
#include "lib/check/Check.h"
#include "lib/cli/Command.h"
#include "lib/cli/OptionUse.h"
#include "lib/launch/TargetAgreement.h"
#include "lib/pipeline/Target.h"

#include <CLI/CLI.hpp>
#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <cstdio>

namespace nereid::cli {

using launch::KernelCase;

namespace {

struct CheckCommandOptions {
  KernelCase given; ///< what the command line says of it
  std::string caseName;
  size_t maxReports = 20;
  check::CheckOptions check;
  launch::Execution companion; ///< what the launch is compared on; target "": nowhere
  /// Nothing where the companion's launches can be made.
  std::optional<Diagnostic> noDevice;
  bool isArchitecture = false; ///< what the companion is compiled for is known without a device

  bool hasCompanion() const { return !companion.target.empty(); }
};

/// The launches of cases.toml that the command line asks for: one by name, or all for tests of the
/// folder, file or function.
Result<std::vector<KernelCase>> namedCases(const CheckCommandOptions &options) {
  auto cases = launch::casesNamedBy(options.given.kernel);
  if (!cases) {
    Diagnostic error = cases.error();
    return error.code == "E0001" ? error.withHelp("give --signature, --grid and --arg, or a kernel "
                                                  "beside a cases.toml")
                                 : error;
  }
  if (!options.caseName.empty() && !cases->empty()) {
    auto chosen = launch::chooseCases(options.given.kernel, *cases, options.caseName);
    if (!chosen) {
      return chosen;
    }
    cases = std::move(chosen);
  } else {
    std::erase_if(*cases, [](const KernelCase &one) { return !one.isTest; });
  }
  if (cases->empty()) {
    return makeError("E0016", fmt::format("'{}' has no case for test", options.given.kernel))
        .withHelp("give --signature, --grid and --arg instead");
  }
  for (KernelCase &one : *cases) {
    one.addArguments(options.given.arguments);
  }
  return cases;
}

/// Parameters whose value is made by `empty`: their tensors have no contents.
std::set<std::string> emptyTensors(const std::vector<std::string> &arguments) {
  std::set<std::string> names;
  for (const std::string &argument : arguments) {
    const size_t equals = argument.find('=');
    const size_t value = argument.find_first_not_of(' ', equals + 1);
    const std::string name = argument.substr(0, equals);
    if (value != std::string::npos && argument.compare(value, 6, "empty(") == 0) {
      names.insert(name);
    } else {
      names.erase(name);
    }
  }
  return names;
}

std::string countText(uint64_t count, const char *singular, const char *plural) {
  return fmt::format("{} {}", count, count == 1 ? singular : plural);
}

nlohmann::ordered_json toJson(const check::Report &report) {
  Diagnostics one;
  one.add(report.diagnostic);
  auto object = nlohmann::ordered_json::parse(one.renderJson()).front();
  object["occurrences"] = report.occurrences;
  object["programs"] = report.programs;
  return object;
}

void print(const KernelCase &one, const CheckCommandOptions &options,
           const std::vector<check::Report> &reports) {
  for (size_t i = 0; i < std::min(reports.size(), options.maxReports); ++i) {
    Diagnostic shown = reports[i].diagnostic;
    if (reports[i].occurrences > 1) {
      shown.note(fmt::format("first of {} in {}",
                             countText(reports[i].occurrences, "occurrence", "occurrences"),
                             countText(reports[i].programs, "program", "programs")));
    }
    fmt::print("{}", render(shown));
  }
  if (reports.size() > options.maxReports) {
    fmt::print("{} more; --max-reports shows them\n", reports.size() - options.maxReports);
  }
  std::string result =
      reports.empty() ? "no findings" : countText(reports.size(), "finding", "findings");
  if (reports.empty() && options.hasCompanion() && (!options.noDevice || options.isArchitecture)) {
    result += (options.noDevice ? ", compiles for " : ", the same on ") + options.companion.target;
  }
  fmt::print("{}{}: {}\n", one.kernel, one.name.empty() ? "" : ", case " + one.name, result);
}

/// The same launch on the target, as far as it can be made there. False after an error, which has
/// been reported.
bool compareOnTarget(const KernelCase &one, const CheckCommandOptions &options,
                     const launch::KernelArguments &interpreted,
                     std::vector<check::Report> &reports, Session &session) {
  Diagnostics diags;
  launch::Execution execution = options.companion;
  execution.importPaths = session.importPaths;
  if (options.noDevice && !options.isArchitecture) {
    return true;
  }
  if (options.noDevice) {
    const bool isCompiled = launch::compileCase(one, execution, diags);
    isCompiled ? printWarnings(diags) : session.fail(diags);
    return isCompiled;
  }
  auto found = launch::disagreements(one, execution, interpreted, diags);
  if (!found) {
    session.fail(diags, found.error());
    return false;
  }
  printWarnings(diags);
  for (Diagnostic &difference : *found) {
    reports.push_back({std::move(difference)});
  }
  return true;
}

/// Nothing after an error, which has been reported.
std::optional<std::vector<check::Report>>
checkCase(const KernelCase &one, const CheckCommandOptions &options, Session &session) {
  Diagnostics diags;
  auto prepared =
      launch::prepareCase(one, {.interpret = true, .importPaths = session.importPaths}, diags);
  if (!prepared) {
    session.fail(diags, prepared.error());
    return std::nullopt;
  }
  check::CheckOptions checkOptions = options.check;
  checkOptions.emptyTensors = emptyTensors(one.arguments);
  std::vector<check::Report> reports;
  if (!check::checkKernel(prepared->kernel.compileInput(), prepared->grid,
                          prepared->arguments.values(), checkOptions, reports, diags)) {
    session.fail(diags);
    return std::nullopt;
  }
  printWarnings(diags);
  // What has findings may do anything elsewhere.
  if (reports.empty() && options.hasCompanion() &&
      !compareOnTarget(one, options, prepared->arguments, reports, session)) {
    return std::nullopt;
  }
  return reports;
}

/// Looks for the device before anything is checked.
void findCompanion(CheckCommandOptions &options) {
  if (options.hasCompanion() && options.companion.runner.empty() &&
      pipeline::runsOnDevice(options.companion.target)) {
    auto device = pipeline::deviceFor(options.companion.target);
    options.noDevice = device ? std::nullopt : std::optional(device.error());
    options.isArchitecture =
        bool(pipeline::findTarget(options.companion.target, options.companion.chip));
  }
}

void checkCommand(CheckCommandOptions options, Session &session) {
  findCompanion(options);
  auto cases = options.given.signature.empty() ? namedCases(options)
                                               : std::vector<KernelCase>{options.given};
  if (!cases) {
    return session.fail(cases.error());
  }
  nlohmann::ordered_json json = nlohmann::ordered_json::array();
  for (const KernelCase &one : *cases) {
    auto reports = checkCase(one, options, session);
    if (!reports) {
      return;
    }
    if (!reports->empty()) {
      session.status = exitCheckFailed;
    }
    if (!session.json) {
      print(one, options, *reports);
      std::fflush(stdout); // what is found stays, whatever ends the command
      continue;
    }
    nlohmann::ordered_json findings = nlohmann::ordered_json::array();
    for (size_t i = 0; i < std::min(reports->size(), options.maxReports); ++i) {
      findings.push_back(toJson((*reports)[i]));
    }
    json.push_back({{"kernel", one.kernel},
                    {"case", one.name},
                    {"count", reports->size()},
                    {"findings", findings}});
  }
  if (session.json) {
    fmt::print("{}\n", json.dump(2));
  }
  if (options.noDevice) {
    Diagnostic noDevice = *options.noDevice;
    noDevice.note(fmt::format("{}: checked{}, and not run there",
                              countText(cases->size(), "launch", "launches"),
                              options.isArchitecture ? " and compiled" : ""));
    session.fail(noDevice);
  }
}

} // namespace

void addCheck(CLI::App &app, Session &session) {
  auto options = std::make_shared<CheckCommandOptions>();
  options->companion.target.clear();
  CLI::App *command = app.add_subcommand(
      "check", "find bad accesses, races, overflows and broken hints of a kernel");
  command
      ->add_option("kernel", options->given.kernel,
                   "FILE.py[:function], or kernels/OP; without --signature its cases are checked")
      ->required();
  command->add_option("--signature,-s", options->given.signature,
                      "types, e.g. \"*fp32:16, i32, 1024\" or by name");
  command->add_option("--grid,-g", options->given.grid, "e.g. \"cdiv(n, BLOCK), 1, 1\"");
  command->add_option("--arg,-a", options->given.arguments,
                      "name=randn(1024,seed=1), name=x.npy, name=7; empty(…) has no contents");
  command->add_option("--case", options->caseName, "one case of kernels/OP/cases.toml");
  command->add_option("--resident", options->check.residentPrograms,
                      "programs a chip runs at a time; 0, any number");
  addImportPaths(*command, session);
  command->add_option("--schedule", options->check.schedule,
                      "order of the programs: in-order, round-robin or random");
  command->add_option("--seed", options->check.seed, "of the random schedule")
      ->check(wholeNumber());
  command->add_option("--target", options->companion.target,
                      "launch there too and compare: cpu, nvidia:0 and the like");
  command->add_option("--chip", options->companion.chip, chipHelp);
  command->add_option("--runner", options->companion.runner,
                      "launch it there: \"ssh board ./nereid-runner\" (nereid explain E0414)");
  command->add_option("--max-reports", options->maxReports, "how many findings to show, 20");
  command->callback([options, command, &session] {
    std::vector<std::string> used = {"--arg",      "--resident",    "--import-path",
                                     "--schedule", "--max-reports", "--target"};
    if (options->hasCompanion()) {
      used.insert(used.end(), {"--chip", "--runner"});
    }
    const bool hasSignature = !options->given.signature.empty();
    if (hasSignature) {
      used.insert(used.end(), {"--signature", "--grid"});
    } else {
      used.emplace_back("--case");
    }
    if (options->check.schedule == "random") {
      used.emplace_back("--seed");
    }
    const char *input = hasSignature ? "a launch with --signature" : "the cases of kernels/OP";
    if (auto unused = unusedOption(*command, input, used)) {
      return session.fail(*unused);
    }
    checkCommand(*options, session);
  });
}

} // namespace nereid::cli
