// SPDX-License-Identifier: Apache-2.0
// NVIDIA's driver library, found when it is first asked for: a program that never does needs none.
//   if (const Driver *const *cuda = std::get_if<const Driver *>(&driver())) {
//     (*cuda)->deviceGetCount(&count);
//   }
#pragma once

#include "lib/targets/nvidia/driver/Cuda.h"
#include "runtime/LaunchError.h"

#include <memory>
#include <string>
#include <variant>

namespace nereid::nvidia {

using runtime::LaunchError;

/// The functions, each with the result that the driver API's reference says. Lives as long as the
/// process, as the library does: threads that it has started cannot be unloaded.
struct Driver {
#define NEREID_CUDA(name, symbol, parameters) cuda::Result(*name) parameters = nullptr;
#include "lib/targets/nvidia/driver/CudaFunctions.def"
  std::string library; ///< the file, for messages
  std::string build;   ///< the file behind all links, whose name tells the release, and its size
  int version = 0;     ///< the newest CUDA it knows: 1000 × major + 10 × minor
};

/// "12.4" for 12040
std::string cudaVersionText(int version);

/// Loads and initialises the driver. E0419 when there is none or it does not start, E0420 when it
/// is too old, E0415 when it has no device. library: a path, or a name that the system looks up.
std::variant<std::unique_ptr<Driver>, LaunchError> loadDriver(const char *library);

/// The system's, loaded at the first call; any thread may ask. An error stays for the process.
const std::variant<const Driver *, LaunchError> &driver();

} // namespace nereid::nvidia
