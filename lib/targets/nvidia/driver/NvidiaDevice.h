// SPDX-License-Identifier: Apache-2.0
// An NVIDIA GPU as a device of the runtime, "nvidia:0". Its memory, streams and modules belong to
// the device's primary context, which each call makes current for itself alone.
#pragma once

#include "lib/targets/nvidia/driver/Grids.h"
#include "lib/targets/nvidia/driver/PrimaryContext.h"
#include "runtime/Device.h"

#include <array>

namespace nereid::nvidia {

/// What the driver says of a device.
struct DeviceFacts {
  std::string name;   ///< "NVIDIA H200"
  int capability = 0; ///< 10 × major + minor: 90
  int multiprocessors = 0;
  uint64_t memoryBytes = 0;
  int threadsPerBlock = 0;
  int cacheBytes = 0;          ///< of the second level, which all multiprocessors share
  int sharedBytes = 0;         ///< of a multiprocessor
  int sharedBytesPerBlock = 0; ///< at most, what kernels have to ask for included
  std::array<int64_t, 3> gridLimits{};
};

/// kDLCUDA
inline constexpr int32_t cudaDlpackType = 2;

/// Makes "nvidia:0" and its neighbours known to runtime::findDevice; the driver is looked for when
/// one is asked for.
void registerNvidiaDevices();

class NvidiaDevice final : public runtime::Device {
public:
  /// E0415 when the driver has no device of this number, and what errorOf says.
  static std::variant<std::unique_ptr<NvidiaDevice>, LaunchError> make(const Driver &driver,
                                                                       int32_t number);

  std::string architecture() const override;
  int processors() const override { return known.multiprocessors; }
  runtime::DeviceDescription describe() const override;
  std::shared_ptr<void> allocate(uint64_t bytes) override;
  std::shared_ptr<void> allocateHost(uint64_t bytes) override;
  /// With the bytes that are free; E0421 of a device that is lost.
  LaunchError noMemory(uint64_t bytes) override;
  /// PTX, a cubin or a fat binary: see NvidiaModule.h.
  std::variant<std::shared_ptr<runtime::Module>, LaunchError>
  load(std::span<const uint8_t> code) override;
  /// "libcuda.so.580.159.04 of 96107528 bytes, CUDA 13.0, for 9.0"
  std::string compiler() const override;
  std::variant<std::unique_ptr<runtime::Stream>, LaunchError> makeStream() override;
  /// A CUstream of this device's primary context; E0416 for one of another context.
  std::variant<std::unique_ptr<runtime::Stream>, LaunchError> wrapStream(void *handle) override;

  const Driver &driver() const { return api; }
  const PrimaryContext &context() const { return *primary; }
  const DeviceFacts &facts() const { return known; }
  /// Whether a grid may be launched that begins before those before it have ended.
  bool takesEarlyGrids() const {
    return known.capability >= firstWithEarlyGrids &&
           api.version >= cuda::firstWithCapturedAttributes;
  }

private:
  NvidiaDevice(const Driver &driver, int32_t number, std::unique_ptr<PrimaryContext> context,
               DeviceFacts facts)
      : Device("nvidia", cudaDlpackType, number), api(driver), primary(std::move(context)),
        known(std::move(facts)) {}

  const Driver &api;
  std::unique_ptr<PrimaryContext> primary;
  DeviceFacts known;
};

} // namespace nereid::nvidia
