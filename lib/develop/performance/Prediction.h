// SPDX-License-Identifier: Apache-2.0
// What the roofline of a chip says of an operator that cannot be measured there: the chip is
// described by a file, and the program runs on another one. Never mixed with what was measured.
#pragma once

#include "lib/generator/Generator.h"
#include "lib/machine/Machine.h"

#include <optional>
#include <string>
#include <vector>

namespace nereid::develop {

struct PredictedRow {
  std::string caseName;
  DType dtype = DType::F32;
  generator::Schedule schedule;
  double bytes = 0, flops = 0, unfusedBytes = 0;
  /// The least that the kernel, and its operations one after the other, can take; 0 = the
  /// descriptor has no rates.
  double kernelSeconds = 0, baselineSeconds = 0;

  double speedup() const { return kernelSeconds > 0 ? baselineSeconds / kernelSeconds : 0; }
};

/// The definition's performance cases in each type.
std::vector<PredictedRow> predictPerformance(generator::Generation &generation,
                                             const std::vector<DType> &dtypes, const Machine &chip);

std::string predictionTable(const std::vector<PredictedRow> &rows);
std::string predictionJson(const std::vector<PredictedRow> &rows);
/// Geometric mean; none without rates.
std::optional<double> predictedSpeedup(const std::vector<PredictedRow> &rows);

} // namespace nereid::develop
