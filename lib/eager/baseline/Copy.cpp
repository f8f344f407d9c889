// SPDX-License-Identifier: Apache-2.0
#include "lib/eager/baseline/Copy.h"

#include <algorithm>
#include <cstring>

namespace nereid::eager {
namespace {

using runtime::Tensor;

/// Of which element of memory the row of the last dimension begins; row by row.
int64_t beginOfRow(const Tensor &tensor, int64_t row) {
  int64_t offset = 0;
  for (size_t dim = tensor.shape().size() - 1; dim-- > 0;) {
    offset += row % tensor.shape()[dim] * tensor.strides()[dim];
    row /= tensor.shape()[dim];
  }
  return offset;
}

template <class Word>
void copyRows(const Tensor &in, const Tensor &out, runtime::ThreadPool &pool) {
  constexpr int64_t grain = 32768; // elements
  const int64_t length = in.shape().back(), step = in.strides().back();
  const int64_t rows = out.elementCount() / length;
  pool.parallelFor(rows, std::max<int64_t>(1, grain / length),
                   [&](int64_t begin, int64_t end, int) {
                     for (int64_t row = begin; row < end; ++row) {
                       const Word *from = in.as<Word>() + beginOfRow(in, row);
                       Word *to = out.as<Word>() + row * length;
                       if (step == 1) {
                         std::memcpy(to, from, static_cast<size_t>(length) * sizeof(Word));
                         continue;
                       }
                       for (int64_t i = 0; i < length; ++i) {
                         to[i] = from[i * step];
                       }
                     }
                   });
}

} // namespace

void runCopy(const Tensor &in, const Tensor &out, runtime::ThreadPool &pool) {
  if (out.elementCount() == 0) {
    return;
  }
  if (in.shape().empty()) {
    std::memcpy(out.data(), in.data(), out.byteCount());
    return;
  }
  switch (sizeInBytes(in.dtype())) {
  case 1:
    return copyRows<uint8_t>(in, out, pool);
  case 2:
    return copyRows<uint16_t>(in, out, pool);
  case 4:
    return copyRows<uint32_t>(in, out, pool);
  default:
    return copyRows<uint64_t>(in, out, pool);
  }
}

} // namespace nereid::eager
