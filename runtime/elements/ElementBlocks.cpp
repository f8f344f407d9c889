// SPDX-License-Identifier: Apache-2.0
// Blocks are gathered into packed elements first when the tensor is strided; the loops over packed
// elements are specialised for each type.
#include "runtime/elements/ElementBlocks.h"

#include "runtime/ThreadPool.h"
#include "runtime/elements/FloatConversion.h"

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <utility>

namespace nereid::runtime {
namespace {

/// Calls `visit` with a value of the C++ type of Bool's or an integer's elements; of floats not at
/// all.
template <class Visit> void visitInteger(DType type, Visit &&visit) {
  switch (type) {
  case DType::Bool:
  case DType::U8:
    return visit(uint8_t{});
  case DType::I8:
    return visit(int8_t{});
  case DType::I16:
    return visit(int16_t{});
  case DType::I32:
    return visit(int32_t{});
  case DType::I64:
    return visit(int64_t{});
  case DType::U16:
    return visit(uint16_t{});
  case DType::U32:
    return visit(uint32_t{});
  case DType::U64:
    return visit(uint64_t{});
  default:
    return;
  }
}

/// Walks row-major elements of a strided tensor by carrying an index for each dimension.
class Walk {
public:
  Walk(const Tensor &tensor, int64_t begin)
      : tensor(tensor), index(tensor.shape().size()), bytes(sizeInBytes(tensor.dtype())) {
    offset = 0;
    for (size_t dim = index.size(); dim-- > 0;) {
      index[dim] = begin % tensor.shape()[dim];
      begin /= tensor.shape()[dim];
      offset += index[dim] * tensor.strides()[dim];
    }
  }
  uint8_t *address() const { return tensor.as<uint8_t>() + offset * static_cast<int64_t>(bytes); }
  void next() {
    for (size_t dim = index.size(); dim-- > 0;) {
      offset += tensor.strides()[dim];
      if (++index[dim] < tensor.shape()[dim]) {
        return;
      }
      offset -= index[dim] * tensor.strides()[dim];
      index[dim] = 0;
    }
  }

private:
  const Tensor &tensor;
  std::vector<int64_t> index;
  int64_t offset;
  size_t bytes;
};

/// Where the block lies packed: in the tensor itself, or copied to `buffer`.
const uint8_t *packed(const Tensor &tensor, int64_t begin, int count, uint8_t *buffer) {
  const size_t bytes = sizeInBytes(tensor.dtype());
  if (tensor.isContiguous()) {
    return tensor.as<uint8_t>() + static_cast<size_t>(begin) * bytes;
  }
  Walk walk(tensor, begin);
  for (int i = 0; i < count; ++i, walk.next()) {
    std::memcpy(buffer + static_cast<size_t>(i) * bytes, walk.address(), bytes);
  }
  return buffer;
}

void unpack(const Tensor &tensor, int64_t begin, int count, const uint8_t *elements) {
  const size_t bytes = sizeInBytes(tensor.dtype());
  if (tensor.isContiguous()) {
    std::memcpy(tensor.as<uint8_t>() + static_cast<size_t>(begin) * bytes, elements,
                static_cast<size_t>(count) * bytes);
    return;
  }
  Walk walk(tensor, begin);
  for (int i = 0; i < count; ++i, walk.next()) {
    std::memcpy(walk.address(), elements + static_cast<size_t>(i) * bytes, bytes);
  }
}

template <class T> T elementAt(const uint8_t *elements, int i) {
  T value;
  std::memcpy(&value, elements + static_cast<size_t>(i) * sizeof(T), sizeof(T));
  return value;
}

/// Whether two elements may share an address: seen from the smallest stride on, each has to step
/// over all that the ones before it reach.
bool mayShareAddresses(const Tensor &tensor) {
  std::vector<std::pair<int64_t, int64_t>> steps; // stride and size
  for (size_t dim = 0; dim < tensor.shape().size(); ++dim) {
    if (tensor.shape()[dim] > 1) {
      steps.emplace_back(std::abs(tensor.strides()[dim]), tensor.shape()[dim]);
    }
  }
  std::sort(steps.begin(), steps.end());
  int64_t reached = 0;
  for (const auto &[stride, size] : steps) {
    if (stride <= reached) {
      return true;
    }
    reached += stride * (size - 1);
  }
  return false;
}

} // namespace

uint8_t *elementAddress(const Tensor &tensor, int64_t i) {
  int64_t offset = i;
  if (!tensor.isContiguous()) {
    offset = 0;
    for (size_t dim = tensor.shape().size(); dim-- > 0;) {
      offset += i % tensor.shape()[dim] * tensor.strides()[dim];
      i /= tensor.shape()[dim];
    }
  }
  return tensor.as<uint8_t>() + offset * static_cast<int64_t>(sizeInBytes(tensor.dtype()));
}

void readBlock(const Tensor &tensor, int64_t begin, int count, double *values) {
  uint8_t buffer[blockElements * 8];
  const uint8_t *elements = packed(tensor, begin, count, buffer);
  const DType type = tensor.dtype();
  if (isFloat(type)) {
    return convertFloats(elements, type, values, DType::F64, count);
  }
  visitInteger(type, [&](auto sample) {
    using T = decltype(sample);
    for (int i = 0; i < count; ++i) {
      const T value = elementAt<T>(elements, i);
      values[i] = type == DType::Bool ? value != 0 : static_cast<double>(value);
    }
  });
}

void writeBlock(const Tensor &tensor, int64_t begin, int count, const double *values) {
  uint8_t buffer[blockElements * 8];
  const DType type = tensor.dtype();
  const size_t bytes = sizeInBytes(type);
  const bool isDense = tensor.isContiguous();
  uint8_t *elements = isDense ? tensor.as<uint8_t>() + static_cast<size_t>(begin) * bytes : buffer;
  if (isFloat(type)) {
    convertFloats(values, DType::F64, elements, type, count);
  } else {
    for (int i = 0; i < count; ++i) {
      storeFromDouble(elements + static_cast<size_t>(i) * bytes, type, values[i]);
    }
  }
  if (!isDense) {
    unpack(tensor, begin, count, buffer);
  }
}

void readIntegers(const Tensor &tensor, int64_t begin, int count, int64_t *values) {
  uint8_t buffer[blockElements * 8];
  const uint8_t *elements = packed(tensor, begin, count, buffer);
  const bool isBool = tensor.dtype() == DType::Bool;
  visitInteger(tensor.dtype(), [&](auto sample) {
    using T = decltype(sample);
    for (int i = 0; i < count; ++i) {
      const T value = elementAt<T>(elements, i);
      values[i] = isBool ? value != 0 : static_cast<int64_t>(value);
    }
  });
}

void writeIntegers(const Tensor &tensor, int64_t begin, int count, const int64_t *values,
                   bool isUnsigned) {
  uint8_t buffer[blockElements * 8];
  const DType type = tensor.dtype();
  const size_t bytes = sizeInBytes(type);
  for (int i = 0; i < count; ++i) {
    uint8_t *element = buffer + static_cast<size_t>(i) * bytes;
    if (type == DType::F32) {
      const float value = isUnsigned ? static_cast<float>(static_cast<uint64_t>(values[i]))
                                     : static_cast<float>(values[i]);
      std::memcpy(element, &value, sizeof value);
    } else if (type == DType::Bool) {
      *element = values[i] != 0;
    } else {
      std::memcpy(element, &values[i], bytes); // little-endian: the low bytes
    }
  }
  unpack(tensor, begin, count, buffer);
}

void copyBlock(const Tensor &from, const Tensor &to, int64_t begin, int count) {
  uint8_t buffer[blockElements * 8];
  unpack(to, begin, count, packed(from, begin, count, buffer));
}

void forEachBlock(const Tensor &tensor, ThreadPool &pool,
                  const std::function<void(int64_t begin, int count)> &body) {
  const int64_t elements = tensor.elementCount();
  if (elements <= 0 || !tensor.isValid()) {
    return;
  }
  const int64_t blocks = (elements - 1) / blockElements + 1;
  const int64_t grain = mayShareAddresses(tensor) ? blocks : 64;
  pool.parallelFor(blocks, grain, [&](int64_t first, int64_t last, int) {
    for (int64_t block = first; block < last; ++block) {
      const int64_t begin = block * blockElements;
      const int64_t left = elements - begin;
      body(begin, left < blockElements ? static_cast<int>(left) : blockElements);
    }
  });
}

} // namespace nereid::runtime
