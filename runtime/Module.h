// SPDX-License-Identifier: Apache-2.0
// Code that a device has loaded. Kernels (runtime/Kernel.h) are functions of one.
#pragma once

#include <string_view>

namespace nereid::runtime {

class Device;

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

private:
  Device *owner;
};

} // namespace nereid::runtime
