// SPDX-License-Identifier: Apache-2.0
// What developing one operator of many came to: a row of the summary, and how it is kept.
#pragma once

#include "lib/definition/Graph.h"

#include <nlohmann/json.hpp>

#include <optional>
#include <string>
#include <vector>

namespace nereid::develop {

/// Right: every case agrees with the reference, and what was timed as well. Wrong: a case does not.
/// Refused: no kernel can be generated (E06xx). Malformed: the definition has errors. Failed:
/// another error ended it. Crashed, OutOfTime: its process did not end by itself. LeftOut: it has
/// none of the types asked for. Pending: not done yet.
enum class OperatorState {
  Right,
  Wrong,
  Refused,
  Malformed,
  Failed,
  Crashed,
  OutOfTime,
  LeftOut,
  Pending
};
const char *stateName(OperatorState state); ///< "right", "out of time"
std::optional<OperatorState> parseState(const std::string &name);

struct TypeCount {
  std::string dtype;
  int total = 0, correct = 0, failed = 0, skipped = 0; ///< cases; total is the sum of the others
};

struct OperatorResult {
  std::string name, definition, folder;
  std::string definitionHash; ///< of the text that was developed
  std::string operatorClass;  ///< "normalisation"; "" when the definition is refused
  OperatorState state = OperatorState::Pending;
  std::string code, message; ///< of what is not right, or was not timed; the code may be missing
  std::vector<TypeCount> types;
  int timedCases = 0;    ///< performance cases that were not skipped
  int decisiveCases = 0; ///< of these, those that failed or were measured steadily
  /// Over the baseline, geometric mean of the decisive cases, a failed one being 0; none without.
  std::optional<double> speedup;
  /// The same of all timed cases where none is decisive: times, but no evidence.
  std::optional<double> unsteadySpeedup;
  /// Geometric mean over the timed cases that have one.
  std::optional<double> rooflineShare;
  double target = 1;
  std::optional<bool> isTargetMet; ///< none: nothing decisive was measured
  double seconds = 0;
  bool isKept = false; ///< from an earlier run

  TypeCount cases() const; ///< of all types together
  /// Whether it counts among the operators that were to be developed.
  bool isCounted() const { return state != OperatorState::LeftOut; }
  /// The definition and the program alone say what became of it: nothing to do again. What failed
  /// otherwise may have lacked a device, memory or quiet.
  bool isFinished() const;
};

/// Fills in what `nereid develop --json` says of accuracy and performance.
void takeDevelopment(OperatorResult &result, const nlohmann::ordered_json &json);

nlohmann::ordered_json toJson(const OperatorResult &result);
/// None when the JSON is of another form.
std::optional<OperatorResult> readOperatorResult(const nlohmann::ordered_json &json);

} // namespace nereid::develop
