// SPDX-License-Identifier: Apache-2.0
// Tensors on devices: copies between them and the host, whole, of their elements alone, and of
// single elements.
#include "runtime/elements/ElementBlocks.h"
#include "runtime/tensor/Extent.h"
#include "runtime/tensor/HostTensor.h"
#include "runtime/tensor/Pieces.h"

#include <cstring>

namespace nereid::runtime {
namespace {

/// Pieces of memory at the same offsets, from a device to the host or the other way round, or on
/// the host, where they may overlap.
LaunchError copyPieces(Device &toDevice, uint8_t *to, Device &fromDevice, const uint8_t *from,
                       std::span<const Piece> pieces) {
  if (toDevice.isHost() && fromDevice.isHost()) {
    for (size_t i = 0; i < pieces.size(); ++i) {
      const Piece &piece = pieces[to > from ? pieces.size() - 1 - i : i];
      std::memmove(to + piece.offset, from + piece.offset, piece.bytes);
    }
    return {};
  }
  const bool isIn = fromDevice.isHost();
  return (isIn ? toDevice : fromDevice).runAndWait([&](Stream &stream) {
    LaunchError error;
    for (size_t i = 0; i < pieces.size() && !error; ++i) {
      const auto &[offset, bytes] = pieces[i];
      error = isIn ? stream.copyIn(to + offset, from + offset, bytes)
                   : stream.copyOut(to + offset, from + offset, bytes);
    }
    return error;
  });
}

uint8_t *addressOf(uint64_t begin) { return reinterpret_cast<uint8_t *>(begin); }

} // namespace

Device &Tensor::device() const { return place ? *place : cpuDevice(); }

std::variant<Tensor, LaunchError> Tensor::likeThisOn(Device &device) const {
  Tensor copy = *this;
  copy.place = device.isHost() ? nullptr : &device;
  const Extent extent = extentOf(*this).value_or(Extent{});
  const uint64_t bytes = extent.end - extent.begin;
  copy.owner = bytes ? device.allocate(bytes) : nullptr;
  if (bytes && !copy.owner) {
    return device.noMemory(bytes);
  }
  const uint64_t offset = bytes ? reinterpret_cast<uintptr_t>(address) - extent.begin : 0;
  copy.address = bytes ? static_cast<uint8_t *>(copy.owner.get()) + offset : nullptr;
  return copy;
}

std::variant<Tensor, LaunchError> Tensor::copyTo(Device &device) const {
  if (!isOnHost() && !device.isHost()) {
    auto between = copyTo(cpuDevice());
    const Tensor *copy = std::get_if<Tensor>(&between);
    return copy ? copy->copyTo(device) : between;
  }
  auto made = likeThisOn(device);
  const Tensor *copy = std::get_if<Tensor>(&made);
  if (!copy || elementCount() == 0) {
    return made;
  }
  const Extent to = extentOf(*copy).value_or(Extent{}), from = extentOf(*this).value_or(Extent{});
  const Piece all[] = {{0, from.end - from.begin}};
  LaunchError error =
      copyPieces(device, addressOf(to.begin), this->device(), addressOf(from.begin), all);
  return error ? std::variant<Tensor, LaunchError>(std::move(error)) : std::move(made);
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
  return copyPieces(device(), addressOf(to.begin), other.device(), addressOf(from.begin),
                    piecesOf(*this));
}

LaunchError readElement(const Tensor &tensor, int64_t i, void *element) {
  const Piece one[] = {{0, sizeInBytes(tensor.dtype())}};
  return copyPieces(cpuDevice(), static_cast<uint8_t *>(element), tensor.device(),
                    elementAddress(tensor, i), one);
}

LaunchError writeElement(const Tensor &tensor, int64_t i, const void *element) {
  const Piece one[] = {{0, sizeInBytes(tensor.dtype())}};
  return copyPieces(tensor.device(), elementAddress(tensor, i), cpuDevice(),
                    static_cast<const uint8_t *>(element), one);
}

} // namespace nereid::runtime
