// SPDX-License-Identifier: Apache-2.0
#include "lib/launch/DeviceArguments.h"

#include "runtime/tensor/Extent.h"

#include <algorithm>
#include <iterator>

namespace nereid::launch {

using runtime::ArgumentValue;
using runtime::LaunchError;
using runtime::Tensor;
using runtime::remote::Region;

namespace {

constexpr uintptr_t pageBytes = 4096;

/// The copy of a tensor that lies in one of the regions; without memory when it has no elements.
Tensor tensorThere(const Tensor &tensor, std::span<const Region> host,
                   std::span<const Region> there, runtime::Device &device) {
  const auto extent = runtime::extentOf(tensor).value_or(runtime::Extent{});
  const auto holds = [&](const Region &region) {
    const auto begin = reinterpret_cast<uintptr_t>(region.data);
    return extent.begin >= begin && extent.end <= begin + region.bytes;
  };
  const auto found = std::find_if(host.begin(), host.end(), holds);
  uint8_t *address = found == host.end() || extent.begin == extent.end
                         ? nullptr
                         : there[static_cast<size_t>(found - host.begin())].data +
                               (tensor.as<uint8_t>() - found->data);
  return Tensor::borrow(address, tensor.shape(), tensor.dtype(), tensor.strides(), device);
}

bool isHostTensor(const ArgumentValue &value) {
  const Tensor *const *tensor = std::get_if<const Tensor *>(&value);
  return tensor && *tensor && (*tensor)->isOnHost();
}

/// Memory for a copy of the region.
Region placeOf(const Region &region, runtime::Device &device) {
  const uint64_t misalignment = reinterpret_cast<uintptr_t>(region.data) % pageBytes;
  Region place;
  place.owner = device.allocate(misalignment + region.bytes);
  place.data = place.owner ? static_cast<uint8_t *>(place.owner.get()) + misalignment : nullptr;
  place.bytes = region.bytes;
  return place;
}

} // namespace

std::variant<DeviceArguments, LaunchError>
DeviceArguments::make(runtime::Device &device, std::span<const ArgumentValue> arguments) {
  DeviceArguments made;
  made.device = &device;
  std::vector<ArgumentValue> local;
  std::copy_if(arguments.begin(), arguments.end(), std::back_inserter(local), isHostTensor);
  made.host = runtime::remote::regionsOf(local);
  for (const Region &region : made.host) {
    made.there.push_back(placeOf(region, device));
    if (!made.there.back().data) {
      return device.noMemory(region.bytes);
    }
  }
  for (const ArgumentValue &value : arguments) {
    made.placed.push_back(value);
    if (!isHostTensor(value)) {
      continue;
    }
    const Tensor &tensor = *std::get<const Tensor *>(value);
    made.tensors.push_back(
        std::make_unique<Tensor>(tensorThere(tensor, made.host, made.there, device)));
    made.placed.back() = made.tensors.back().get();
  }
  return made;
}

template <class Copy> LaunchError DeviceArguments::copyAll(const Copy &copy) const {
  return device->runAndWait([&](runtime::Stream &stream) {
    LaunchError error;
    for (size_t i = 0; i < host.size() && !error; ++i) {
      error = copy(stream, host[i], there[i]);
    }
    return error;
  });
}

LaunchError DeviceArguments::send() const {
  return copyAll([](runtime::Stream &stream, const Region &here, const Region &away) {
    return stream.copyIn(away.data, here.data, here.bytes);
  });
}

LaunchError DeviceArguments::fetch() const {
  return copyAll([](runtime::Stream &stream, const Region &here, const Region &away) {
    return stream.copyOut(here.data, away.data, here.bytes);
  });
}

} // namespace nereid::launch
