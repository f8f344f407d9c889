// SPDX-License-Identifier: Apache-2.0
#include "lib/measure/peaks/MemoryCopy.h"

#include "runtime/ThreadPool.h"

#include <algorithm>
#include <cstring>

#if defined(__x86_64__)
#include <immintrin.h>
#endif

namespace nereid::measure {

namespace {

#if defined(__x86_64__)

__attribute__((target("avx512f"))) void copyPlain512(uint8_t *to, const uint8_t *from, int64_t n) {
  for (int64_t i = 0; i + 256 <= n; i += 256) {
    __m512i a = _mm512_loadu_si512(from + i), b = _mm512_loadu_si512(from + i + 64);
    __m512i c = _mm512_loadu_si512(from + i + 128), d = _mm512_loadu_si512(from + i + 192);
    _mm512_storeu_si512(to + i, a);
    _mm512_storeu_si512(to + i + 64, b);
    _mm512_storeu_si512(to + i + 128, c);
    _mm512_storeu_si512(to + i + 192, d);
  }
}

__attribute__((target("avx2"))) void copyPlain256(uint8_t *to, const uint8_t *from, int64_t n) {
  for (int64_t i = 0; i + 128 <= n; i += 128) {
    for (int j = 0; j < 128; j += 32) {
      __m256i a = _mm256_loadu_si256(reinterpret_cast<const __m256i *>(from + i + j));
      _mm256_storeu_si256(reinterpret_cast<__m256i *>(to + i + j), a);
    }
  }
}

/// Needs 64-byte aligned targets.
__attribute__((target("avx512f"))) void copyStreaming512(uint8_t *to, const uint8_t *from,
                                                         int64_t n) {
  for (int64_t i = 0; i + 256 <= n; i += 256) {
    for (int j = 0; j < 256; j += 64) {
      _mm512_stream_si512(reinterpret_cast<__m512i *>(to + i + j),
                          _mm512_loadu_si512(from + i + j));
    }
  }
  _mm_sfence();
}

__attribute__((target("avx2"))) void copyStreaming256(uint8_t *to, const uint8_t *from, int64_t n) {
  for (int64_t i = 0; i + 128 <= n; i += 128) {
    for (int j = 0; j < 128; j += 32) {
      __m256i a = _mm256_loadu_si256(reinterpret_cast<const __m256i *>(from + i + j));
      _mm256_stream_si256(reinterpret_cast<__m256i *>(to + i + j), a);
    }
  }
  _mm_sfence();
}

#endif // __x86_64__

void copyLibrary(uint8_t *to, const uint8_t *from, int64_t n) {
  std::memcpy(to, from, static_cast<size_t>(n));
}

} // namespace

std::vector<Copy> copiesFor(const Machine &chip) {
  std::vector<Copy> copies = {{"memcpy", copyLibrary}};
#if defined(__x86_64__)
  if (chip.vectorBytes == 64) {
    copies.push_back({"vector", copyPlain512});
    copies.push_back({"streaming", copyStreaming512});
  } else if (chip.vectorBytes == 32) {
    copies.push_back({"vector", copyPlain256});
    copies.push_back({"streaming", copyStreaming256});
  }
#endif
  return copies;
}

void copyParallel(const Machine &chip, uint8_t *to, const uint8_t *from, int64_t bytes,
                  runtime::ThreadPool &pool) {
  std::vector<Copy> copies = copiesFor(chip);
  auto best = std::find_if(copies.begin(), copies.end(),
                           [&](const Copy &copy) { return copy.name == chip.bestCopy; });
  const Copy &copy = best == copies.end() ? copies.front() : *best;
  constexpr int64_t chunk = int64_t{1} << 20;
  int64_t chunks = (bytes + chunk - 1) / chunk;
  pool.parallelFor(chunks, std::max<int64_t>(1, chunks / (4 * pool.threadCount())),
                   [&](int64_t begin, int64_t end, int) {
                     for (int64_t i = begin; i < end; ++i) {
                       copy.run(to + i * chunk, from + i * chunk,
                                std::min(chunk, bytes - i * chunk));
                     }
                   });
}

} // namespace nereid::measure
