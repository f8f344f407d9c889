// SPDX-License-Identifier: Apache-2.0
// Of the fake driver: the same for programs in C, which know no FakeCuda.
#include "unittests/nvidia_driver/fake/State.h"

#include <cinttypes>
#include <cstdio>

using namespace nereid::nvidia::test;

/// Prints every launch that has run, in order, how often code was loaded, and what was done wrong.
FAKE_CUDA void fakeCudaReport() {
  std::lock_guard guard(state().lock);
  for (const FakeCuda::Launch &launch : state().launches) {
    std::printf("launch %s%s%s on device %d, grid %u %u %u, threads %u, shared %u:",
                launch.kernel.c_str(), launch.isMachineCode ? " (machine code)" : "",
                launch.isEarly ? " (early)" : "", launch.device, launch.grid[0], launch.grid[1],
                launch.grid[2], launch.threads, launch.sharedBytes);
    for (const uint64_t parameter : launch.parameters) {
      std::printf(" %" PRIx64, parameter);
    }
    std::printf("\n");
  }
  for (const std::string &violation : state().violations) {
    std::printf("violation: %s\n", violation.c_str());
  }
  std::printf("%zu loads\n", state().count("cuModuleLoadDataEx"));
}

/// What the driver is, before anything is asked of it: a number of FakeCuda by its name.
FAKE_CUDA void fakeCudaSet(const char *what, int value) {
  const std::map<std::string, int *> members = {{"version", &state().version},
                                                {"deviceCount", &state().deviceCount},
                                                {"capability", &state().capability},
                                                {"loadMilliseconds", &state().loadMilliseconds}};
  *members.at(what) = value;
}

/// The next call of this name fails with a CUresult.
FAKE_CUDA void fakeCudaFail(const char *call, int result) {
  state().fail(call, static_cast<nereid::nvidia::cuda::Result>(result));
}
