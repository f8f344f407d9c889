// SPDX-License-Identifier: Apache-2.0
// Accuracy of a generated kernel over the whole case grid: sizes from empty to large, ordinary and
// extreme values, dense and strided layouts, every type of the definition, against float64.
#pragma once

#include "lib/bench/Verification.h"
#include "lib/develop/Launch.h"
#include "lib/generator/Generator.h"

#include <functional>
#include <string>
#include <vector>

namespace nereid::develop {

struct AccuracyRow : bench::VerifiedCase {
  std::string shape, layout, schedule;
  DType dtype = DType::F32;
};

struct AccuracyReport {
  std::vector<AccuracyRow> rows;
  uint64_t seed = 0; ///< what the cases were drawn from
  bool isInterrupted = false;
  std::string kept; ///< name of the row whose tensors are kept as files
  int failures() const;
  int skips() const;
  /// "case (type): what was wrong"; "" when all is well, also when cases were skipped.
  std::string firstFailure() const;
  /// Something was verified, and nothing failed.
  bool passed() const {
    return failures() == 0 && skips() < static_cast<int>(rows.size()) && !isInterrupted;
  }
};

struct AccuracyOptions : bench::VerificationOptions {
  std::vector<DType> dtypes;
  std::function<void(const std::string &)> progress = [](const std::string &) {};
};

/// Compiles what each case needs; failures are rows, not errors. E0016 without the case asked for,
/// and what a kernel does not compile for, at its line: no case could be run.
Result<AccuracyReport> verifyAccuracy(generator::Generation &generation, const KernelSource &source,
                                      const generator::ChipSummary &chip,
                                      const AccuracyOptions &options);

/// One line per type and schedule; failures and skips spelled out.
std::string accuracyTable(const AccuracyReport &report);
std::string accuracyJson(const AccuracyReport &report);

} // namespace nereid::develop
