// SPDX-License-Identifier: Apache-2.0
// What the driver answers, as a LaunchError: which code it is, what was asked of the device, and
// CUDA's own name and text for the result.
#pragma once

#include "lib/targets/nvidia/driver/Driver.h"

#include <string>
#include <string_view>

namespace nereid::nvidia {

/// "CUDA_ERROR_OUT_OF_MEMORY (out of memory)"
std::string describe(const Driver &driver, cuda::Result result);

/// The result ends the context, and the driver refuses every further call of this process: a kernel
/// that faulted, memory that failed, a device that is gone.
bool endsContext(cuda::Result result);

/// Empty for Success. E0421 when the context has ended, E0506 without memory, else E0422.
/// asked: "a copy of 64 bytes from the host"; device: "nvidia:0"; lastKernel: the one queued last,
/// where a kernel may be to blame.
LaunchError errorOf(const Driver &driver, cuda::Result result, std::string_view asked,
                    std::string_view device, std::string_view lastKernel = {});

} // namespace nereid::nvidia
