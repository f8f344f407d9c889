// SPDX-License-Identifier: Apache-2.0
#include "runtime/elements/IntegerElements.h"

#include "runtime/elements/ElementBlocks.h"
#include "runtime/tensor/HostTensor.h"

#include <cstring>

namespace nereid::runtime {
namespace {

template <class T> uint64_t loadAs(const void *element) {
  T value;
  std::memcpy(&value, element, sizeof(T));
  return static_cast<uint64_t>(static_cast<int64_t>(value));
}

} // namespace

uint64_t loadInteger(const void *element, DType type) {
  switch (type) {
  case DType::Bool:
    return loadAs<uint8_t>(element) != 0;
  case DType::I8:
    return loadAs<int8_t>(element);
  case DType::I16:
    return loadAs<int16_t>(element);
  case DType::I32:
    return loadAs<int32_t>(element);
  case DType::U8:
    return loadAs<uint8_t>(element);
  case DType::U16:
    return loadAs<uint16_t>(element);
  case DType::U32:
    return loadAs<uint32_t>(element);
  default:
    return loadAs<int64_t>(element);
  }
}

void storeInteger(void *element, DType type, uint64_t value) {
  if (type == DType::Bool) {
    value = value != 0;
  }
  // Little-endian, as every target is: the low bytes come first.
  std::memcpy(element, &value, sizeInBytes(type));
}

void storeInteger(const Tensor &tensor, int64_t i, uint64_t value) {
  if (tensor.isOnHost()) {
    storeInteger(elementAddress(tensor, i), tensor.dtype(), value);
    return;
  }
  uint64_t element = 0;
  storeInteger(&element, tensor.dtype(), value);
  (void)writeElement(tensor, i, &element);
}

uint64_t loadInteger(const Tensor &tensor, int64_t i) {
  if (tensor.isOnHost()) {
    return loadInteger(elementAddress(tensor, i), tensor.dtype());
  }
  uint64_t element = 0;
  (void)readElement(tensor, i, &element);
  return loadInteger(&element, tensor.dtype());
}

} // namespace nereid::runtime
