// SPDX-License-Identifier: Apache-2.0
#include "lib/importer/onnx/TensorElements.h"

#include "format.pb.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <cstring>

namespace nereid::importer {
namespace {

/// The bits of an element of 16 bits as a number.
double fromBits16(DType dtype, uint16_t bits) {
  return dtype == DType::F16 ? fromHalf(bits) : fromBFloat16(bits);
}

template <class T> T elementAt(const std::string &raw, int64_t index) {
  T value;
  std::memcpy(&value, raw.data() + static_cast<size_t>(index) * sizeof(T), sizeof(T));
  return value;
}

void readRaw(const std::string &raw, DType dtype, int64_t count, Tensor &tensor) {
  for (int64_t i = 0; i < count; ++i) {
    switch (dtype) {
    case DType::Bool:
    case DType::U8:
      tensor.integers.push_back(elementAt<uint8_t>(raw, i));
      break;
    case DType::I8:
      tensor.integers.push_back(elementAt<int8_t>(raw, i));
      break;
    case DType::I16:
      tensor.integers.push_back(elementAt<int16_t>(raw, i));
      break;
    case DType::U16:
      tensor.integers.push_back(elementAt<uint16_t>(raw, i));
      break;
    case DType::I32:
      tensor.integers.push_back(elementAt<int32_t>(raw, i));
      break;
    case DType::U32:
      tensor.integers.push_back(elementAt<uint32_t>(raw, i));
      break;
    case DType::I64:
    case DType::U64:
      tensor.integers.push_back(elementAt<int64_t>(raw, i));
      break;
    case DType::F16:
    case DType::BF16:
      tensor.floats.push_back(fromBits16(dtype, elementAt<uint16_t>(raw, i)));
      break;
    case DType::F32:
      tensor.floats.push_back(elementAt<float>(raw, i));
      break;
    case DType::F64:
      tensor.floats.push_back(elementAt<double>(raw, i));
      break;
    default:
      break;
    }
  }
}

/// Elements in the list that the type has of its own; how many there are.
int64_t listed(const format::Tensor &given, DType dtype) {
  switch (dtype) {
  case DType::F32:
    return given.float_data_size();
  case DType::F64:
    return given.double_data_size();
  case DType::I64:
    return given.int64_data_size();
  case DType::U32:
  case DType::U64:
    return given.uint64_data_size();
  default:
    return given.int32_data_size();
  }
}

void readListed(const format::Tensor &given, DType dtype, Tensor &tensor) {
  switch (dtype) {
  case DType::F32:
    tensor.floats.assign(given.float_data().begin(), given.float_data().end());
    break;
  case DType::F64:
    tensor.floats.assign(given.double_data().begin(), given.double_data().end());
    break;
  case DType::I64:
    tensor.integers.assign(given.int64_data().begin(), given.int64_data().end());
    break;
  case DType::U32:
  case DType::U64:
    tensor.integers.assign(given.uint64_data().begin(), given.uint64_data().end());
    break;
  case DType::F16:
  case DType::BF16:
    for (int32_t bits : given.int32_data()) {
      tensor.floats.push_back(fromBits16(dtype, static_cast<uint16_t>(bits)));
    }
    break;
  default:
    tensor.integers.assign(given.int32_data().begin(), given.int32_data().end());
  }
}

} // namespace

std::optional<int64_t> elementCount(const std::vector<int64_t> &dims) {
  // Far beyond any memory, and small enough that sums and products of two sizes fit. A product with
  // a zero in it is no excuse for the others.
  constexpr int64_t most = int64_t{1} << 50;
  int64_t product = 1;
  bool isEmpty = false;
  for (int64_t size : dims) {
    isEmpty = isEmpty || size == 0;
    if (size < 0 || size > most ||
        (size > 0 && (__builtin_mul_overflow(product, size, &product) || product > most))) {
      return std::nullopt;
    }
  }
  return isEmpty ? 0 : product;
}

Result<Tensor> readTensor(const format::Tensor &given) {
  Tensor tensor;
  tensor.name = given.name();
  tensor.type = ElementType(given.data_type());
  tensor.dims.assign(given.dims().begin(), given.dims().end());
  const auto count = elementCount(tensor.dims);
  if (!count) {
    return makeError("E0631",
                     fmt::format("tensor '{}' has the sizes [{}], which no tensor can have",
                                 tensor.name, fmt::join(tensor.dims, ", ")));
  }
  for (const format::Entry &entry : given.external_data()) {
    tensor.externalFile = entry.key() == "location" ? entry.value() : tensor.externalFile;
  }
  if (given.data_location() == 1) {
    if (tensor.externalFile.empty()) {
      return makeError("E0631", fmt::format("tensor '{}' lies in another file, which is not named",
                                            tensor.name));
    }
    return tensor;
  }
  const auto dtype = tensor.type.dtype();
  if (!dtype || isFloat8(*dtype)) {
    return tensor; // named and counted, but nothing to compute with
  }
  const auto width = static_cast<int64_t>(sizeInBytes(*dtype));
  const bool isRaw = given.has_raw_data();
  const auto bytes = static_cast<int64_t>(given.raw_data().size());
  const int64_t found = isRaw ? bytes / width : listed(given, *dtype);
  if (found != *count || (isRaw && bytes % width != 0)) {
    return makeError("E0631",
                     fmt::format("tensor '{}' has {} elements, but {} of {} are there", tensor.name,
                                 *count, isRaw ? bytes : found,
                                 isRaw ? fmt::format("the bytes of {} each", width) : "them"));
  }
  tensor.hasElements = *count <= mostKeptElements;
  if (tensor.hasElements) {
    isRaw ? readRaw(given.raw_data(), *dtype, *count, tensor) : readListed(given, *dtype, tensor);
  }
  return tensor;
}

} // namespace nereid::importer
