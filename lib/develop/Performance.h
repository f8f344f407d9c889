// SPDX-License-Identifier: Apache-2.0
// Times a generated kernel against the unfused baseline on the definition's performance cases, by
// the rules of an honest result: fresh random inputs, poisoned outputs, interleaved samples, the
// timed outputs verified, times below the roofline rejected.
#pragma once

#include "lib/develop/Launch.h"
#include "lib/generator/Generator.h"
#include "lib/measure/Chip.h"
#include "lib/measure/Roofline.h"
#include "lib/measure/Timer.h"

#include <optional>
#include <string>
#include <vector>

namespace nereid::develop {

struct PerformanceRow {
  std::string caseName, shape; ///< shape of the first output, "512x512x512"
  DType dtype = DType::F32;
  generator::Schedule schedule;
  definition::Work work;
  double unfusedBytes = 0;
  measure::Timing kernel, baseline;
  /// Seconds a plain copy moving as many bytes took, in turns with the kernel; 0 = not measured.
  double copySeconds = 0;
  measure::Timing yardstick; ///< a copy or arithmetic, in turns with the kernel
  double yardstickAmount = 0;
  double launchSeconds = 0; ///< host cost of one launch without its programs
  double idleFraction = 0;  ///< of the threads' time in launches: measured, without a program
  double speedup = 0;       ///< baseline / kernel; 0 when the case failed
  double pValue = 1;
  /// Of what the memory (the copy timed in the same run) and the arithmetic (calibrated) allow;
  /// rooflineFraction is the larger of the two.
  double rooflineFraction = 0, bandwidthFraction = 0, computeFraction = 0;
  std::string rooflineFault; ///< why that fraction is no result; empty when it is one
  bool isBeyondCache = false;
  bool isVerified = false;
  std::string skipped; ///< why the case was not run; empty when it was
  std::string failure; ///< what was wrong; empty when all is well

  /// Says something about speed: it failed, or its times are many and steady enough.
  bool isDecisive() const;
};

struct PerformanceOptions {
  KernelSource source;
  double secondsPerCase = 4;
  uint64_t seed = 1;
  bool withBaseline = true;
};

/// One case. `schedule` null: the table's. The row says itself when it failed or was skipped.
PerformanceRow measureCase(generator::Generation &generation, const definition::Case &testCase,
                           DType dtype, const generator::Schedule *schedule,
                           const measure::Chip &chip, const PerformanceOptions &options);

/// What a launch costs besides the work of its programs: times and shares of it are measured.
/// Leaves the outputs of a launch behind.
void fillLaunchCosts(PerformanceRow &row, const PreparedLaunch &launch);

/// The type that arithmetic is done in: float32 whatever the storage type, but for float64.
inline DType rateTypeOf(DType dtype) { return dtype == DType::F64 ? DType::F64 : DType::F32; }

generator::ChipSummary summarizeChip(const measure::Chip &chip);

std::string performanceTable(const std::vector<PerformanceRow> &rows);
std::string performanceJson(const std::vector<PerformanceRow> &rows);

/// Geometric mean over the cases that are decisive, a failed one counting as 0; none without any.
std::optional<double> overallSpeedup(const std::vector<PerformanceRow> &rows);

} // namespace nereid::develop
