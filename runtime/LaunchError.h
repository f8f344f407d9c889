// SPDX-License-Identifier: Apache-2.0
// How a launch, a copy or another operation of a device refuses.
#pragma once

#include <string>

namespace nereid::runtime {

/// What was refused, in words; empty = done. Message form follows STYLE ("expects …, but got …");
/// a launch's code is E0401, E0405..E0411, E0413, E0416, E0505, E0507 or what its device says.
struct LaunchError {
  std::string code, message;
  explicit operator bool() const { return !code.empty(); }
};

} // namespace nereid::runtime
