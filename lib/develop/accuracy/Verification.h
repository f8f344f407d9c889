// SPDX-License-Identifier: Apache-2.0
// Accuracy of a generated kernel over the whole case grid: sizes from empty to large, ordinary and
// extreme values, dense and strided layouts, every type of the definition, against float64.
#pragma once

#include "lib/develop/Launch.h"
#include "lib/develop/accuracy/AccuracyReport.h"
#include "lib/generator/Generator.h"

#include <functional>
#include <string>
#include <vector>

namespace nereid::develop {

struct AccuracyOptions : bench::VerificationOptions {
  std::vector<DType> dtypes;
  std::function<void(const std::string &)> progress = [](const std::string &) {};
};

/// Compiles what each case needs; failures are rows, not errors. E0016 without the case asked for,
/// and what a kernel does not compile for, at its line: no case could be run.
Result<AccuracyReport> verifyAccuracy(generator::Generation &generation, const KernelSource &source,
                                      const Machine &chip, const AccuracyOptions &options);

/// Kernels that the launch tables of the rows' types name and no row launched.
std::vector<std::string> unlaunchedKernels(const generator::Generation &generation,
                                           std::span<const AccuracyRow> rows);

} // namespace nereid::develop
