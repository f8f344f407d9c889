// SPDX-License-Identifier: Apache-2.0
// Times a generated kernel against the unfused baseline on the definition's performance cases, on
// fresh random inputs and by the rules of bench/measurement/Measurement.h. The baseline is the
// library's operations on this processor, and on a device a kernel of our own for each operation.
#pragma once

#include "lib/bench/Row.h"
#include "lib/develop/Launch.h"
#include "lib/develop/performance/Mode.h"
#include "lib/generator/Generator.h"
#include "lib/machine/Machine.h"

#include <functional>
#include <optional>
#include <string>
#include <vector>

namespace nereid::develop {

struct PerformanceRow : bench::Row {
  std::string shape; ///< of the first output, "512x512x512"
  DType dtype = DType::F32;
  generator::Schedule schedule;
  double idleFraction = 0; ///< of the threads' time in launches: measured, without a program
  double speedup = 0;      ///< baseline / kernel; 0 when the case failed
  double pValue = 1;
  std::string device;           ///< that measured it, "nvidia:0"; "" = this processor
  std::string missingBaseline;  ///< why there is none, where one is wanted
  std::optional<Choice> choice; ///< of a form, where the case could be timed

  /// Says something about speed: it failed, or its times are many and steady enough.
  bool isDecisive() const;
};

struct PerformanceOptions {
  KernelSource source;
  double secondsPerCase = 4;
  uint64_t seed = 1;
  bool withBaseline = true;
  runtime::Device *device = nullptr; ///< where kernels run; null: this processor
  Mode mode = Mode::Default;
  double leastSpeedup = standardLeastSpeedup;
  std::function<void(const std::string &)> progress = [](const std::string &) {};
};

/// One case. `schedule` null: the table's. The row says itself when it failed or was skipped.
PerformanceRow measureCase(generator::Generation &generation, const definition::Case &testCase,
                           DType dtype, const generator::Schedule *schedule, const Machine &chip,
                           const PerformanceOptions &options);

/// Share of the threads' time that no program filled, the median of a few launches; 0 for launches
/// too short to be worth a second thread. Leaves the outputs of a launch behind.
double idleFraction(const PreparedLaunch &launch);

/// The type whose rate bounds the arithmetic: float32 whatever the storage type, but for float64,
/// and for integers of 8 bits where the chip multiplies these more quickly.
DType rateTypeOf(const definition::Operator &op, DType dtype, const Machine &chip);

std::string performanceTable(const std::vector<PerformanceRow> &rows);
std::string performanceJson(const std::vector<PerformanceRow> &rows);

/// Geometric mean over the cases that are decisive, a failed one counting as 0; none without any.
std::optional<double> overallSpeedup(const std::vector<PerformanceRow> &rows);

} // namespace nereid::develop
