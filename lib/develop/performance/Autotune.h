// SPDX-License-Identifier: Apache-2.0
// The whole space of schedules for one performance case: all are compiled and timed for a moment,
// the quickest ones then stand against the present one by the rules that rounds of optimisation
// have (Duel.h), corrected for how many were tried.
#pragma once

#include "lib/develop/performance/Performance.h"

namespace nereid::develop {

struct Tuning {
  std::string caseName;
  DType dtype = DType::F32;
  generator::Schedule before, after; ///< the same where nothing is quicker
  size_t tried = 0, refused = 0;     ///< schedules that were timed, and those that do not compile
  std::string conclusion;

  bool isChanged() const { return !(before == after); }
};

/// Nothing is entered into the generation's table. E0506 without memory for the case,
/// E0421 where a schedule has taken the device from this process.
Result<Tuning> autotune(generator::Generation &generation, const definition::Case &testCase,
                        DType dtype, const Machine &chip, const PerformanceOptions &options);

} // namespace nereid::develop
