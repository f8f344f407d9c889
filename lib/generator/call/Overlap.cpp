// SPDX-License-Identifier: Apache-2.0
#include "lib/generator/call/Overlap.h"

#include <fmt/format.h>

#include <algorithm>

namespace nereid::generator {
namespace {

using runtime::Tensor;

/// Elements of a size and a stride that is not negative, in bytes.
struct Extent {
  int64_t size = 1, stride = 0;
};

/// A tensor as bytes: dimensions of more than one element, the widest stride first, and where the
/// element of the lowest address begins.
struct Bytes {
  explicit Bytes(const Tensor &tensor)
      : first(reinterpret_cast<intptr_t>(tensor.data())),
        element(static_cast<int64_t>(sizeInBytes(tensor.dtype()))) {
    for (size_t d = 0; d < tensor.shape().size(); ++d) {
      const int64_t size = tensor.shape()[d], stride = tensor.strides()[d] * element;
      if (size > 1) {
        first += std::min<int64_t>(stride, 0) * (size - 1);
        dims.push_back({size, std::abs(stride)});
      }
    }
    std::sort(dims.begin(), dims.end(),
              [](const Extent &a, const Extent &b) { return a.stride > b.stride; });
  }
  /// Of the dimensions behind the first `from`.
  int64_t length(size_t from) const {
    int64_t last = element;
    for (size_t d = from; d < dims.size(); ++d) {
      last += (dims[d].size - 1) * dims[d].stride;
    }
    return last;
  }

  int64_t first, element;
  std::vector<Extent> dims;
};

bool isSame(const Tensor &a, const Tensor &b) {
  return a.data() == b.data() && a.dtype() == b.dtype() && a.shape() == b.shape() &&
         a.strides() == b.strides();
}

/// Whether all rows of one lie between those of the other.
bool areInterleaved(const Bytes &a, const Bytes &b) {
  if (a.dims.empty() || b.dims.empty() || a.dims[0].stride != b.dims[0].stride) {
    return false;
  }
  const int64_t stride = a.dims[0].stride;
  const int64_t behind = ((b.first - a.first) % stride + stride) % stride;
  return behind >= a.length(1) && behind + b.length(1) <= stride;
}

} // namespace

bool overlap(const Tensor &a, const Tensor &b) {
  if (a.elementCount() == 0 || b.elementCount() == 0 || &a.device() != &b.device()) {
    return false;
  }
  const Bytes one(a), other(b);
  return one.first < other.first + other.length(0) && other.first < one.first + one.length(0) &&
         !areInterleaved(one, other);
}

bool overlapsItself(const Tensor &tensor) {
  if (tensor.elementCount() == 0) {
    return false;
  }
  const Bytes bytes(tensor);
  for (size_t d = 0; d < bytes.dims.size(); ++d) {
    if (bytes.dims[d].stride < bytes.length(d + 1)) {
      return true;
    }
  }
  return false;
}

std::optional<size_t> inputOf(const definition::Operator &op, size_t output) {
  const int parameter = definition::memoryOf(op, output);
  if (parameter < 0) {
    return std::nullopt;
  }
  return static_cast<size_t>(
      std::count_if(op.parameters.begin(), op.parameters.begin() + parameter,
                    [](const definition::Parameter &each) { return !each.isScalar; }));
}

Result<std::vector<int>> inputsWritten(const CalledOperator &called, std::span<const Tensor> inputs,
                                       std::span<const Tensor> outputs) {
  std::vector<int> written;
  for (size_t o = 0; o < outputs.size(); ++o) {
    const Operand &output = called.operands[inputs.size() + o];
    const auto refuse = [&](const std::string &got) {
      return misfit(called, output, "memory in which nothing else of the call lies", got);
    };
    if (overlapsItself(outputs[o])) {
      return refuse("a tensor whose elements lie over each other");
    }
    for (size_t i = 0; i < inputs.size() + o; ++i) {
      const Tensor &other = i < inputs.size() ? inputs[i] : outputs[i - inputs.size()];
      const std::string &name = called.operands[i].name;
      const bool isOwn = !output.memory.empty() && output.memory == name;
      const bool mayBeSame = i < inputs.size() && isSame(other, outputs[o]);
      if (isOwn && !mayBeSame) {
        return misfit(called, output, fmt::format("the memory of '{}'", name), "other memory");
      }
      if (!mayBeSame && overlap(other, outputs[o])) {
        return refuse(fmt::format("a tensor over part of '{}'", name));
      }
      if (mayBeSame && !isOwn && outputs[o].elementCount() > 0) {
        written.push_back(static_cast<int>(i));
      }
    }
  }
  return written;
}

} // namespace nereid::generator
