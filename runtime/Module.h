// SPDX-License-Identifier: Apache-2.0
// Code that a device has loaded. Kernels (runtime/Kernel.h) are functions of one.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

namespace nereid::runtime {

class Device;

/// What the code of one function takes of a processor that runs several of its programs at a time.
struct FunctionResources {
  int64_t registers = 0;   ///< of a thread
  int64_t sharedBytes = 0; ///< of a program, besides what a launch asks for
  int64_t localBytes = 0;  ///< of a thread, in memory: values without a register, and arrays
  /// Of localBytes, how many are stored and loaded for want of registers; where somebody tells.
  std::optional<int64_t> spillStoreBytes = {}, spillLoadBytes = {};
};

/// Destroying it unloads the code.
class Module {
public:
  explicit Module(Device &device) : owner(&device) {}
  virtual ~Module() = default;
  Module(const Module &) = delete;
  Module &operator=(const Module &) = delete;

  Device &device() const { return *owner; }
  /// A function or variable defined in the code, or null. The CPU gives its address; another device
  /// whatever its streams take for Kernel::entry.
  virtual void *symbol(std::string_view name) const = 0;
  /// Of a function, where the device keeps account of that.
  virtual std::optional<FunctionResources> resources(std::string_view) const { return {}; }

private:
  Device *owner;
};

} // namespace nereid::runtime
