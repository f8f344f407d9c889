// SPDX-License-Identifier: Apache-2.0
#include "lib/targets/nvidia/NvidiaMachine.h"

#include <fmt/format.h>

#include <algorithm>

namespace nereid::nvidia {

Result<NvidiaMachine> parseNvidiaMachine(std::string_view architecture) {
  // CUDA C++ Programming Guide, "Compute Capabilities": shared memory per thread block.
  static const NvidiaMachine known[] = {
      {"sm_80", 80, 163 << 10}, {"sm_86", 86, 99 << 10},         {"sm_89", 89, 99 << 10},
      {"sm_90", 90, 227 << 10}, {"sm_90a", 90, 227 << 10, true},
  };
  const auto *found = std::find_if(std::begin(known), std::end(known),
                                   [&](const auto &one) { return one.name == architecture; });
  if (found == std::end(known)) {
    return makeError("E0303",
                     fmt::format("'nvidia:{}' is no architecture that nereid knows", architecture))
        .withHelp("use nvidia:sm_80, nvidia:sm_86, nvidia:sm_89, nvidia:sm_90 or nvidia:sm_90a");
  }
  return *found;
}

} // namespace nereid::nvidia
