// SPDX-License-Identifier: Apache-2.0
// What a launch says when its programs failed. Private to the runtime.
#pragma once

#include "runtime/Kernel.h"
#include "runtime/core/LaunchFrame.h"

namespace nereid::runtime {

/// E0407 when an assertion failed, else nothing.
LaunchError assertionError(const Kernel &kernel, const LaunchFailure &failure);
/// E0505.
LaunchError outOfScratch(const Kernel &kernel);

} // namespace nereid::runtime
