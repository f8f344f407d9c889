// SPDX-License-Identifier: Apache-2.0
// A processor with memory of its own: it allocates, loads code and has streams to launch and copy.
// docs/streams.md says what users may rely on, and what a new device has to see to.
// The CPU is one, `cpuDevice()`, whose memory is the host's. The address of another device's memory
// is no address of the host: only the copies of its streams (runtime/Stream.h) reach the bytes,
// which tensors (runtime/tensor/Tensor.h) use.
#pragma once

#include "runtime/LaunchError.h"
#include "runtime/Module.h"
#include "runtime/ScratchMemory.h"
#include "runtime/Stream.h"

#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <span>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

namespace nereid::runtime {

/// What a device says of itself; 0 or "" where it does not.
struct DeviceDescription {
  std::string model;       ///< "NVIDIA H200"
  int64_t memoryBytes = 0; ///< of its own memory
  int64_t localBytes = 0;  ///< of the memory nearest to each processor, caches and scratch together
  int64_t cacheBytes = 0;  ///< of the cache that all processors share
  int vectorBytes = 0;     ///< of float32 that one instruction of a processor works on
  int registers = 0;       ///< that code can name, of vectorBytes each
};

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
  /// What the name of the target whose code suits this device best has behind the kind, "sm_90a";
  /// empty: the kind alone is that target.
  virtual std::string architecture() const { return {}; }
  /// How many processors run its programs, each several at a time; 0 = it does not say.
  virtual int processors() const { return 0; }
  virtual DeviceDescription describe() const { return {}; }

  /// Uninitialised, aligned to 64 bytes at least; freed with the last copy of the pointer. Null
  /// when the memory cannot be had. bytes > 0; the pointer is an address of the device, on which
  /// byte offsets can be added.
  virtual std::shared_ptr<void> allocate(uint64_t bytes) = 0;
  /// Host memory that copies of this device's streams reach without the processor (pinned), so that
  /// they do not keep their caller waiting; otherwise as allocate(). What a device without such
  /// memory gives is plain.
  virtual std::shared_ptr<void> allocateHost(uint64_t bytes);
  /// Why allocate(bytes) has given null, asked right afterwards: E0506 with what was asked, and
  /// what is free where the device tells; or what the device has failed with.
  virtual LaunchError noMemory(uint64_t bytes);
  /// E0390 when this is no code for this kind of device, E0305 when it is for another one of it,
  /// E0506 without memory, E0418 when something else keeps the device from running it.
  virtual std::variant<std::shared_ptr<Module>, LaunchError>
  load(std::span<const uint8_t> code) = 0;
  /// Where load() compiles the code, a text: who does, and for what. Empty where nothing is
  /// compiled.
  virtual std::string compiler() const { return {}; }
  virtual std::variant<std::unique_ptr<Stream>, LaunchError> makeStream() = 0;
  /// A stream of another library, by the handle that this kind of device has for it (a CUstream,
  /// null being the one without a name); the two libraries' work is in the order of their calls. It
  /// stays that library's and must live longer. E0417 from devices that have none.
  virtual std::variant<std::unique_ptr<Stream>, LaunchError> wrapStream(void *handle);

  /// For work whose caller names no stream: queue(stream) on one that nobody else uses meanwhile,
  /// then waits until nothing of it touches memory any more, also when it failed. The first
  /// failure, which is of this work.
  LaunchError runAndWait(const std::function<LaunchError(Stream &)> &queue);
  /// For work whose caller waits until it is done before the memory goes back.
  ScratchMemory &scratch() { return scratchMemory; }

private:
  std::variant<std::unique_ptr<Stream>, LaunchError> takeStream();

  ScratchMemory scratchMemory{*this};
  std::mutex idleLock;
  std::vector<std::unique_ptr<Stream>> idle; ///< made for runAndWait
  std::string kindName, ownName;
  int32_t type, number;
};

/// "cpu:0".
Device &cpuDevice();

/// Makes the device of this number, which is not negative, or says why there is none. It may be
/// called by two threads at once; the second one's device goes again.
using DeviceFactory = std::variant<std::unique_ptr<Device>, LaunchError> (*)(int32_t id);

/// Makes a kind of devices known; none is looked for before one is asked for. Registering a kind
/// again replaces the factory, devices that were made stay.
void registerDevices(std::string kind, int32_t dlpackType, DeviceFactory factory);

/// "cpu" or "cpu:0", made at the first call. E0415 when there is none.
std::variant<Device *, LaunchError> findDevice(std::string_view name);
/// The same by DLPack's DLDeviceType and number. Host memory that a GPU has pinned is the CPU's.
std::variant<Device *, LaunchError> findDevice(int32_t dlpackType, int32_t id);

} // namespace nereid::runtime
