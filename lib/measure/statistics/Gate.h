// SPDX-License-Identifier: Apache-2.0
// Whether a program became slower between two runs on one machine, case by case, so that whoever
// changes it can stand on the answer. The measure is that of optimisation's rounds (Evidence.h);
// what is not told apart passes.
#pragma once

#include "lib/measure/results/ResultFile.h"
#include "lib/measure/statistics/Evidence.h"

#include <string_view>

namespace nereid::measure {

enum class Verdict : uint8_t { Slower, Quicker, NotToldApart, Failed, New, Gone };

struct GateRow {
  std::string name;
  double before = 0, now = 0; ///< median seconds, 0 = none
  double pValue = 1;          ///< corrected for the number of cases
  Verdict verdict = Verdict::NotToldApart;
  std::string note; ///< why, where the figures do not say it
};

struct GateResult {
  std::string path, date; ///< of the earlier file
  std::vector<GateRow> rows;
  /// What the machine itself took for the yardsticks, now over then; 0 = none were timed.
  double drift = 0;

  int count(Verdict verdict) const;
  /// A case is slower, or failed now.
  bool passed() const { return count(Verdict::Slower) + count(Verdict::Failed) == 0; }
};

/// What must be the same for two files to be compared: E0704 with both values.
Status checkComparable(const ResultFile &before, const ResultFile &now);

/// E0704 when they are not comparable, or have no case in common.
Result<GateResult> judge(const ResultFile &before, const ResultFile &now);

/// `again` judges a second run of the cases that seemed slower: what is not slower there as well is
/// not told apart.
void confirm(GateResult &result, const GateResult &again);

std::string_view name(Verdict verdict);

} // namespace nereid::measure
