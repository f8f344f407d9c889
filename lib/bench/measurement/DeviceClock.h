// SPDX-License-Identifier: Apache-2.0
// The seconds that work takes on a device, between two events of one of its streams.
//   DeviceClock clock(device);
//   clock.time(10, [&](Stream &stream) { return launch(kernel, grid, values, stream); }, seconds);
#pragma once

#include "runtime/Device.h"

#include <functional>
#include <memory>

namespace nereid::bench {

/// Whether the time in which a device waits for the host to queue its work counts.
enum class Queueing : uint8_t {
  Hidden,  ///< the stream waits for a copy meanwhile, which counts only where that is longer
  Counted, ///< the stream is idle when the first run is queued, as a caller has it
};

/// Of one thread at a time.
class DeviceClock {
public:
  explicit DeviceClock(runtime::Device &device, Queueing queueing = Queueing::Hidden)
      : device(device), queueing(queueing) {}

  /// Queues the work so often and waits for it. The seconds are those of all runs; after an error
  /// those that the host has waited.
  runtime::LaunchError time(int runs,
                            const std::function<runtime::LaunchError(runtime::Stream &)> &queue,
                            double &seconds);

private:
  runtime::LaunchError keepBusy(runtime::Stream &stream);

  runtime::Device &device;
  Queueing queueing;
  /// The copy's, made at the first call. In a stream of its own: behind a copy of its own a stream
  /// begins a kernel microseconds after the event that stands between them.
  std::shared_ptr<void> here, there;
  std::unique_ptr<runtime::Stream> copies; ///< waits for the last one before the memory goes
};

} // namespace nereid::bench
