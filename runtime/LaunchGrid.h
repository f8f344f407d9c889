// SPDX-License-Identifier: Apache-2.0
// The last part of a launch on the CPU: the programs of its grid on the threads of a pool. Private
// to the runtime.
#pragma once

#include "runtime/Kernel.h"

namespace nereid::runtime {

/// Arguments and grid are checked, and the grid is not empty. E0407 when an assertion failed, E0505
/// without memory; of programs that wait for each other E0413 when none can get on for
/// NEREID_DEADLOCK_SECONDS (default 10, 0 = wait for ever), and E0507.
LaunchError launchGrid(const Kernel &kernel, Grid grid, const uint64_t *slots, ThreadPool &pool,
                       ProgramOrder order);

} // namespace nereid::runtime
