// SPDX-License-Identifier: Apache-2.0
// A CUevent, recorded, as an event of the runtime.
#pragma once

#include "lib/targets/nvidia/driver/NvidiaDevice.h"
#include "runtime/Stream.h"

namespace nereid::nvidia {

class NvidiaEvent final : public runtime::Event {
public:
  NvidiaEvent(NvidiaDevice &device, cuda::Event handle)
      : Event(device), nvidia(device), event(handle) {}
  ~NvidiaEvent() override;

  cuda::Event handle() const { return event; }

  LaunchError synchronize() override;
  /// By the device's clock, which ticks every half microsecond or so. E0416 for an event of another
  /// device.
  std::variant<double, LaunchError> nanosSince(runtime::Event &start) override;

private:
  NvidiaDevice &nvidia;
  cuda::Event event;
};

} // namespace nereid::nvidia
