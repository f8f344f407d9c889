// SPDX-License-Identifier: Apache-2.0
// A compiled kernel as something to be timed.
#pragma once

#include "lib/bench/measurement/Measurement.h"
#include "runtime/Kernel.h"

#include <span>
#include <string>

namespace nereid::bench {

/// The launch alone is timed. A kernel of another device than the CPU is timed by that device's
/// clock, see DeviceClock.h, and works on copies that its tensors in host memory have there, sent
/// before and fetched after the time is taken. Kernel and tensors must outlive it.
TimedLaunch launchOf(std::string name, const runtime::Kernel &kernel, runtime::Grid grid,
                     std::span<const runtime::ArgumentValue> arguments);

} // namespace nereid::bench
