// SPDX-License-Identifier: Apache-2.0
// Which code of a library a GPU takes, by its compute capability.
#pragma once

#include "runtime/aot/DeviceTable.h"

namespace nereid::aot {

/// Compute capabilities count 10 × major + minor.
struct Architecture {
  int64_t capability = 0;
  bool isSpecific = false; ///< "sm_90a": runs on devices of exactly this capability
  bool runsPortable(int64_t device) const {
    return isSpecific ? device == capability : device >= capability;
  }
  /// Machine code also runs on the later ones of the same major number.
  bool runsNative(int64_t device) const {
    return runsPortable(device) && device / 10 == capability / 10;
  }
};

/// Of a target's name.
Architecture architectureOf(const char *name);

/// The number of the target whose code is made for the newest of what the device runs; -1: none.
int64_t bestTarget(const Table &table, int64_t device);

} // namespace nereid::aot
