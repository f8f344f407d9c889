// SPDX-License-Identifier: Apache-2.0
// What the kernels of unittests/nvidia_driver/Kernels.h do, on the host, and kernels of text tests
// that are named after what they do to the process.
#include "lib/targets/nvidia/driver/Failure.h"
#include "unittests/nvidia_driver/fake/State.h"

#include <csignal>
#include <cstring>

namespace nereid::nvidia::test {
namespace {

/// Where an access faults, null.
template <class T> T *element(uint64_t base, uint64_t index) {
  return reinterpret_cast<T *>(state().at(base + index * sizeof(T), sizeof(T)));
}

cuda::Result addScalar(const FakeCuda::Launch &launch, const std::vector<uint64_t> &values) {
  float scalar;
  std::memcpy(&scalar, &values[1], sizeof scalar);
  const uint64_t threads = uint64_t{launch.grid[0]} * launch.threads;
  for (uint64_t i = 0; i < threads && i < values[2]; ++i) {
    auto *place = element<float>(values[0], i);
    if (!place) {
      return cuda::IllegalAddress;
    }
    *place += scalar;
  }
  return cuda::Success;
}

cuda::Result writeIds(const FakeCuda::Launch &launch, const std::vector<uint64_t> &values) {
  const auto &[x, y, z] = launch.grid;
  for (uint32_t i = 0; i < x * y * z; ++i) {
    auto *place = element<uint32_t>(values[0], i);
    if (!place) {
      return cuda::IllegalAddress;
    }
    *place = i % x | (i / x % y) << 8 | (i / x / y) << 16;
  }
  return cuda::Success;
}

cuda::Result useShared(const FakeCuda::Launch &launch, const std::vector<uint64_t> &values) {
  auto *place = element<uint32_t>(values[0], 0);
  if (!place || values[1] + 4 > launch.sharedBytes) {
    return cuda::IllegalAddress;
  }
  *place = launch.threads;
  return cuda::Success;
}

cuda::Result assertNotOne(const std::vector<uint64_t> &values) {
  for (FakeModule *module : state().modules) {
    const auto record = module->globals.find("nereid_failure");
    auto *place =
        record == module->globals.end() ? nullptr : state().at(record->second.first, failureBytes);
    if (place && values[0] == 1) {
      const uint32_t numbers[] = {1, 0, 7, 0};
      std::memcpy(place, numbers, sizeof numbers);
      std::strcpy(reinterpret_cast<char *>(place) + failureTextAt, "ons");
    }
  }
  return cuda::Success;
}

} // namespace

cuda::Result runKernel(const FakeCuda::Launch &launch, const std::vector<uint64_t> &values,
                       const FakeKernel &kernel) {
  if (kernel.name == "fault") {
    return cuda::IllegalAddress;
  }
  if (kernel.name == "fail_launch") {
    return cuda::LaunchFailed;
  }
  if (kernel.name == "end_process") { // as a driver that does not survive it
    ::raise(SIGKILL);
  }
  return kernel.name == "add_scalar"       ? addScalar(launch, values)
         : kernel.name == "write_ids"      ? writeIds(launch, values)
         : kernel.name == "use_shared"     ? useShared(launch, values)
         : kernel.name == "assert_not_one" ? assertNotOne(values)
                                           : cuda::Success;
}

} // namespace nereid::nvidia::test
