// SPDX-License-Identifier: Apache-2.0
#include "lib/measure/results/ResultFile.h"

#include "lib/support/AtomicFile.h"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <cmath>

namespace nereid::measure {

using Json = nlohmann::json;

namespace {

/// What is wrong with a file, for its diagnostic.
struct Malformed {
  std::string text;
};

const Json &member(const Json &object, const char *key) {
  if (!object.is_object() || !object.contains(key)) {
    throw Malformed{fmt::format("has no '{}'", key)};
  }
  return object.at(key);
}

std::string textOf(const Json &object, const char *key) {
  const Json &value = member(object, key);
  if (!value.is_string()) {
    throw Malformed{fmt::format("expects text as '{}', but got {}", key, value.type_name())};
  }
  return value.get<std::string>();
}

std::string textOrNone(const Json &object, const char *key) {
  return object.contains(key) ? textOf(object, key) : std::string();
}

double positive(const Json &value, const char *key) {
  const double number = value.is_number() ? value.get<double>() : 0;
  if (!std::isfinite(number) || number <= 0) {
    throw Malformed{fmt::format("expects numbers above 0 as '{}'", key)};
  }
  return number;
}

Timing timingOf(const Json &object) {
  constexpr const char *key = "sample_nanos";
  const Json &samples = member(object, key);
  if (!samples.is_array() || samples.empty()) {
    throw Malformed{fmt::format("expects a list of numbers as '{}'", key)};
  }
  Timing timing;
  for (const Json &sample : samples) {
    timing.samples.push_back(positive(sample, key) * 1e-9);
  }
  judgeSamples(timing, TimerOptions());
  return timing;
}

RecordedCase caseOf(const Json &row) {
  RecordedCase result;
  // An operator's row has a type and its kernel's times apart; another names its kernel.
  const std::string caseName = textOf(row, "case");
  const bool isApart = row.contains("dtype");
  result.name = recordedName(caseName, textOf(row, isApart ? "dtype" : "kernel"));
  result.failure = textOrNone(row, "failure");
  result.skipped = textOrNone(row, "skipped");
  if (!result.failure.empty() || !result.skipped.empty()) {
    return result;
  }
  result.timing = timingOf(isApart ? member(row, "kernel") : row);
  if (row.contains("yardstick")) {
    const Json &yardstick = row.at("yardstick");
    result.yardstick = timingOf(yardstick);
    result.yardstick.name = textOf(yardstick, "name");
    result.yardstickAmount = positive(member(yardstick, "amount"), "amount");
  }
  return result;
}

ResultFile resultsOf(const Json &json) {
  ResultFile result;
  result.subject =
      textOf(json, json.is_object() && json.contains("operator") ? "operator" : "subject");
  const Json &environment = member(json, "environment");
  result.fingerprint = textOf(environment, "fingerprint");
  result.chip = textOf(environment, "chip");
  result.date = textOf(environment, "date");
  const double threads = positive(member(environment, "threads"), "threads");
  result.threads = static_cast<int>(std::min(threads, 1e6));
  const Json &rows = member(json, json.contains("performance") ? "performance" : "rows");
  if (!rows.is_array()) {
    throw Malformed{"expects a list as 'rows'"};
  }
  for (size_t i = 0; i < rows.size(); ++i) {
    try {
      result.cases.push_back(caseOf(rows[i]));
    } catch (const Malformed &problem) {
      throw Malformed{fmt::format("{} in row {}", problem.text, i + 1)};
    }
    const std::string &name = result.cases.back().name;
    if (result.find(name) != &result.cases.back()) {
      throw Malformed{fmt::format("has case '{}' twice", name)};
    }
  }
  return result;
}

} // namespace

std::string recordedName(const std::string &caseName, const std::string &typeOrKernel) {
  return caseName + " " + typeOrKernel;
}

const RecordedCase *ResultFile::find(const std::string &name) const {
  const auto found =
      std::find_if(cases.begin(), cases.end(), [&](const auto &one) { return one.name == name; });
  return found == cases.end() ? nullptr : &*found;
}

Result<ResultFile> resultsFromJson(const std::string &text, const std::string &path) {
  auto refuse = [&](const std::string &problem) {
    return makeError("E0703", fmt::format("result file '{}' {}", path, problem))
        .withHelp(
            "measure again: nereid bench writes such a file with --json, and performance.json "
            "in an operator's folder");
  };
  const Json json = Json::parse(text, nullptr, false);
  if (json.is_discarded()) {
    return refuse("is not JSON, or ends too early");
  }
  try {
    ResultFile result = resultsOf(json);
    result.path = path;
    return result;
  } catch (const Malformed &problem) {
    return refuse(problem.text);
  }
}

Result<ResultFile> loadResults(const std::string &path) {
  auto text = readTextFile(path);
  return text ? resultsFromJson(*text, path) : Result<ResultFile>(text.error());
}

} // namespace nereid::measure
