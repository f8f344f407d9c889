// SPDX-License-Identifier: Apache-2.0
// A compiled kernel as something to be timed, and what else is queued on a device.
#pragma once

#include "lib/bench/measurement/DeviceClock.h"
#include "lib/bench/measurement/Measurement.h"
#include "lib/support/Diagnostics.h"
#include "runtime/Kernel.h"

#include <span>
#include <string>

namespace nereid::bench {

/// The launch alone is timed. A kernel of another device than the CPU is timed by that device's
/// clock, see DeviceClock.h, and works on copies that its tensors in host memory have there, sent
/// before and fetched after the time is taken. Kernel and tensors must outlive it.
TimedLaunch launchOf(std::string name, const runtime::Kernel &kernel, runtime::Grid grid,
                     std::span<const runtime::ArgumentValue> arguments,
                     Queueing queueing = Queueing::Hidden);

struct Launch {
  const runtime::Kernel *kernel = nullptr;
  runtime::Grid grid = {1, 1, 1};
  std::span<const runtime::ArgumentValue> values;
};
/// The same of launches one after another, at least one and all for one device; what they share is
/// one copy there.
TimedLaunch launchOf(std::string name, std::span<const Launch> launches,
                     Queueing queueing = Queueing::Hidden);

/// Work of user's kernels that `queue` puts on a stream of the device, timed by its clock.
TimedLaunch queuedWork(std::string name, runtime::Device &device,
                       std::function<runtime::LaunchError(runtime::Stream &)> queue,
                       Queueing queueing);

/// A launch on a device, recorded once in a graph (runtime/Graph.h) that each run replays. What it
/// works on, and what it sends and fetches, is the launch's, which must outlive it. E0423 from
/// devices without graphs, and what capturing says.
Result<TimedLaunch> captured(std::string name, const TimedLaunch &launch, Queueing queueing);

} // namespace nereid::bench
