// SPDX-License-Identifier: Apache-2.0
// A device's primary context, the one that CUDA's runtime and so other libraries of this process
// use as well: memory, streams and kernels of all of them may be used together. What another
// library has made current on a thread stays so.
#pragma once

#include "lib/targets/nvidia/driver/Driver.h"

namespace nereid::nvidia {

class PrimaryContext {
public:
  /// Makes the context, or shares the one that somebody has made, with its settings.
  static std::variant<std::unique_ptr<PrimaryContext>, LaunchError>
  retain(const Driver &driver, cuda::DeviceNumber device, const std::string &deviceName);
  ~PrimaryContext();
  PrimaryContext(const PrimaryContext &) = delete;
  PrimaryContext &operator=(const PrimaryContext &) = delete;

  cuda::Context get() const { return context; }
  /// The result of the call, which is made with this context current on the calling thread.
  template <class Call> cuda::Result run(const Call &call) const {
    const Current current(*this);
    return current.result == cuda::Success ? call() : current.result;
  }

private:
  PrimaryContext(const Driver &driver, cuda::DeviceNumber device, cuda::Context context)
      : api(driver), device(device), context(context) {}

  /// For the time of one call. Asking which one is current costs less than pushing.
  class Current {
  public:
    explicit Current(const PrimaryContext &wanted) : api(wanted.api) {
      cuda::Context now = nullptr;
      result = api.ctxGetCurrent(&now);
      if (result == cuda::Success && now != wanted.context) {
        result = api.ctxPushCurrent(wanted.context);
        isPushed = result == cuda::Success;
      }
    }
    ~Current() {
      if (isPushed) {
        cuda::Context popped = nullptr;
        (void)api.ctxPopCurrent(&popped);
      }
    }
    Current(const Current &) = delete;
    Current &operator=(const Current &) = delete;

    cuda::Result result;

  private:
    const Driver &api;
    bool isPushed = false;
  };

  const Driver &api;
  cuda::DeviceNumber device;
  cuda::Context context;
};

} // namespace nereid::nvidia
