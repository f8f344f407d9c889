// SPDX-License-Identifier: Apache-2.0
// A processor with memory of its own: it allocates, loads code and has streams to launch and copy.
// The CPU is one, `cpuDevice()`, whose memory is the host's. The address of another device's memory
// is no address of the host: only the copies of its streams (runtime/Stream.h) reach the bytes,
// which tensors (runtime/tensor/Tensor.h) use.
#pragma once

#include "runtime/LaunchError.h"
#include "runtime/Module.h"
#include "runtime/Stream.h"

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <variant>

namespace nereid::runtime {

/// Lives as long as the process. All functions may be called from several threads at once.
class Device {
public:
  static constexpr int32_t hostDlpackType = 1; ///< kDLCPU
  /// kind: "cpu", the word in front of ":" in the names of devices and of targets. dlpackType:
  /// DLDeviceType.
  Device(std::string kind, int32_t dlpackType, int32_t id)
      : kindName(std::move(kind)), ownName(kindName + ":" + std::to_string(id)), type(dlpackType),
        number(id) {}
  virtual ~Device() = default;
  Device(const Device &) = delete;
  Device &operator=(const Device &) = delete;

  const std::string &kind() const { return kindName; }
  int32_t dlpackType() const { return type; }
  int32_t id() const { return number; }
  /// Its memory is the host's: it is `cpuDevice()`.
  bool isHost() const { return type == hostDlpackType; }
  /// "cpu:0"
  const std::string &name() const { return ownName; }

  /// Uninitialised, aligned to 64 bytes at least; freed with the last copy of the pointer. Null
  /// when the memory cannot be had. bytes > 0; the pointer is an address of the device, on which
  /// byte offsets can be added.
  virtual std::shared_ptr<void> allocate(uint64_t bytes) = 0;
  /// Error text when this is no code that the device runs.
  virtual std::variant<std::shared_ptr<Module>, std::string>
  load(std::span<const uint8_t> code) = 0;
  virtual std::variant<std::unique_ptr<Stream>, LaunchError> makeStream() = 0;
  /// The one that is taken where a caller names none. Unlike others it may be used by several
  /// threads at once.
  virtual Stream &defaultStream() = 0;

private:
  std::string kindName, ownName;
  int32_t type, number;
};

/// "cpu:0".
Device &cpuDevice();

/// Makes the device of this number, or says why there is none.
using DeviceFactory = std::variant<std::unique_ptr<Device>, LaunchError> (*)(int32_t id);

/// Makes a kind of devices known; none is looked for before one is asked for. Registering a kind
/// again replaces the factory, devices that were made stay.
void registerDevices(std::string kind, int32_t dlpackType, DeviceFactory factory);

/// "cpu" or "cpu:0", made at the first call. E0415 when there is none.
std::variant<Device *, LaunchError> findDevice(std::string_view name);
/// The same by DLPack's DLDeviceType and number. Host memory that a GPU has pinned is the CPU's.
std::variant<Device *, LaunchError> findDevice(int32_t dlpackType, int32_t id);

} // namespace nereid::runtime
