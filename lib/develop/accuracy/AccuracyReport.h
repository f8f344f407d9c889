// SPDX-License-Identifier: Apache-2.0
// What verifying an operator came to, as rows, as a table for people and as the record has it.
#pragma once

#include "lib/bench/verification/Verification.h"
#include "runtime/elements/DType.h"

#include <string>
#include <vector>

namespace nereid::develop {

struct AccuracyRow : bench::VerifiedCase {
  std::string shape, layout, schedule;
  std::vector<std::string> kernels; ///< that were launched, and whose results were judged
  DType dtype = DType::F32;
  std::string exchanged = {}; ///< why it is of other data than its name says; empty otherwise
};

struct AccuracyReport {
  std::vector<AccuracyRow> rows;
  uint64_t seed = 0; ///< what the cases were drawn from
  bool isInterrupted = false;
  bool isDeviceLost = false; ///< to this process, by a case that failed: those behind have no row
  std::string kept;          ///< name of the row whose tensors are kept as files
  /// Kernels of the file that no row launched: nothing is known of them. None where one case was
  /// chosen.
  std::vector<std::string> unlaunched;
  int failures() const;
  int skips() const;
  /// "case (type): what was wrong"; "" when all is well, also when cases were skipped.
  std::string firstFailure() const;
  /// Something was verified, and nothing failed.
  bool passed() const {
    return failures() == 0 && skips() < static_cast<int>(rows.size()) && !isInterrupted;
  }
};

/// One line per type and kind of data; failures, skips and exchanged data spelled out.
std::string accuracyTable(const AccuracyReport &report);
std::string accuracyJson(const AccuracyReport &report);

} // namespace nereid::develop
