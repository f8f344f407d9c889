// SPDX-License-Identifier: Apache-2.0
// Two schedules of a kernel against each other, in turns on the same tensors: whether the second is
// quicker, or only seems to be.
#pragma once

#include "lib/develop/performance/Performance.h"
#include "lib/measure/statistics/Evidence.h"

namespace nereid::develop {

struct Duel {
  PerformanceRow before, after; ///< each with its speed-up over the baseline timed beside it
  measure::Evidence evidence;
  std::string failure; ///< why there is none; empty when all is well
};

/// The baseline, the present schedule twice and the candidate take turns; all are verified.
/// `tries`: candidates weighed for this operator so far, this one included.
Duel duel(generator::Generation &generation, const definition::Case &testCase, DType dtype,
          const generator::Schedule &before, const generator::Schedule &after, const Machine &chip,
          const PerformanceOptions &options, int tries);

} // namespace nereid::develop
