// SPDX-License-Identifier: Apache-2.0
// Memory, shape and views of tensors. Sizes come from users and files, so every product is checked.
#include "runtime/tensor/Tensor.h"

#include "runtime/Device.h"
#include "runtime/ThreadPool.h"
#include "runtime/elements/ElementBlocks.h"
#include "runtime/elements/FloatConversion.h"
#include "runtime/tensor/HostTensor.h"

#include <algorithm>
#include <cstring>
#include <limits>

namespace nereid::runtime {
namespace {

constexpr int64_t maxCount = std::numeric_limits<int64_t>::max();
/// So that a device can round up.
constexpr int64_t allocationSlack = 1 << 26;

/// Saturates instead of overflowing; -1 when a size is negative.
int64_t countOf(const std::vector<int64_t> &shape) {
  int64_t count = 1;
  bool isEmpty = false;
  for (int64_t size : shape) {
    if (size < 0) {
      return -1;
    }
    isEmpty |= size == 0;
    if (__builtin_mul_overflow(count, size, &count)) {
      count = maxCount;
    }
  }
  return isEmpty ? 0 : count;
}

std::vector<int64_t> rowMajorSteps(const std::vector<int64_t> &shape) {
  std::vector<int64_t> steps(shape.size());
  int64_t step = 1;
  for (size_t dim = shape.size(); dim-- > 0;) {
    steps[dim] = step;
    if (__builtin_mul_overflow(step, shape[dim] < 1 ? 1 : shape[dim], &step)) {
      step = maxCount;
    }
  }
  return steps;
}

/// First and last element offset that a shape with strides reaches; false when it has no elements.
/// Spans beyond any tensor's are cut, so that the sums over dimensions cannot overflow.
bool reach(const std::vector<int64_t> &shape, const std::vector<int64_t> &steps, __int128 &first,
           __int128 &last) {
  constexpr __int128 widest = __int128{1} << 96;
  first = last = 0;
  for (size_t dim = 0; dim < shape.size(); ++dim) {
    if (shape[dim] == 0) {
      return false;
    }
    const __int128 span = static_cast<__int128>(shape[dim] - 1) * steps[dim];
    (span < 0 ? first : last) += std::clamp(span, -widest, widest);
  }
  return true;
}

/// Enough work for one thread that handing it out costs nothing beside it.
constexpr int64_t chunkBytes = 1 << 18;

void convertDense(const Tensor &from, const Tensor &to) {
  const auto inBytes = static_cast<int64_t>(sizeInBytes(from.dtype()));
  const auto outBytes = static_cast<int64_t>(sizeInBytes(to.dtype()));
  defaultPool().parallelFor(
      from.elementCount(), chunkBytes / inBytes, [&](int64_t begin, int64_t end, int) {
        convertFloats(from.as<uint8_t>() + begin * inBytes, from.dtype(),
                      to.as<uint8_t>() + begin * outBytes, to.dtype(), end - begin);
      });
}

/// Contiguous, in host memory.
void poisonBytes(const Tensor &tensor, int byte) {
  const auto bytes = static_cast<int64_t>(tensor.byteCount());
  defaultPool().parallelFor(bytes, chunkBytes, [&](int64_t begin, int64_t end, int) {
    std::memset(tensor.as<uint8_t>() + begin, byte, static_cast<size_t>(end - begin));
  });
}

} // namespace

Tensor Tensor::within(std::shared_ptr<void> memory, std::vector<int64_t> shape, DType dtype,
                      Device &device) {
  void *address = memory.get();
  Tensor tensor = borrow(address, std::move(shape), dtype, {}, device);
  tensor.owner = std::move(memory);
  return tensor;
}
Tensor Tensor::empty(std::vector<int64_t> shape, DType dtype) {
  return empty(std::move(shape), dtype, cpuDevice());
}

Tensor Tensor::empty(std::vector<int64_t> shape, DType dtype, Device &device) {
  Tensor tensor = make(std::move(shape), dtype, device, &Device::allocate);
  tensor.place = device.isHost() ? nullptr : &device;
  return tensor;
}

Tensor Tensor::emptyPinned(std::vector<int64_t> shape, DType dtype, Device &device) {
  return make(std::move(shape), dtype, device, &Device::allocateHost);
}

Tensor Tensor::make(std::vector<int64_t> shape, DType dtype, Device &device, Allocation allocate) {
  Tensor tensor;
  tensor.type = dtype;
  const int64_t count = countOf(shape);
  if (count < 0) {
    return tensor;
  }
  tensor.steps = rowMajorSteps(shape);
  tensor.sizes = std::move(shape);
  const int64_t elementBytes = static_cast<int64_t>(nereid::sizeInBytes(dtype));
  if (count == 0 || count > maxCount / elementBytes - allocationSlack) {
    return tensor;
  }
  tensor.owner =
      (device.*allocate)(static_cast<uint64_t>(count) * static_cast<uint64_t>(elementBytes));
  tensor.address = tensor.owner.get();
  return tensor;
}

Tensor Tensor::borrow(void *data, std::vector<int64_t> shape, DType dtype,
                      std::vector<int64_t> strides) {
  return borrow(data, std::move(shape), dtype, std::move(strides), cpuDevice());
}

Tensor Tensor::borrow(void *data, std::vector<int64_t> shape, DType dtype,
                      std::vector<int64_t> strides, Device &device) {
  Tensor tensor;
  tensor.place = device.isHost() ? nullptr : &device;
  tensor.type = dtype;
  if (countOf(shape) < 0 || (!strides.empty() && strides.size() != shape.size())) {
    return tensor;
  }
  tensor.steps = strides.empty() ? rowMajorSteps(shape) : std::move(strides);
  tensor.sizes = std::move(shape);
  tensor.address = data;
  return tensor;
}

std::variant<Tensor, std::string> Tensor::view(int64_t offset, std::vector<int64_t> shape,
                                               std::vector<int64_t> strides) const {
  if (countOf(shape) < 0) {
    return std::string("a view expects sizes that are not negative");
  }
  if (!strides.empty() && strides.size() != shape.size()) {
    return "a view of " + std::to_string(shape.size()) +
           " dimensions expects as many strides, but got " + std::to_string(strides.size());
  }
  Tensor part = *this;
  part.steps = strides.empty() ? rowMajorSteps(shape) : std::move(strides);
  part.sizes = std::move(shape);
  if (part.elementCount() > maxCount / static_cast<int64_t>(nereid::sizeInBytes(type))) {
    return std::string("a view expects elements that can be counted");
  }
  __int128 first, last, partFirst, partLast;
  if (!reach(part.sizes, part.steps, partFirst, partLast)) {
    return part;
  }
  if (!reach(sizes, steps, first, last) || partFirst + offset < first || partLast + offset > last) {
    return "a view from element " + std::to_string(offset) +
           " reaches outside the memory of its tensor of " + std::to_string(elementCount()) +
           " elements";
  }
  part.address =
      static_cast<uint8_t *>(address) + offset * static_cast<int64_t>(nereid::sizeInBytes(type));
  return part;
}

int64_t Tensor::elementCount() const { return countOf(sizes); }

bool Tensor::isContiguous() const {
  int64_t expected = 1;
  bool isRowMajor = true;
  for (size_t dim = sizes.size(); dim-- > 0;) {
    if (sizes[dim] == 0) {
      return true;
    }
    isRowMajor &= sizes[dim] == 1 || steps[dim] == expected;
    if (__builtin_mul_overflow(expected, sizes[dim], &expected)) {
      expected = maxCount;
    }
  }
  return isRowMajor;
}

double Tensor::at(int64_t i) const {
  if (isOnHost()) {
    return loadAsDouble(elementAddress(*this, i), type);
  }
  double value;
  (void)get(i, value);
  return value;
}

LaunchError Tensor::get(int64_t i, double &value) const {
  uint64_t element = 0;
  LaunchError error = readElement(*this, i, &element);
  value = error ? std::numeric_limits<double>::quiet_NaN() : loadAsDouble(&element, type);
  return error;
}

LaunchError Tensor::set(int64_t i, double value) const {
  uint64_t element = 0;
  if (isOnHost()) {
    storeFromDouble(elementAddress(*this, i), type, value);
    return {};
  }
  storeFromDouble(&element, type, value);
  return writeElement(*this, i, &element);
}

Tensor Tensor::to(DType dtype) const {
  if (!isOnHost()) {
    const std::variant<Tensor, LaunchError> copied = copyTo(cpuDevice());
    const Tensor *copy = std::get_if<Tensor>(&copied);
    std::variant<Tensor, LaunchError> made = copy ? copy->to(dtype).copyTo(*place) : Tensor();
    return std::holds_alternative<Tensor>(made) ? std::get<Tensor>(std::move(made)) : Tensor();
  }
  Tensor result = empty(sizes, dtype);
  if (!isValid() || !result.isValid()) {
    return result.elementCount() == 0 ? result : Tensor();
  }
  if (isFloat(type) && isFloat(dtype) && isContiguous()) {
    if (result.elementCount() > 0) {
      convertDense(*this, result);
    }
    return result;
  }
  const bool isExactInteger = !isFloat(type) && (!isFloat(dtype) || dtype == DType::F32);
  forEachBlock(*this, defaultPool(), [&](int64_t begin, int count) {
    if (dtype == type) {
      copyBlock(*this, result, begin, count);
    } else if (isExactInteger) {
      int64_t values[blockElements];
      readIntegers(*this, begin, count, values);
      writeIntegers(result, begin, count, values, type == DType::U64);
    } else {
      double values[blockElements];
      readBlock(*this, begin, count, values);
      writeBlock(result, begin, count, values);
    }
  });
  return result;
}

LaunchError Tensor::poison() const {
  // All bits set is a NaN in every floating-point type but those whose only NaN is 0x80, and in
  // F8E4B15, which has none, a number that no conversion makes.
  const bool hasOneNan = type == DType::F8E4M3FNUZ || type == DType::F8E5M2FNUZ;
  const int byte = hasOneNan ? 0x80 : isFloat(type) ? 0xFF : 0xCD;
  const size_t elementBytes = nereid::sizeInBytes(type);
  return writeOnHost(*this, [&](const Tensor &tensor) {
    if (tensor.isContiguous() && tensor.data()) {
      poisonBytes(tensor, byte);
      return;
    }
    forEachBlock(tensor, defaultPool(), [&](int64_t begin, int count) {
      for (int i = 0; i < count; ++i) {
        std::memset(elementAddress(tensor, begin + i), byte, elementBytes);
      }
    });
  });
}

} // namespace nereid::runtime
