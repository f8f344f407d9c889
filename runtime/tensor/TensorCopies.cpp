// SPDX-License-Identifier: Apache-2.0
// Tensors on devices: copies between them and the host, of all bytes that a tensor spans, so that
// shape and strides stay, and of single elements.
#include "runtime/elements/ElementBlocks.h"
#include "runtime/tensor/Extent.h"
#include "runtime/tensor/HostTensor.h"

#include <cstring>

namespace nereid::runtime {
namespace {

/// From a device to the host or the other way round, or on the host.
LaunchError copyBytes(Device &toDevice, void *to, Device &fromDevice, const void *from,
                      uint64_t bytes) {
  const bool isIn = fromDevice.isHost();
  Stream &stream = (isIn ? toDevice : fromDevice).defaultStream();
  LaunchError error = isIn ? stream.copyIn(to, from, bytes) : stream.copyOut(to, from, bytes);
  return error ? error : stream.synchronize();
}

LaunchError noMemory(uint64_t bytes, const Device &device) {
  return {"E0506",
          "no memory for a copy of " + std::to_string(bytes) + " bytes on '" + device.name() + "'"};
}

} // namespace

Device &Tensor::device() const { return place ? *place : cpuDevice(); }

std::variant<Tensor, LaunchError> Tensor::copyTo(Device &device) const {
  Tensor copy = *this;
  copy.place = device.isHost() ? nullptr : &device;
  const Extent extent = extentOf(*this).value_or(Extent{});
  const uint64_t bytes = extent.end - extent.begin;
  copy.owner = bytes ? device.allocate(bytes) : nullptr;
  if (bytes && !copy.owner) {
    return noMemory(bytes, device);
  }
  const uint64_t offset = bytes ? reinterpret_cast<uintptr_t>(address) - extent.begin : 0;
  copy.address = bytes ? static_cast<uint8_t *>(copy.owner.get()) + offset : nullptr;
  if (LaunchError error = copy.copyFrom(*this)) {
    return error;
  }
  return copy;
}

std::variant<Tensor, LaunchError> Tensor::onHost() const {
  return isOnHost() ? *this : copyTo(cpuDevice());
}

LaunchError Tensor::copyFrom(const Tensor &other) const {
  if (type != other.type || sizes != other.sizes || steps != other.steps) {
    return {"E0410", "a copy expects a tensor of the same type, shape and strides"};
  }
  const Extent to = extentOf(*this).value_or(Extent{});
  const Extent from = extentOf(other).value_or(Extent{});
  if (to.begin == to.end) {
    return {};
  }
  if (!isOnHost() && !other.isOnHost()) {
    std::variant<Tensor, LaunchError> between = other.copyTo(cpuDevice());
    const LaunchError *error = std::get_if<LaunchError>(&between);
    return error ? *error : copyFrom(std::get<Tensor>(between));
  }
  return copyBytes(device(), reinterpret_cast<void *>(to.begin), other.device(),
                   reinterpret_cast<const void *>(from.begin), to.end - to.begin);
}

LaunchError readElement(const Tensor &tensor, int64_t i, void *element) {
  return copyBytes(cpuDevice(), element, tensor.device(), elementAddress(tensor, i),
                   sizeInBytes(tensor.dtype()));
}

LaunchError writeElement(const Tensor &tensor, int64_t i, const void *element) {
  return copyBytes(tensor.device(), elementAddress(tensor, i), cpuDevice(), element,
                   sizeInBytes(tensor.dtype()));
}

} // namespace nereid::runtime
