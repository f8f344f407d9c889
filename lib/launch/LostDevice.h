// SPDX-License-Identifier: Apache-2.0
// A kernel's fault may take a device from the whole process: nothing works on it any more, whoever
// asks. What is left to do then needs another process.
#pragma once

#include "lib/support/Diagnostics.h"
#include "runtime/Device.h"
#include "runtime/Kernel.h"
#include "runtime/LaunchError.h"
#include "runtime/Stream.h"

namespace nereid::launch {

inline constexpr const char *lostDeviceCode = "E0421";

inline bool isDeviceLost(const Diagnostic &error) { return error.code == lostDeviceCode; }

/// Asks the device; what it says when it is lost, else no error.
inline runtime::LaunchError lossOf(runtime::Device &device) {
  const auto nothing = [](runtime::Stream &) { return runtime::LaunchError{}; };
  runtime::LaunchError error = device.runAndWait(nothing);
  return error.code == lostDeviceCode ? error : runtime::LaunchError{};
}

/// Asks the device that the kernel is for.
inline bool isDeviceLost(const runtime::Kernel &kernel) {
  runtime::Device *device = runtime::otherDevice(kernel);
  return device && bool(lossOf(*device));
}

/// As the failure of a row, which has no place for a code of its own.
inline std::string lostDeviceText(const Diagnostic &error) {
  return error.message + " [" + error.code + "]";
}

} // namespace nereid::launch
