// SPDX-License-Identifier: Apache-2.0
// Exchange of tensors by DLPack (struct versions 0.2 to 0.8, which all have this layout). DLPack
// 0.6 has neither booleans nor 8-bit floats: they go out as uint8; the codes later versions use for
// them are understood.
#include "runtime/tensor/Dlpack.h"

#include "runtime/Device.h"
#include "runtime/tensor/Extent.h"

#include <limits>

namespace nereid::runtime {
namespace {

constexpr uint8_t booleanCode = 6;                  // kDLBool since DLPack 0.8
constexpr uint8_t float8Codes[] = {10, 12, 11, 13}; // since DLPack 1.1, in DType's order
constexpr int maxRank = 64;

std::optional<DType> elementType(const DLDataType &type) {
  if (type.lanes != 1) {
    return std::nullopt;
  }
  const int log2Bytes = type.bits == 8    ? 0
                        : type.bits == 16 ? 1
                        : type.bits == 32 ? 2
                        : type.bits == 64 ? 3
                                          : -1;
  if (log2Bytes < 0) {
    return std::nullopt;
  }
  switch (type.code) {
  case kDLInt:
    return static_cast<DType>(static_cast<int>(DType::I8) + log2Bytes);
  case kDLUInt:
    return static_cast<DType>(static_cast<int>(DType::U8) + log2Bytes);
  case kDLFloat:
    return log2Bytes == 1   ? std::optional(DType::F16)
           : log2Bytes == 2 ? std::optional(DType::F32)
           : log2Bytes == 3 ? std::optional(DType::F64)
                            : std::nullopt;
  case kDLBfloat:
    return log2Bytes == 1 ? std::optional(DType::BF16) : std::nullopt;
  case booleanCode:
    return log2Bytes == 0 ? std::optional(DType::Bool) : std::nullopt;
  default:
    for (int i = 0; i < 4 && log2Bytes == 0; ++i) {
      if (type.code == float8Codes[i]) {
        return static_cast<DType>(static_cast<int>(DType::F8E4M3FN) + i);
      }
    }
    return std::nullopt;
  }
}

DLDataType elementCode(DType type) {
  if (type == DType::Bool) {
    return {booleanCode, 8, 1};
  }
  const uint8_t code = type == DType::BF16     ? kDLBfloat
                       : type == DType::Bool   ? booleanCode
                       : isFloat8(type)        ? kDLUInt
                       : isFloat(type)         ? kDLFloat
                       : isSignedInteger(type) ? kDLInt
                                               : kDLUInt;
  return {code, static_cast<uint8_t>(sizeInBytes(type) * 8), 1};
}

/// What a DLManagedTensor of ours points into.
struct Export {
  DLManagedTensor managed{};
  Tensor tensor;
  std::vector<int64_t> shape, strides;
};

} // namespace

std::variant<Tensor, std::string> borrowDlpack(const DLTensor &given) {
  const std::variant<Device *, LaunchError> device =
      findDevice(given.device.device_type, given.device.device_id);
  if (const LaunchError *error = std::get_if<LaunchError>(&device)) {
    return error->message;
  }
  if (given.ndim < 0 || given.ndim > maxRank) {
    return "expects a tensor of 0 to " + std::to_string(maxRank) + " dimensions, but got " +
           std::to_string(given.ndim);
  }
  if (given.ndim > 0 && !given.shape) {
    return "expects the sizes of " + std::to_string(given.ndim) +
           " dimensions, but got a null pointer";
  }
  const std::optional<DType> type = elementType(given.dtype);
  if (!type) {
    return "expects a boolean, integer or floating-point element type, but got DLPack type code " +
           std::to_string(given.dtype.code) + " with " + std::to_string(given.dtype.bits) +
           " bits and " + std::to_string(given.dtype.lanes) + " lanes";
  }
  std::vector<int64_t> shape(given.shape, given.shape + given.ndim), strides;
  if (given.strides) {
    strides.assign(given.strides, given.strides + given.ndim);
  }
  for (int64_t size : shape) {
    if (size < 0) {
      return "expects sizes that are not negative, but got " + std::to_string(size);
    }
  }
  const auto base = reinterpret_cast<uintptr_t>(given.data);
  if (given.byte_offset > std::numeric_limits<uintptr_t>::max() - base) {
    return "expects a first element within the address space, but its byte_offset is " +
           std::to_string(given.byte_offset);
  }
  void *data = given.data ? reinterpret_cast<void *>(base + given.byte_offset) : nullptr;
  Tensor tensor = Tensor::borrow(data, std::move(shape), *type, std::move(strides),
                                 *std::get<Device *>(device));
  if (!tensor.isValid()) {
    return std::string("expects a tensor with memory, but its data pointer is null");
  }
  if (std::string problem = impossibilityOf(tensor); !problem.empty()) {
    return problem;
  }
  return tensor;
}

std::variant<Tensor, std::string> Tensor::fromDlpack(DLManagedTensor *managed) {
  if (!managed) {
    return std::string("expects a DLPack tensor, but got a null pointer");
  }
  std::variant<Tensor, std::string> borrowed = borrowDlpack(managed->dl_tensor);
  if (Tensor *tensor = std::get_if<Tensor>(&borrowed)) {
    tensor->owner = std::shared_ptr<void>(static_cast<void *>(managed), [](void *memory) {
      DLManagedTensor *taken = static_cast<DLManagedTensor *>(memory);
      if (taken->deleter) {
        taken->deleter(taken);
      }
    });
  }
  return borrowed;
}

DLManagedTensor *Tensor::toDlpack() const {
  Export *exported = new Export;
  exported->tensor = *this;
  exported->shape = sizes;
  exported->strides = steps;
  DLTensor &description = exported->managed.dl_tensor;
  description.data = address;
  description.device = {static_cast<DLDeviceType>(device().dlpackType()), device().id()};
  description.ndim = static_cast<int>(sizes.size());
  description.dtype = elementCode(type);
  description.shape = exported->shape.data();
  description.strides = exported->strides.data();
  exported->managed.manager_ctx = exported;
  exported->managed.deleter = [](DLManagedTensor *self) {
    delete static_cast<Export *>(self->manager_ctx);
  };
  return &exported->managed;
}

} // namespace nereid::runtime
