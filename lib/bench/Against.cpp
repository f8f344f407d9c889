// SPDX-License-Identifier: Apache-2.0
#include "lib/bench/Against.h"

#include "runtime/ThreadPool.h"

#include <fmt/format.h>

namespace nereid::bench {

measure::RecordedCase recordedCase(const Row &row, const std::string &typeOrKernel) {
  measure::RecordedCase recorded;
  recorded.name = measure::recordedName(row.caseName, typeOrKernel);
  recorded.failure = row.failure;
  recorded.skipped = row.skipped;
  if (recorded.failure.empty() && recorded.skipped.empty()) {
    recorded.timing = row.kernel;
    recorded.yardstick = row.yardstick;
    recorded.yardstickAmount = row.yardstickAmount;
  }
  return recorded;
}

measure::ResultFile resultsNow(const std::string &subject,
                               std::vector<measure::RecordedCase> cases) {
  measure::ResultFile now;
  now.subject = subject;
  now.fingerprint = detectMachine().fingerprint;
  now.threads = runtime::defaultPool().threadCount();
  now.cases = std::move(cases);
  return now;
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
  if (auto comparable = measure::checkComparable(*file, resultsNow(subject, {})); !comparable) {
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
    const measure::ResultFile &before, std::vector<measure::RecordedCase> now,
    const std::function<std::vector<measure::RecordedCase>(const std::vector<std::string> &)>
        &measureAgain) {
  auto judged = measure::judge(before, resultsNow(before.subject, std::move(now)));
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
  auto second = measure::judge(before, resultsNow(before.subject, measureAgain(slower)));
  if (!second) {
    return second;
  }
  measure::confirm(*judged, *second);
  return judged;
}

} // namespace nereid::bench
