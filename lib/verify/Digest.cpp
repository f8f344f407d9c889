// SPDX-License-Identifier: Apache-2.0
#include "lib/verify/Digest.h"

#include "runtime/ThreadPool.h"

#include <algorithm>
#include <atomic>
#include <bit>
#include <cstring>

namespace nereid::verify {

uint64_t digestOf(std::span<const runtime::Tensor> tensors) {
  constexpr int64_t chunk = int64_t{1} << 20;
  std::atomic<uint64_t> digest{0};
  uint64_t number = 0; // of the tensor, so that two of them cannot change places
  for (const runtime::Tensor &tensor : tensors) {
    auto bytes = static_cast<int64_t>(tensor.byteCount());
    const auto *base = static_cast<const uint8_t *>(tensor.data());
    ++number;
    auto hashChunk = [&](int64_t index) {
      // Multiply and rotate, a word at a time; the chunk's number makes the order matter.
      uint64_t state = 0x9E3779B97F4A7C15U * number ^ static_cast<uint64_t>(index);
      int64_t end = std::min(bytes, (index + 1) * chunk);
      for (int64_t i = index * chunk; i < end; i += 8) {
        uint64_t word = 0;
        std::memcpy(&word, base + i, static_cast<size_t>(std::min<int64_t>(8, end - i)));
        state = std::rotl((state ^ word) * 0xD6E8FEB86659FD93U, 29);
      }
      return state * 0xFF51AFD7ED558CCDU;
    };
    runtime::defaultPool().parallelFor((bytes + chunk - 1) / chunk, 1,
                                       [&](int64_t begin, int64_t end, int) {
                                         for (int64_t i = begin; i < end; ++i) {
                                           digest += hashChunk(i);
                                         }
                                       });
  }
  return digest;
}

} // namespace nereid::verify
