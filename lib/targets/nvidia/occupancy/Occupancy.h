// SPDX-License-Identifier: Apache-2.0
// Occupancy: how many programs of a kernel a multiprocessor runs at a time. From CUDA C++
// Programming Guide, "Technical Specifications per Compute Capability", and the units in which
// registers and shared memory are given out, as NVIDIA's occupancy calculator has them:
//   128 threads with 32 registers and no shared memory on 9.0: 16 programs of 4 warps, all 64.
#pragma once

#include "lib/pipeline/Occupation.h"

#include <cstdint>
#include <optional>

namespace nereid::nvidia {

/// What a multiprocessor has, by compute capability.
struct Multiprocessor {
  int capability = 0; ///< 10 × major + minor
  int64_t threads = 0, programs = 0;
  int64_t sharedBytes = 0; ///< for all programs; 1 KiB of each is the driver's
  int64_t registers = 64 << 10;
};

/// Nothing of one that is not known.
std::optional<Multiprocessor> multiprocessorOf(int capability);

/// threads, dynamicSharedBytes: of a program.
pipeline::Occupation occupancy(const Multiprocessor &processor,
                               const runtime::FunctionResources &resources, int64_t threads,
                               int64_t dynamicSharedBytes);

} // namespace nereid::nvidia
