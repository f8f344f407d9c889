// SPDX-License-Identifier: Apache-2.0
// One case of a verification: launched between forbidden pages, looked at by `nereid check` where
// that is worth it, and compared with the reference.
#pragma once

#include "lib/develop/Launch.h"
#include "lib/develop/accuracy/AccuracyReport.h"
#include "lib/generator/Generator.h"

#include <atomic>
#include <mutex>
#include <set>
#include <string>
#include <string_view>
#include <vector>

namespace nereid::develop {

/// A case as it was tried.
struct Attempt {
  AccuracyRow row;
  CaseTensors tensors;                   ///< no inputs and outputs where they could not be made
  std::vector<runtime::Tensor> computed; ///< the outputs behind the first launch; empty without one
};

/// What cases of one verification share, several of them at the same time.
struct VerificationProgress {
  KernelSource source; ///< with the kernels that are compiled

  /// Whether `nereid check` found nothing in a launch that touches the same places.
  bool isChecked(const std::string &places) {
    std::lock_guard lock(mutex);
    return checked.contains(places);
  }
  void addChecked(const std::string &places) {
    std::lock_guard lock(mutex);
    checked.insert(places);
  }
  /// A fault has taken the device from this process: no other case can be run.
  void loseDevice() { isLost = true; }
  bool hasLostDevice() const { return isLost; }

  /// What the check says of the case named so, which is not launched.
  void addFound(const std::string &caseName, const check::FirstFinding &finding) {
    std::lock_guard lock(mutex);
    if (found.text.empty() || (finding.isEndless() && !found.isEndless())) {
      found = finding;
      foundIn = caseName;
    }
  }
  /// The gravest so far: an endless loop, or the first one; no text: nothing was found.
  check::FirstFinding gravest() const {
    std::lock_guard lock(mutex);
    return found;
  }
  std::string gravestCase() const {
    std::lock_guard lock(mutex);
    return foundIn;
  }

  /// The generation notes which schedules it was asked for.
  generator::Schedule scheduleFor(generator::Generation &generation,
                                  const definition::GridCase &grid, DType dtype,
                                  const Machine &chip);

private:
  mutable std::mutex mutex;
  std::set<std::string> checked;
  check::FirstFinding found;
  std::string foundIn;
  std::atomic<bool> isLost = false;
};

/// With the numbers of the case, and without the table, which other cases fill meanwhile.
generator::Generation withNumbers(const generator::Generation &generation,
                                  const definition::GridCase &grid);

/// What the name of a case ends with when its magnitudes came nearer to 1, or its data are others.
inline constexpr std::string_view takenAs = ", taken as ";

/// A case with magnitudes that its operator can bear, and with normal numbers where it has no value
/// on others. What goes wrong with the kernel is in the
/// row; errors: of its source, which every other case would run into as well, and E0506.
Result<Attempt> verifyCase(generator::Generation &generation, VerificationProgress &progress,
                           const Machine &chip, definition::GridCase grid, DType dtype);

} // namespace nereid::develop
