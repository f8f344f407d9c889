// SPDX-License-Identifier: Apache-2.0
// What lets a sweep go on where it was ended: a file in each operator's folder that says for which
// digest of definition, options, program and machine it was begun, and what came of it. It is
// replaced as a whole, so that it holds at any moment.
#pragma once

#include "lib/develop/sweep/OperatorResult.h"

#include <optional>
#include <string>

namespace nereid::develop {

struct SweepRecord {
  static constexpr int schemaVersion = 1;
  static constexpr const char *fileName = "sweep.json";
  std::string digest;
  bool isFresh = false;  ///< what the folder held before it was begun is to be forgotten
  OperatorResult result; ///< its state says whether it is finished

  bool isFinished(const std::string &now) const { return digest == now && result.isFinished(); }
};

/// None without a record in the folder that can be used.
std::optional<SweepRecord> readSweepRecord(const std::string &folder);
/// Whether the operator's own record (nereid.json) is younger: its process has forgotten what was
/// to be forgotten, and what is there now is to go on with.
bool isTakenUp(const std::string &folder);
/// Makes the folder if needed; E0002, E0003, E0005.
Status writeSweepRecord(const std::string &folder, const SweepRecord &record);

/// Keeps other processes from working in the output folder: those that were started with this one,
/// or by it, hold it too, until all of them have ended.
class SweepLock {
public:
  /// Waits some seconds for one that is about to end; E0706 when the folder stays in use.
  static Result<SweepLock> take(const std::string &folder);
  SweepLock(SweepLock &&other) noexcept;
  SweepLock &operator=(SweepLock &&) = delete;
  ~SweepLock();

private:
  explicit SweepLock(int file) : file(file) {}
  int file;
};

} // namespace nereid::develop
