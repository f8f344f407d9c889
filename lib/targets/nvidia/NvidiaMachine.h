// SPDX-License-Identifier: Apache-2.0
// What of a GPU decides the code that is made for it.
#pragma once

#include "lib/support/Diagnostics.h"

#include <string>
#include <string_view>

namespace nereid::nvidia {

struct NvidiaMachine {
  std::string name;           ///< "sm_90a"
  int capability = 0;         ///< 90
  int64_t sharedBytes = 0;    ///< the most that one program can have
  bool hasWarpgroups = false; ///< whether four warps together multiply tiles in shared memory
};

/// From what follows "nvidia:" in the name of a target. E0303 for one that is not known.
Result<NvidiaMachine> parseNvidiaMachine(std::string_view architecture);

} // namespace nereid::nvidia
