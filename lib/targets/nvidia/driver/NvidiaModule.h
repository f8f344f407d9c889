// SPDX-License-Identifier: Apache-2.0
// Code loaded on one NVIDIA device, and its functions as that device's streams take them.
#pragma once

#include "lib/targets/nvidia/driver/NvidiaDevice.h"
#include "runtime/Module.h"

#include <map>
#include <memory>
#include <mutex>
#include <span>
#include <string>

namespace nereid::nvidia {

/// What Module::symbol gives for Kernel::entry. It may use as much dynamic shared memory as the
/// device has beside its static one: the driver has been asked for it.
struct KernelFunction {
  cuda::Function handle = nullptr;
  int maxThreads = 0;                ///< of a program, as its registers allow
  int staticSharedBytes = 0;         ///< of a program
  int maxDynamicSharedBytes = 0;     ///< of a program
  cuda::Address failure = 0;         ///< the record of Failure.h; 0: the module asserts nothing
  const std::string *name = nullptr; ///< of the process: it outlives the module, for messages
};

class NvidiaModule final : public runtime::Module {
public:
  /// PTX (the driver compiles it), a cubin or a fat binary, by its first bytes. E0390 for others
  /// and for PTX that the driver does not compile, with its log; E0305 for code of other devices
  /// than this; E0418 when the driver is too old for the PTX or compiles none; E0506; what errorOf
  /// says.
  static std::variant<std::shared_ptr<runtime::Module>, LaunchError>
  load(NvidiaDevice &device, std::span<const uint8_t> code);
  ~NvidiaModule() override;

  /// A KernelFunction that lives as long as the module, or null when there is none of this name.
  void *symbol(std::string_view name) const override;
  std::optional<runtime::FunctionResources> resources(std::string_view name) const override;

private:
  NvidiaModule(NvidiaDevice &device, cuda::Module handle)
      : Module(device), nvidia(device), handle(handle) {}
  cuda::Result describe(const std::string &name, KernelFunction &function) const;

  NvidiaDevice &nvidia;
  cuda::Module handle;
  mutable std::mutex lock;
  mutable std::map<std::string, KernelFunction, std::less<>> functions; ///< nodes never move
};

} // namespace nereid::nvidia
