// SPDX-License-Identifier: Apache-2.0
// How a launch, a copy or another operation of a device refuses.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>

namespace nereid::runtime {

/// What was refused, in words; empty = done. Message form follows STYLE ("expects …, but got …");
/// a launch's code is E0401, E0405..E0411, E0413, E0416, E0505, E0507 or what its device says.
struct LaunchError {
  std::string code, message;
  explicit operator bool() const { return !code.empty(); }
};

/// E0407: an assertion of a kernel has failed in the program with these numbers.
LaunchError assertionError(std::string_view kernel, std::span<const int32_t, 3> id,
                           std::string_view message);

} // namespace nereid::runtime
