// SPDX-License-Identifier: Apache-2.0
#include "lib/targets/nvidia/driver/Errors.h"

namespace nereid::nvidia {

std::string describe(const Driver &driver, cuda::Result result) {
  const char *name = nullptr, *text = nullptr;
  if (driver.getErrorName(result, &name) != cuda::Success || !name) {
    return "result " + std::to_string(result); // of a newer driver
  }
  std::string described = name;
  if (driver.getErrorString(result, &text) == cuda::Success && text) {
    described += " (" + std::string(text) + ")";
  }
  return described;
}

bool endsContext(cuda::Result result) {
  switch (result) {
  case cuda::DeviceUnavailable:
  case cuda::EccUncorrectable:
  case cuda::NvlinkUncorrectable:
  case cuda::Contained:
  case cuda::IllegalAddress:
  case cuda::LaunchTimeout:
  case cuda::ContextIsDestroyed:
  case cuda::Assert:
  case cuda::HardwareStackError:
  case cuda::IllegalInstruction:
  case cuda::MisalignedAddress:
  case cuda::InvalidAddressSpace:
  case cuda::InvalidPc:
  case cuda::LaunchFailed:
  case cuda::TensorMemoryLeak:
  case cuda::MpsClientTerminated:
  case cuda::Timeout:
  case cuda::ExternalDevice:
    return true;
  default:
    return false;
  }
}

LaunchError errorOf(const Driver &driver, cuda::Result result, std::string_view asked,
                    std::string_view device, std::string_view lastKernel) {
  if (result == cuda::Success) {
    return {};
  }
  const std::string what(asked), place(device), why = describe(driver, result);
  if (endsContext(result)) {
    std::string message = "'" + place + "' is lost to this process: " + why + ", told by " + what;
    if (!lastKernel.empty()) {
      message += "; the kernel that its stream was given last is '" + std::string(lastKernel) + "'";
    }
    return {"E0421", message + "; no context of this process works on it any more, start again"};
  }
  return {result == cuda::OutOfMemory ? "E0506" : "E0422",
          "'" + place + "' refuses " + what + ": " + why};
}

} // namespace nereid::nvidia
