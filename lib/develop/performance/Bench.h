// SPDX-License-Identifier: Apache-2.0
// The tensors of one performance case of an operator, and what its kernels are timed beside on
// them: the unfused baseline and, on this processor, a copy of as many bytes.
#pragma once

#include "lib/bench/measurement/KernelLaunch.h"
#include "lib/develop/performance/Performance.h"

namespace nereid::develop {

struct OperatorBench {
  CaseTensors tensors;
  PerformanceRow row; ///< names, work and sizes filled in; says what was skipped
  bench::Bench bench;

  static OperatorBench make(generator::Generation &generation, const definition::Case &testCase,
                            DType dtype, const Machine &chip, const PerformanceOptions &options);
  /// The row of a launch with this schedule that was timed.
  PerformanceRow rowOf(const bench::Row &timed, const generator::Schedule &schedule) const;
};

/// The operations one after the other, as libraries of this processor do them.
bench::TimedLaunch libraryForm(const std::string &name, definition::Operator op,
                               const std::vector<runtime::Tensor> &inputs);

/// The launch must outlive the version.
bench::TimedLaunch timedLaunch(const std::string &name, const PreparedLaunch &launch,
                               const PerformanceOptions &options);

/// Whether times of devices hold the time in which they wait for the host: where that is what the
/// mode is to reduce.
inline bench::Queueing queueingOf(const PerformanceOptions &options) {
  return usesGraphs(options.mode) ? bench::Queueing::Counted : bench::Queueing::Hidden;
}

} // namespace nereid::develop
