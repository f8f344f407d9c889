// SPDX-License-Identifier: Apache-2.0
// Result files read back: what `nereid bench` wrote of an operator or of a folder of kernels, as
// far as a later run compares with it. Files come from anywhere, so that every key is distrusted.
#pragma once

#include "lib/measure/Timer.h"
#include "lib/support/Diagnostics.h"

#include <optional>
#include <string>
#include <vector>

namespace nereid::measure {

struct RecordedCase {
  std::string name;    ///< with the type or the kernel that tell cases of one name apart
  std::string failure; ///< what was wrong; empty when all was well
  std::string skipped; ///< why it was not run
  Timing timing;       ///< as the samples say, whatever else stands in the file
  Timing yardstick;    ///< no samples: none was timed
  double yardstickAmount = 0;

  bool isTimed() const { return failure.empty() && !timing.samples.empty(); }
};

/// How a case is called: with its type, or with its kernel.
std::string recordedName(const std::string &caseName, const std::string &typeOrKernel);

struct ResultFile {
  std::string path, subject; ///< the operator, the folder or the file that was measured
  std::string fingerprint, chip, date;
  int threads = 0;
  std::vector<RecordedCase> cases;

  const RecordedCase *find(const std::string &name) const; ///< null: none
};

/// E0703 names the key that is missing or malformed.
Result<ResultFile> resultsFromJson(const std::string &text, const std::string &path);
Result<ResultFile> loadResults(const std::string &path);

} // namespace nereid::measure
