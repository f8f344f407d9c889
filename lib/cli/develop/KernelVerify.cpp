// SPDX-License-Identifier: Apache-2.0
#include "lib/cli/develop/KernelVerify.h"

#include "lib/bench/verification/CaseVerification.h"
#include "lib/cli/process/ChildProcess.h"
#include "lib/cli/process/StandardStreams.h"
#include "lib/launch/PreparedCase.h"
#include "lib/pipeline/Target.h"
#include "lib/report/Table.h"
#include "lib/support/Interrupt.h"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <filesystem>
#include <random>
#include <set>

namespace nereid::cli {

using Json = nlohmann::ordered_json;

namespace {

/// A command line that verifies the same folder in the same way.
std::vector<std::string> verifyCommand(const KernelVerifyOptions &options) {
  std::error_code ignored;
  auto absolute = [&](const std::string &path) {
    return std::filesystem::absolute(path, ignored).lexically_normal().string();
  };
  const launch::Execution &execution = options.execution;
  std::vector<std::string> words = {"nereid", "verify", absolute(options.input)};
  if (execution.interpret) {
    words.emplace_back("--interpret");
  } else {
    words.insert(words.end(), {"--target", execution.target});
  }
  if (!execution.chip.empty()) {
    words.insert(words.end(), {"--chip", absolute(execution.chip)});
  }
  if (!execution.runner.empty()) {
    words.insert(words.end(), {"--runner", execution.runner});
  }
  for (const std::string &folder : execution.importPaths) {
    words.insert(words.end(), {"--import-path", absolute(folder)});
  }
  return words;
}

std::string resultOf(const bench::CaseRow &row) {
  return row.failure.empty() ? "passed" : "FAILED: " + row.failure;
}

/// What one verification came to, whatever process it was done in. A row is as --json prints it.
struct Outcome {
  Json rows = Json::array();
  std::string kept;
  bool passed = true;
  /// "" = it is not: rows are missing, and one that failed may be innocent.
  std::string deviceLost;
  bool isInterrupted = false;
};

Json jsonOf(const bench::CaseRow &row) {
  const eager::Comparison &found = row.comparison;
  auto told = [&](double error) { return found.finiteElements > 0 ? Json(error) : Json(); };
  return {{"case", row.caseName},
          {"data", row.data},
          {"kernel", row.kernel},
          {"unverifiable", found.unverifiableShare()},
          {"max_absolute_error", told(found.maxAbsoluteError)},
          {"mean_absolute_error", told(found.meanAbsoluteError())},
          {"result", resultOf(row)}};
}

bool hasPassed(const Json &row) { return row["result"] == "passed"; }

bool haveAllPassed(const Json &rows) { return std::all_of(rows.begin(), rows.end(), hasPassed); }

std::string tableOf(const Json &rows) {
  auto told = [](const Json &error) {
    return error.is_number() ? fmt::format("{:.2g}", error.get<double>()) : "-";
  };
  report::Table table({"case", "data", "kernel", ">max error", ">mean error", "result"});
  for (const Json &row : rows) {
    table.add({row["case"], row["data"], row["kernel"], told(row["max_absolute_error"]),
               told(row["mean_absolute_error"]), row["result"]});
  }
  return table.text();
}

/// In this process. Nothing when the session has failed.
std::optional<Outcome> verifyHere(const KernelVerifyOptions &options,
                                  const std::vector<launch::KernelCase> &cases, uint64_t seed,
                                  Session &session) {
  Diagnostics diags;
  auto verified = bench::verifyCases(
      options.input, cases,
      {{seed, options.onlyCase, options.keepIn, verifyCommand(options)}, options.execution}, diags);
  if (!verified) {
    session.fail(diags, verified.error());
    return std::nullopt;
  }
  printWarnings(diags);
  Outcome outcome{.kept = verified->kept,
                  .passed = verified->passed(),
                  .deviceLost = verified->deviceLost,
                  .isInterrupted = verified->isInterrupted};
  for (const bench::CaseRow &row : verified->rows) {
    outcome.rows.push_back(jsonOf(row));
  }
  return outcome;
}

/// Cases in processes of their own: all in one, and where that has lost the device, each in
/// another, so that a fault is told of the kernel that made it and all others are verified.
class ChildVerification {
public:
  ChildVerification(const KernelVerifyOptions &options,
                    const std::vector<launch::KernelCase> &cases, uint64_t seed, Session &session)
      : options(options), cases(cases), seed(seed), session(session) {}

  /// Nothing when the session has failed.
  std::optional<Outcome> run();

private:
  /// Of one case, "" = all. A process that ends without a report is a row that failed, of one case,
  /// or a lost device.
  std::optional<Outcome> runCases(const std::string &caseName, const std::string &keepIn);
  Json deadRow(const std::string &caseName, const std::string &fate) const;
  bool keepFailure(Outcome &outcome);

  const KernelVerifyOptions &options;
  const std::vector<launch::KernelCase> &cases;
  uint64_t seed;
  Session &session;
};

std::optional<Outcome> ChildVerification::runCases(const std::string &caseName,
                                                   const std::string &keepIn) {
  const launch::Execution &execution = options.execution;
  std::vector<std::string> words = {"verify",         options.input, "--target",
                                    execution.target, "--seed",      std::to_string(seed)};
  if (!execution.chip.empty()) {
    words.insert(words.end(), {"--chip", execution.chip});
  }
  for (const std::string &folder : execution.importPaths) {
    words.insert(words.end(), {"--import-path", folder});
  }
  if (!caseName.empty()) {
    words.insert(words.end(), {"--case", caseName});
  }
  if (!keepIn.empty()) {
    words.insert(words.end(), {"--dump", keepIn});
  }
  if (session.json) {
    words.emplace_back("--json");
  }
  const ChildResult child = runChild(words);
  Outcome outcome;
  if (child.report) {
    const Json &report = *child.report;
    outcome.rows = report["rows"];
    outcome.kept = report["kept"];
    outcome.deviceLost = report["device_lost"];
    if (!caseName.empty() && outcome.rows.empty() && !outcome.deviceLost.empty()) {
      outcome.rows.push_back(deadRow(caseName, outcome.deviceLost));
    }
  } else if (child.fate.empty()) { // it has said what it could not do
    session.status = child.status;
    return std::nullopt;
  } else if (caseName.empty()) {
    outcome.deviceLost = child.fate;
  } else {
    outcome.rows.push_back(deadRow(caseName, child.fate));
  }
  return outcome;
}

Json ChildVerification::deadRow(const std::string &caseName, const std::string &fate) const {
  bench::CaseRow row;
  row.caseName = caseName;
  row.data = "its own";
  row.failure = fate;
  for (const launch::KernelCase &one : cases) {
    if (one.name == caseName) {
      row.kernel = one.kernel.substr(one.kernel.rfind('/') + 1);
    }
  }
  return jsonOf(row);
}

/// One more process, with the tensors of the first case that failed.
bool ChildVerification::keepFailure(Outcome &outcome) {
  const auto failed = std::find_if_not(outcome.rows.begin(), outcome.rows.end(), hasPassed);
  if (options.keepIn.empty() || failed == outcome.rows.end() || isInterrupted()) {
    return true;
  }
  auto kept = runCases((*failed)["case"], options.keepIn);
  if (kept) {
    outcome.kept = kept->kept;
  }
  return kept.has_value();
}

std::optional<Outcome> ChildVerification::run() {
  const bool isOne = !options.onlyCase.empty();
  auto outcome = runCases(options.onlyCase, isOne ? options.keepIn : "");
  if (!outcome) {
    return std::nullopt;
  }
  if (!outcome->deviceLost.empty() && !isOne) {
    outcome->rows = Json::array(); // other data was tried with none, or only with some
    for (const launch::KernelCase &one : cases) {
      if (!one.isTest || isInterrupted()) {
        continue;
      }
      auto alone = runCases(one.name, "");
      if (!alone) {
        return std::nullopt;
      }
      outcome->rows.insert(outcome->rows.end(), alone->rows.begin(), alone->rows.end());
    }
  }
  outcome->deviceLost.clear(); // every case has its rows
  if (!isOne && !keepFailure(*outcome)) {
    return std::nullopt;
  }
  outcome->isInterrupted = isInterrupted();
  outcome->passed = !outcome->isInterrupted && haveAllPassed(outcome->rows);
  return outcome;
}

/// Where there is no device: all cases are compiled, as far as the target names an architecture,
/// and what did not run is said.
void compileWithout(Diagnostic noDevice, const KernelVerifyOptions &options,
                    const std::vector<launch::KernelCase> &cases, Session &session) {
  const launch::Execution &execution = options.execution;
  const auto target = pipeline::findTarget(execution.target, execution.chip);
  std::set<std::pair<std::string, std::string>> compiled;
  size_t count = 0;
  for (const launch::KernelCase &one : cases) {
    if (!one.isTest || (!options.onlyCase.empty() && one.name != options.onlyCase)) {
      continue;
    }
    ++count;
    if (!target || !compiled.emplace(one.kernel, one.signature).second) {
      continue;
    }
    Diagnostics diags;
    if (!launch::compileCase(one, execution, diags)) {
      return session.fail(diags);
    }
    printWarnings(diags);
  }
  if (count > 0) {
    noDevice.note(fmt::format(
        "not run: {} case{} of '{}'; {}", count, count == 1 ? "" : "s", options.input,
        target ? fmt::format("all {} specializations of kernels that they need compile for '{}'",
                             compiled.size(), (*target)->name())
               : "nothing is compiled, for no architecture is named"));
  }
  session.fail(noDevice);
}

void print(const Outcome &outcome, const KernelVerifyOptions &options, uint64_t seed,
           Session &session) {
  if (session.json) {
    fmt::print("{}\n", Json{{"seed", seed}, {"rows", outcome.rows}}.dump(2));
  } else {
    fmt::print("{}other data than the cases' own: --seed {}\n", tableOf(outcome.rows), seed);
    printKept(options.keepIn, outcome.kept);
  }
  if (!outcome.deviceLost.empty()) {
    printError("the device is lost to this process: the cases above that name it may be innocent, "
               "and those that are missing were not verified\n");
  }
}

} // namespace

void printKept(const std::string &folder, const std::string &name) {
  if (folder.empty()) {
    return;
  }
  if (name.empty()) {
    fmt::print("No case failed: nothing is kept in {}\n", folder);
  } else {
    fmt::print("Kept in {}: {}; case.txt says how to run it again\n", folder, name);
  }
}

void runKernelVerify(const KernelVerifyOptions &options, Session &session) {
  auto cases = launch::loadCases(options.input);
  if (!cases) {
    return session.fail(cases.error());
  }
  watchInterrupt();
  const uint64_t seed = options.seed.value_or(std::random_device()());
  const launch::Execution &execution = options.execution;
  const bool isChild = !options.reportTo.empty();
  const bool isHere = isChild || options.isInProcess || execution.interpret ||
                      !execution.runner.empty() || !pipeline::runsOnDevice(execution.target);
  if (isChild) {
    endWithParent();
  }
  if (!isHere) {
    if (auto device = pipeline::deviceFor(execution.target); !device) {
      return compileWithout(device.error(), options, *cases, session);
    }
  }
  auto outcome = isHere ? verifyHere(options, *cases, seed, session)
                        : ChildVerification(options, *cases, seed, session).run();
  if (!outcome) {
    return;
  }
  if (!outcome->passed) {
    session.status = exitCheckFailed;
  }
  if (outcome->isInterrupted) {
    session.status = interruptStatus();
  }
  if (isChild) {
    leaveReport(
        options.reportTo,
        {{"rows", outcome->rows}, {"kept", outcome->kept}, {"device_lost", outcome->deviceLost}});
    return;
  }
  print(*outcome, options, seed, session);
  if (outcome->isInterrupted) {
    printError("interrupted: the cases above are verified, the others are not\n");
  }
}

} // namespace nereid::cli
