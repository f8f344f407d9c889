// SPDX-License-Identifier: Apache-2.0
#include "lib/cli/develop/KernelVerify.h"

#include "lib/bench/verification/CaseVerification.h"
#include "lib/cli/process/StandardStreams.h"
#include "lib/report/Table.h"
#include "lib/support/Interrupt.h"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <filesystem>
#include <random>

namespace nereid::cli {

namespace {

/// A command line that verifies the same folder in the same way.
std::vector<std::string> verifyCommand(const KernelVerifyOptions &options) {
  std::error_code ignored;
  auto absolute = [&](const std::string &path) {
    return std::filesystem::absolute(path, ignored).lexically_normal().string();
  };
  const launch::Execution &execution = options.execution;
  std::vector<std::string> words = {"nereid", "verify", absolute(options.input), "--target",
                                    execution.target};
  if (!execution.chip.empty()) {
    words.insert(words.end(), {"--chip", absolute(execution.chip)});
  }
  if (execution.interpret) {
    words.emplace_back("--interpret");
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

std::string tableOf(const bench::CaseVerification &verified) {
  report::Table table({"case", "data", "kernel", "result"});
  for (const bench::CaseRow &row : verified.rows) {
    table.add({row.caseName, row.data, row.kernel, resultOf(row)});
  }
  return table.text();
}

nlohmann::ordered_json jsonOf(const bench::CaseVerification &verified, uint64_t seed) {
  nlohmann::ordered_json rows = nlohmann::ordered_json::array();
  for (const bench::CaseRow &row : verified.rows) {
    rows.push_back({{"case", row.caseName},
                    {"data", row.data},
                    {"kernel", row.kernel},
                    {"unverifiable", row.comparison.unverifiableShare()},
                    {"result", resultOf(row)}});
  }
  return {{"seed", seed}, {"rows", rows}};
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
  Diagnostics diags;
  auto verified = bench::verifyCases(
      options.input, *cases,
      {{seed, options.onlyCase, options.keepIn, verifyCommand(options)}, options.execution}, diags);
  if (!verified) {
    return session.fail(diags, verified.error());
  }
  printWarnings(diags);
  if (!verified->passed()) {
    session.status = exitCheckFailed;
  }
  if (session.json) {
    fmt::print("{}\n", jsonOf(*verified, seed).dump(2));
  } else {
    fmt::print("{}other data than the cases' own: --seed {}\n", tableOf(*verified), seed);
    printKept(options.keepIn, verified->kept);
  }
  if (verified->isInterrupted) {
    session.status = interruptStatus();
    printError("interrupted: the cases above are verified, the others are not\n");
  }
}

} // namespace nereid::cli
