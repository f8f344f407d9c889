// SPDX-License-Identifier: Apache-2.0
// Arguments of a launch on a device whose memory the host cannot reach: copies of their tensors
// there. What makes, compares and guards tensors works in host memory, and only launches are
// elsewhere.
#pragma once

#include "runtime/Device.h"
#include "runtime/Kernel.h"
#include "runtime/remote/Arguments.h"

#include <span>
#include <vector>

namespace nereid::launch {

/// Tensors that share memory share their copies' as well, with every address as far from a page's
/// start as it is in host memory; tensors that are on a device already stay what they are.
class DeviceArguments {
public:
  /// The tensors must live as long as this does. Nothing is copied yet. E0506 when the device has
  /// not enough memory.
  static std::variant<DeviceArguments, runtime::LaunchError>
  make(runtime::Device &device, std::span<const runtime::ArgumentValue> arguments);

  /// What the launch takes.
  std::span<const runtime::ArgumentValue> values() const { return placed; }
  /// Host to device.
  runtime::LaunchError send() const;
  /// Device to host.
  runtime::LaunchError fetch() const;

private:
  template <class Copy> runtime::LaunchError copyAll(const Copy &copy) const;

  runtime::Device *device = nullptr;
  std::vector<runtime::remote::Region> host, there; ///< of the same number and sizes
  std::vector<std::unique_ptr<runtime::Tensor>> tensors;
  std::vector<runtime::ArgumentValue> placed;
};

} // namespace nereid::launch
