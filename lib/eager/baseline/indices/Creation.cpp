// SPDX-License-Identifier: Apache-2.0
#include "lib/eager/baseline/indices/Creation.h"

#include "lib/definition/operations/Shape.h"
#include "lib/definition/operations/indices/Creation.h"
#include "lib/eager/baseline/BlockPool.h"
#include "runtime/elements/IntegerElements.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>

namespace nereid::eager {
namespace {

using runtime::Tensor;

/// Fewer elements than these are filled by one thread.
constexpr int64_t grain = 65536;

template <class T> void count(Tensor &out, runtime::ThreadPool &pool) {
  auto *to = static_cast<T *>(out.data());
  pool.parallelFor(out.elementCount(), grain, [&](int64_t first, int64_t last, int) {
    for (int64_t i = first; i < last; ++i) {
      to[i] = static_cast<T>(i);
    }
  });
}

void countInto(Tensor &out, runtime::ThreadPool &pool) {
  switch (sizeInBytes(out.dtype())) {
  case 1:
    return count<uint8_t>(out, pool);
  case 2:
    return count<uint16_t>(out, pool);
  case 4:
    return count<uint32_t>(out, pool);
  default:
    return count<uint64_t>(out, pool);
  }
}

/// One element, copied to all.
template <class T> void repeat(Tensor &out, const void *element, runtime::ThreadPool &pool) {
  T value;
  std::memcpy(&value, element, sizeof(T));
  auto *to = static_cast<T *>(out.data());
  pool.parallelFor(out.elementCount(), grain, [&](int64_t first, int64_t last, int) {
    std::fill(to + first, to + last, value);
  });
}

Tensor elementOf(const Tensor &number, DType type) {
  Tensor one = Tensor::empty({}, type);
  const bool isInteger = !isFloat(type) && type != DType::Bool;
  const bool isOfIntegers = !isFloat(number.dtype()) && number.dtype() != DType::Bool;
  if (isInteger && isOfIntegers) {
    runtime::storeInteger(one, 0, runtime::loadInteger(number.data(), number.dtype()));
  } else {
    const double value = number.at(0);
    one.set(0, type == DType::Bool ? (value != 0 ? 1 : 0) : value);
  }
  return one;
}

} // namespace

Result<Tensor> runCreation(const definition::Node &given, std::span<const Tensor> inputs,
                           runtime::ThreadPool &pool) {
  definition::Node node = given;
  const size_t operands = node.op == "full" ? 1 : 0;
  if (inputs.size() < operands) {
    return makeError("E0608", fmt::format("'{}' expects a number", node.op));
  }
  const DType own = inputs.size() > operands ? inputs[operands].dtype() : DType::F32;
  const DType type = definition::createdDtype(node, own);
  auto sizes = definition::bind(definition::createdShape(node), definition::Binding());
  if (!sizes) {
    return sizes.error();
  }
  Tensor out = allocateTensor(*sizes, type);
  if (!out.isValid() || (out.elementCount() > 0 && !out.data())) {
    return makeError("E0506", fmt::format("no memory for '{}' of shape {}", node.op,
                                          definition::sizesText(*sizes)))
        .withHelp("use smaller shapes, or a machine with more memory");
  }
  if (out.elementCount() == 0) {
    return out;
  }
  if (node.op == "arange") {
    if (isFloat(type) || type == DType::Bool) {
      return makeError(
          "E0605", fmt::format("'arange' expects a type of integers, but got {}", torchName(type)));
    }
    countInto(out, pool);
    return out;
  }
  const Tensor element = elementOf(inputs[0], type);
  switch (sizeInBytes(type)) {
  case 1:
    repeat<uint8_t>(out, element.data(), pool);
    break;
  case 2:
    repeat<uint16_t>(out, element.data(), pool);
    break;
  case 4:
    repeat<uint32_t>(out, element.data(), pool);
    break;
  default:
    repeat<uint64_t>(out, element.data(), pool);
  }
  return out;
}

} // namespace nereid::eager
