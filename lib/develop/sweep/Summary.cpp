// SPDX-License-Identifier: Apache-2.0
#include "lib/develop/sweep/Summary.h"

#include "lib/measure/statistics/Statistics.h"
#include "lib/support/AtomicFile.h"
#include "lib/support/Version.h"

#include <fmt/format.h>

#include <numeric>

namespace nereid::develop {

using Json = nlohmann::ordered_json;

namespace {

/// Means of the speed-ups of those that are right and, as zeros, of those that failed.
void addMeans(Totals &totals, const std::vector<double> &right) {
  if (!right.empty()) {
    totals.speedupOfRight = measure::geometricMean(right);
  }
  const size_t counted = right.size() + static_cast<size_t>(totals.failed);
  if (counted == 0 || (right.empty() && totals.unmeasured > 0)) {
    return;
  }
  totals.meanOfAll =
      std::accumulate(right.begin(), right.end(), 0.0) / static_cast<double>(counted);
  totals.geometricMeanOfAll = totals.failed > 0 ? 0 : *totals.speedupOfRight;
}

template <class T> Json orNull(const std::optional<T> &value) {
  return value ? Json(*value) : Json();
}

Json totalsJson(const Totals &totals) {
  return {{"operators", totals.operators},
          {"right", totals.right},
          {"failed", totals.failed},
          {"not_done", totals.pending},
          {"left_out", totals.leftOut},
          {"cases", totals.cases},
          {"correct_cases", totals.correctCases},
          {"measured", totals.measured},
          {"unmeasured", totals.unmeasured},
          {"speedup_of_right", orNull(totals.speedupOfRight)},
          {"mean_speedup_of_all", orNull(totals.meanOfAll)},
          {"geometric_mean_speedup_of_all", orNull(totals.geometricMeanOfAll)},
          {"at_least_as_quick", totals.asQuick},
          {"targets_met", totals.targetsMet},
          {"roofline_fraction", orNull(totals.rooflineShare)},
          {"with_roofline", totals.withRoofline},
          {"seconds", totals.seconds}};
}

Diagnostic unusable(const std::string &path, const std::string &why) {
  return makeError("E0703",
                   fmt::format("'{}' is no summary of nereid develop --all: {}", path, why))
      .withHelp("nereid develop --all writes summary.json into its output folder");
}

} // namespace

Totals totalsOf(const std::vector<OperatorResult> &results) {
  Totals totals;
  std::vector<double> speedups, shares;
  for (const OperatorResult &one : results) {
    if (!one.isCounted()) {
      ++totals.leftOut;
      continue;
    }
    ++totals.operators;
    totals.seconds += one.seconds;
    totals.cases += one.cases().total;
    totals.correctCases += one.cases().correct;
    if (one.state == OperatorState::Pending) {
      ++totals.pending;
    } else if (one.state != OperatorState::Right) {
      ++totals.failed;
    } else {
      ++totals.right;
      one.speedup ? ++totals.measured : ++totals.unmeasured;
      totals.asQuick += one.speedup && *one.speedup >= 1 ? 1 : 0;
      totals.targetsMet += one.isTargetMet.value_or(false) ? 1 : 0;
      if (one.speedup) {
        speedups.push_back(*one.speedup);
      }
      if (one.rooflineShare) {
        shares.push_back(*one.rooflineShare);
      }
    }
  }
  addMeans(totals, speedups);
  totals.withRoofline = static_cast<int>(shares.size());
  if (!shares.empty()) {
    totals.rooflineShare = measure::geometricMean(shares);
  }
  return totals;
}

std::string summaryJson(const Summary &summary) {
  Json json;
  json["schema"] = Summary::schemaVersion;
  json["definitions"] = summary.definitions;
  json["complete"] = summary.isComplete;
  json["version"] = versionText();
  json["revision"] = revisionText();
  json["target"] = summary.target;
  json["options"] = summary.words;
  if (!summary.environmentJson.empty()) {
    json["environment"] = Json::parse(summary.environmentJson);
  }
  json["operators"] = Json::array();
  for (const OperatorResult &one : summary.results) {
    json["operators"].push_back(toJson(one));
  }
  json["totals"] = totalsJson(totalsOf(summary.results));
  return json.dump(2) + "\n";
}

Result<Summary> readSummary(const std::string &path) {
  auto text = readTextFile(path);
  if (!text) {
    return text.error();
  }
  const Json json = Json::parse(*text, nullptr, false);
  if (!json.is_object() || !json.contains("operators")) {
    return unusable(path, "it has no list 'operators'");
  }
  if (json.value("schema", Json()) != Summary::schemaVersion) {
    return unusable(path, fmt::format("expects schema {}, but got {}", Summary::schemaVersion,
                                      json.value("schema", Json()).dump()));
  }
  Summary summary;
  try {
    summary.definitions = json.at("definitions");
    summary.target = json.at("target");
    summary.words = json.at("options").get<std::vector<std::string>>();
    summary.isComplete = json.at("complete");
    for (const Json &one : json.at("operators")) {
      auto result = readOperatorResult(one);
      if (!result) {
        return unusable(path, "one of its operators is damaged");
      }
      summary.results.push_back(std::move(*result));
    }
  } catch (const Json::exception &error) {
    return unusable(path, error.what());
  }
  return summary;
}

} // namespace nereid::develop
