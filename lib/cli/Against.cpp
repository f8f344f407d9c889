// SPDX-License-Identifier: Apache-2.0
#include "lib/cli/Against.h"

#include "lib/measure/Chip.h"
#include "lib/report/GateReport.h"
#include "runtime/ThreadPool.h"

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

Result<std::optional<measure::ResultFile>>
openEarlier(const std::string &path, const std::string &subject,
            const std::function<bool(const std::string &name)> &isAsked) {
  using Earlier = std::optional<measure::ResultFile>;
  if (path.empty()) {
    return Earlier();
  }
  auto file = measure::loadResults(path);
  if (!file) {
    return file.error();
  }
  measure::ResultFile now;
  now.subject = subject;
  now.fingerprint = measure::detectChip().fingerprint;
  now.threads = runtime::defaultPool().threadCount();
  if (auto comparable = measure::checkComparable(*file, now); !comparable) {
    return comparable.error();
  }
  std::erase_if(file->cases, [&](const auto &one) { return !isAsked(one.name); });
  if (file->cases.empty()) {
    return makeError("E0704",
                     fmt::format("'{}' has none of the cases and types that are asked for", path))
        .withHelp("measure the same cases and types as then");
  }
  return Earlier(std::move(*file));
}

Result<measure::GateResult> judgeAgainst(
    const measure::ResultFile &before, const nlohmann::ordered_json &now,
    const std::function<nlohmann::ordered_json(const std::vector<std::string> &)> &measureAgain) {
  auto results = measure::resultsFromJson(now.dump(), "these results");
  if (!results) {
    return results.error();
  }
  auto judged = measure::judge(before, *results);
  if (!judged) {
    return judged;
  }
  std::vector<std::string> slower;
  for (const measure::GateRow &row : judged->rows) {
    if (row.verdict == measure::Verdict::Slower) {
      slower.push_back(row.name);
    }
  }
  if (slower.empty()) {
    return judged;
  }
  auto again = measure::resultsFromJson(measureAgain(slower).dump(), "these results");
  if (!again) {
    return again.error();
  }
  auto second = measure::judge(before, *again);
  if (!second) {
    return second;
  }
  measure::confirm(*judged, *second);
  return judged;
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
