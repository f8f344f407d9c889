// SPDX-License-Identifier: Apache-2.0
// The seconds that work takes on a device, between two events of one of its streams.
//   DeviceClock clock(device);
//   clock.time(10, [&](Stream &stream) { return launch(kernel, grid, values, stream); }, seconds);
#pragma once

#include "runtime/Device.h"

#include <functional>
#include <memory>

namespace nereid::bench {

/// Of one thread at a time.
class DeviceClock {
public:
  explicit DeviceClock(runtime::Device &device) : device(device) {}

  /// Queues the work so often and waits for it. The stream is busy with a copy while it is queued,
  /// so that what the host takes to queue it counts only where the device is quicker. The seconds
  /// are those of all runs; after an error those that the host has waited.
  runtime::LaunchError time(int runs,
                            const std::function<runtime::LaunchError(runtime::Stream &)> &queue,
                            double &seconds);

private:
  runtime::LaunchError keepBusy(runtime::Stream &stream);

  runtime::Device &device;
  std::shared_ptr<void> here, there; ///< the copy's; made at the first call
};

} // namespace nereid::bench
