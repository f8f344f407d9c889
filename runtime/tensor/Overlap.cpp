// SPDX-License-Identifier: Apache-2.0
#include "runtime/tensor/Overlap.h"

#include <algorithm>
#include <cstdlib>
#include <vector>

namespace nereid::runtime {
namespace {

/// Elements of a size and a stride that is not negative, in bytes.
struct Dimension {
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
              [](const Dimension &a, const Dimension &b) { return a.stride > b.stride; });
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
  std::vector<Dimension> dims;
};

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

bool extentsMeet(const Tensor &a, const Tensor &b) {
  if (a.elementCount() == 0 || b.elementCount() == 0 || &a.device() != &b.device()) {
    return false;
  }
  const Bytes one(a), other(b);
  return one.first < other.first + other.length(0) && other.first < one.first + one.length(0);
}

bool overlap(const Tensor &a, const Tensor &b) {
  return extentsMeet(a, b) && !areInterleaved(Bytes(a), Bytes(b));
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

} // namespace nereid::runtime
