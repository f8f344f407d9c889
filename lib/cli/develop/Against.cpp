// SPDX-License-Identifier: Apache-2.0
#include "lib/cli/develop/Against.h"

#include "lib/report/GateReport.h"

#include <fmt/format.h>

#include <filesystem>

namespace nereid::cli {

bool isResultFile(const std::string &input) {
  return std::filesystem::path(input).extension() == ".json";
}

void runCompareFiles(const std::string &now, const std::string &before, Session &session) {
  if (before.empty()) {
    return session.fail(
        makeError("E0013", fmt::format("bench measures operators and kernels, but '{}' is a result "
                                       "file",
                                       now))
            .withHelp("add --against FILE to compare two result files"));
  }
  auto then = measure::loadResults(before);
  auto results = measure::loadResults(now);
  if (!then || !results) {
    return session.fail(!then ? then.error() : results.error());
  }
  auto judged = measure::judge(*then, *results);
  if (!judged) {
    return session.fail(judged.error());
  }
  reportGate(*judged, session);
  if (session.json) {
    fmt::print("{}\n", report::gateJson(*judged).dump(2));
  }
}

void reportGate(const measure::GateResult &result, Session &session) {
  if (!result.passed()) {
    session.status = exitCheckFailed;
  }
  if (!session.json) {
    fmt::print("\n{}{}\n", report::gateTable(result), report::gateSummary(result));
  }
}

} // namespace nereid::cli
