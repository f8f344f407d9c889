// SPDX-License-Identifier: Apache-2.0
// The devices of ToyTarget.h, "toy:0" and "toy:1". Their addresses are none of the host's: whoever
// takes one for a host address faults.
#pragma once

#include "runtime/Device.h"
#include "runtime/Kernel.h"

#include <map>
#include <mutex>

namespace nereid::conformance {

/// Makes the devices "toy" known.
void registerToyDevices();

/// Makes a host address one of a device, which no host has, and back.
void *otherSide(const void *address);

class ToyDevice final : public runtime::Device {
public:
  static constexpr int32_t dlpackType = 12; ///< kDLExtDev, which nothing else in the test uses
  explicit ToyDevice(int32_t id) : Device("toy", dlpackType, id) {}

  std::shared_ptr<void> allocate(uint64_t bytes) override;
  /// As text, tile IR with one kernel.
  std::variant<std::shared_ptr<runtime::Module>, runtime::LaunchError>
  load(std::span<const uint8_t> code) override;
  std::variant<std::unique_ptr<runtime::Stream>, runtime::LaunchError> makeStream() override;
  /// A ToyQueue.
  std::variant<std::unique_ptr<runtime::Stream>, runtime::LaunchError>
  wrapStream(void *handle) override;

  /// Bytes from the host address to the end of the allocation that it is in.
  uint64_t bytesFrom(uint8_t *address);

private:
  std::mutex lock;
  std::map<void *, uint64_t> sizes; ///< by host address
};

/// What a stream does when it comes to a launch.
runtime::LaunchError launchToy(ToyDevice &device, const runtime::Kernel &kernel, runtime::Grid grid,
                               const uint64_t *slots);

} // namespace nereid::conformance
