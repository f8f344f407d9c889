// SPDX-License-Identifier: Apache-2.0
#include "runtime/tensor/Pieces.h"

#include <algorithm>
#include <cstdlib>

namespace nereid::runtime {
namespace {

struct Dimension {
  uint64_t step = 0, size = 0; ///< in bytes; of elements
};

} // namespace

std::vector<Piece> piecesOf(const Tensor &tensor) {
  if (tensor.elementCount() == 0) {
    return {};
  }
  const uint64_t elementBytes = sizeInBytes(tensor.dtype());
  std::vector<Dimension> dims;
  for (size_t i = 0; i < tensor.shape().size(); ++i) {
    const uint64_t step = static_cast<uint64_t>(std::llabs(tensor.strides()[i])) * elementBytes;
    if (tensor.shape()[i] > 1 && step > 0) {
      dims.push_back({step, static_cast<uint64_t>(tensor.shape()[i])});
    }
  }
  std::sort(dims.begin(), dims.end(),
            [](const Dimension &a, const Dimension &b) { return a.step < b.step; });
  // Without a gap between its steps a dimension makes the piece longer, else it repeats it.
  uint64_t bytes = elementBytes;
  size_t inner = 0;
  for (; inner < dims.size() && dims[inner].step <= bytes; ++inner) {
    bytes += (dims[inner].size - 1) * dims[inner].step;
  }
  std::vector<Piece> pieces = {{0, bytes}};
  for (size_t i = inner; i < dims.size(); ++i) {
    const size_t count = pieces.size();
    pieces.reserve(count * dims[i].size);
    for (uint64_t k = 1; k < dims[i].size; ++k) {
      for (size_t one = 0; one < count; ++one) {
        pieces.push_back({pieces[one].offset + k * dims[i].step, bytes});
      }
    }
  }
  std::sort(pieces.begin(), pieces.end(),
            [](const Piece &a, const Piece &b) { return a.offset < b.offset; });
  return pieces;
}

} // namespace nereid::runtime
