// SPDX-License-Identifier: Apache-2.0
#include "lib/develop/sweep/OperatorResult.h"

#include "lib/measure/statistics/Statistics.h"

#include <algorithm>
#include <array>
#include <utility>

namespace nereid::develop {

using Json = nlohmann::ordered_json;

namespace {

constexpr std::array<std::pair<OperatorState, const char *>, 9> states = {
    {{OperatorState::Right, "right"},
     {OperatorState::Wrong, "wrong"},
     {OperatorState::Refused, "no kernel"},
     {OperatorState::Malformed, "malformed"},
     {OperatorState::Failed, "failed"},
     {OperatorState::Crashed, "crashed"},
     {OperatorState::OutOfTime, "out of time"},
     {OperatorState::LeftOut, "left out"},
     {OperatorState::Pending, "not done"}}};

template <class T> Json orNull(const std::optional<T> &value) {
  return value ? Json(*value) : Json();
}

template <class T> std::optional<T> optionalAt(const Json &json, const char *key) {
  const Json &value = json.at(key);
  return value.is_null() ? std::nullopt : std::optional(value.get<T>());
}

void takeAccuracy(OperatorResult &result, const Json &rows) {
  for (const Json &row : rows) {
    const std::string dtype = row.at("dtype");
    auto type = std::find_if(result.types.begin(), result.types.end(),
                             [&](const TypeCount &one) { return one.dtype == dtype; });
    if (type == result.types.end()) {
      type = result.types.insert(type, {.dtype = dtype});
    }
    ++type->total;
    const bool isFailed = row.contains("failure"), isSkipped = row.contains("skipped");
    ++(isFailed ? type->failed : isSkipped ? type->skipped : type->correct);
    if (isFailed && result.message.empty()) {
      result.message = row.at("case").get<std::string>() + " (" + dtype +
                       "): " + row.at("failure").get<std::string>();
    }
  }
}

bool isSteady(const Json &row, const char *key) {
  return row.contains(key) && !row.at(key).value("noisy", true) &&
         !row.at(key).value("few_samples", true);
}

void takePerformance(OperatorResult &result, const Json &rows) {
  std::vector<double> decisive, all, shares;
  std::string skipped;
  for (const Json &row : rows) {
    if (row.contains("skipped")) {
      skipped = row.at("skipped");
      continue;
    }
    ++result.timedCases;
    const bool isFailed = row.contains("failure");
    const double speedup = isFailed ? 0 : row.value("speedup", 0.0);
    if (isFailed || (isSteady(row, "kernel") && isSteady(row, "baseline"))) {
      decisive.push_back(speedup);
    }
    if (isFailed || row.contains("baseline")) {
      all.push_back(speedup);
    }
    if (!isFailed && row.contains("roofline_fraction") && !row.at("roofline_fraction").is_null() &&
        row.at("roofline_fraction").get<double>() > 0) { // 0: it is unknown
      shares.push_back(row.at("roofline_fraction"));
    }
    if (isFailed && result.message.empty()) {
      result.message = row.at("case").get<std::string>() + " (" +
                       row.at("dtype").get<std::string>() +
                       "), timed: " + row.at("failure").get<std::string>();
    }
  }
  result.decisiveCases = static_cast<int>(decisive.size());
  if (result.timedCases == 0 && result.message.empty() && !skipped.empty()) {
    result.message = "not timed: " + skipped;
  }
  if (!decisive.empty()) {
    result.speedup = measure::geometricMean(decisive);
  } else if (!all.empty()) {
    result.unsteadySpeedup = measure::geometricMean(all);
  }
  if (!shares.empty()) {
    result.rooflineShare = measure::geometricMean(shares);
  }
}

} // namespace

const char *stateName(OperatorState state) {
  for (const auto &[known, name] : states) {
    if (known == state) {
      return name;
    }
  }
  return "";
}

std::optional<OperatorState> parseState(const std::string &name) {
  for (const auto &[state, known] : states) {
    if (name == known) {
      return state;
    }
  }
  return std::nullopt;
}

TypeCount OperatorResult::cases() const {
  TypeCount sum;
  for (const TypeCount &type : types) {
    sum.total += type.total;
    sum.correct += type.correct;
    sum.failed += type.failed;
    sum.skipped += type.skipped;
  }
  return sum;
}

bool OperatorResult::isFinished() const {
  return state == OperatorState::Right || state == OperatorState::Wrong ||
         state == OperatorState::Refused || state == OperatorState::Malformed;
}

void takeDevelopment(OperatorResult &result, const Json &json) {
  takeAccuracy(result, json.at("accuracy"));
  takePerformance(result, json.at("performance"));
  if (json.contains("predicted_for") && result.message.empty()) {
    result.message = "not timed: predicted for " + json.at("predicted_for").get<std::string>();
  }
  result.target = json.at("target");
  if (result.speedup) {
    result.isTargetMet = *result.speedup >= result.target;
  }
}

Json toJson(const OperatorResult &result) {
  Json json = {{"operator", result.name},
               {"definition", result.definition},
               {"definition_sha256", result.definitionHash},
               {"folder", result.folder},
               {"class", result.operatorClass},
               {"state", stateName(result.state)},
               {"code", result.code},
               {"message", result.message}};
  const TypeCount cases = result.cases();
  json["cases"] = {{"total", cases.total},
                   {"correct", cases.correct},
                   {"failed", cases.failed},
                   {"skipped", cases.skipped}};
  json["types"] = Json::array();
  for (const TypeCount &type : result.types) {
    json["types"].push_back({{"dtype", type.dtype},
                             {"total", type.total},
                             {"correct", type.correct},
                             {"failed", type.failed},
                             {"skipped", type.skipped}});
  }
  json["timed_cases"] = result.timedCases;
  json["decisive_cases"] = result.decisiveCases;
  json["speedup"] = orNull(result.speedup);
  json["unsteady_speedup"] = orNull(result.unsteadySpeedup);
  json["roofline_fraction"] = orNull(result.rooflineShare);
  json["target"] = result.target;
  json["target_met"] = orNull(result.isTargetMet);
  json["seconds"] = result.seconds;
  json["kept"] = result.isKept;
  return json;
}

std::optional<OperatorResult> readOperatorResult(const Json &json) {
  try {
    OperatorResult result;
    const auto state = parseState(json.at("state"));
    if (!state) {
      return std::nullopt;
    }
    result.state = *state;
    result.name = json.at("operator");
    result.definition = json.at("definition");
    result.definitionHash = json.at("definition_sha256");
    result.folder = json.at("folder");
    result.operatorClass = json.at("class");
    result.code = json.at("code");
    result.message = json.at("message");
    for (const Json &type : json.at("types")) {
      result.types.push_back({type.at("dtype"), type.at("total"), type.at("correct"),
                              type.at("failed"), type.at("skipped")});
    }
    result.timedCases = json.at("timed_cases");
    result.decisiveCases = json.at("decisive_cases");
    result.speedup = optionalAt<double>(json, "speedup");
    result.unsteadySpeedup = optionalAt<double>(json, "unsteady_speedup");
    result.rooflineShare = optionalAt<double>(json, "roofline_fraction");
    if (json.contains("predicted_for") && result.message.empty()) {
      result.message = "not timed: predicted for " + json.at("predicted_for").get<std::string>();
    }
    result.target = json.at("target");
    result.isTargetMet = optionalAt<bool>(json, "target_met");
    result.seconds = json.at("seconds");
    result.isKept = json.at("kept");
    return result;
  } catch (const Json::exception &) {
    return std::nullopt;
  }
}

} // namespace nereid::develop
