// SPDX-License-Identifier: Apache-2.0
// What developing many operators came to: totals over the rows, as summary.json, as summary.md and
// as text for people.
//
// Every operator that was to be developed is counted. One that is not right has a speed-up of 0,
// and so the arithmetic mean over all is what a user gets on average; a geometric mean with a 0 in
// it is 0, which says nothing but that something failed. The geometric mean is therefore given of
// those that are right, always beside how many of how many these are. Operators that are right, but
// whose times were all unsteady or which have none, are in no mean, and their number is said.
#pragma once

#include "lib/develop/sweep/OperatorResult.h"

namespace nereid::develop {

struct Totals {
  int operators = 0; ///< counted ones; the following states add up to it
  int right = 0, pending = 0, failed = 0;
  int leftOut = 0; ///< besides
  int cases = 0, correctCases = 0;
  int measured = 0;   ///< right ones with a speed-up
  int unmeasured = 0; ///< right ones without
  /// Over the baseline: geometric mean of the measured ones; none without any.
  std::optional<double> speedupOfRight;
  /// Arithmetic and geometric mean of measured and failed ones, a failed one counting as 0; none
  /// without either, or when all that are right are unmeasured.
  std::optional<double> meanOfAll, geometricMeanOfAll;
  int asQuick = 0;                     ///< right, and at least as quick as the baseline
  int targetsMet = 0;                  ///< right, and the definition's target is reached
  std::optional<double> rooflineShare; ///< geometric mean of right ones that have one
  int withRoofline = 0;
  double seconds = 0;
};
Totals totalsOf(const std::vector<OperatorResult> &results);

struct Summary {
  static constexpr int schemaVersion = 1;
  std::string definitions;        ///< the folder that was swept
  std::string target;             ///< --target
  std::vector<std::string> words; ///< the options that each operator was developed with
  bool isComplete = false;
  std::string environmentJson; ///< any JSON value as text; "" = none
  std::vector<OperatorResult> results;
};

std::string summaryJson(const Summary &summary);
/// E0001 when it cannot be read, E0703 when it is no summary of this schema.
Result<Summary> readSummary(const std::string &path);

} // namespace nereid::develop
