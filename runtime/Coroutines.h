// SPDX-License-Identifier: Apache-2.0
// Launches of kernels whose programs may wait for each other (KernelInfo::canWait): each program
// has a stack and scratch memory of its own and gives way in its waiting loops, so that every
// program of the grid gets its turn, however few threads there are. Private to the runtime.
//
// A worker of the pool runs its programs in turns. It starts further ones, lowest id first, when it
// has none, and a few after each round in which programs only waited: a program may wait for any
// other, but most wait for little, and their memory is soon free again.
#pragma once

#include "runtime/Kernel.h"

namespace nereid::runtime {

/// What all waiting programs of a launch together may take for stacks and scratch.
inline constexpr uint64_t coroutineBytesLimit = uint64_t{1} << 30;

/// The grid has been checked and is not empty. E0407, E0413 when no program can get on for
/// NEREID_DEADLOCK_SECONDS (default 10, 0 = wait for ever), E0505, E0507.
LaunchError launchCoroutines(const Kernel &kernel, Grid grid, const uint64_t *slots,
                             ThreadPool &pool);

} // namespace nereid::runtime
