// SPDX-License-Identifier: Apache-2.0
#include "lib/targets/nvidia/driver/PrimaryContext.h"

#include "lib/targets/nvidia/driver/Errors.h"

namespace nereid::nvidia {

std::variant<std::unique_ptr<PrimaryContext>, LaunchError>
PrimaryContext::retain(const Driver &driver, cuda::DeviceNumber device,
                       const std::string &deviceName) {
  cuda::Context context = nullptr;
  if (LaunchError error = errorOf(driver, driver.primaryCtxRetain(&context, device),
                                  "a context for this process", deviceName)) {
    return error;
  }
  return std::unique_ptr<PrimaryContext>(new PrimaryContext(driver, device, context));
}

PrimaryContext::~PrimaryContext() { (void)api.primaryCtxRelease(device); }

} // namespace nereid::nvidia
