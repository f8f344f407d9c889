// SPDX-License-Identifier: Apache-2.0
// One loop body for all widths; each caller compiles it with the instructions that it may use.
#include "lib/measure/peaks/MemoryLoops.h"

namespace nereid::measure {

namespace {

constexpr int unrolled = 8;

template <int width> struct WordsOf {
  typedef uint64_t Type __attribute__((vector_size(width), may_alias));
};

template <int width>
__attribute__((always_inline)) inline void readWords(const uint8_t *from, int64_t bytes) {
  using Words = typename WordsOf<width>::Type;
  const auto *words = reinterpret_cast<const Words *>(from);
  Words sums[unrolled] = {};
  for (int64_t i = 0; i + unrolled <= bytes / width; i += unrolled) {
#pragma clang loop unroll(full)
    for (int j = 0; j < unrolled; ++j) {
      sums[j] += words[i + j];
    }
  }
  Words all{};
  for (const Words &sum : sums) {
    all += sum;
  }
  volatile uint64_t sink = all[0];
  (void)sink;
}

template <int width>
__attribute__((always_inline)) inline void addWords(uint8_t *to, const uint8_t *a, const uint8_t *b,
                                                    int64_t bytes) {
  using Words = typename WordsOf<width>::Type;
  auto *target = reinterpret_cast<Words *>(to);
  const auto *first = reinterpret_cast<const Words *>(a);
  const auto *second = reinterpret_cast<const Words *>(b);
  for (int64_t i = 0; i + unrolled <= bytes / width; i += unrolled) {
#pragma clang loop unroll(full)
    for (int j = 0; j < unrolled; ++j) {
      target[i + j] = first[i + j] + second[i + j];
    }
  }
}

#if defined(__x86_64__)
__attribute__((target("avx512f"))) void read512(const uint8_t *from, int64_t bytes) {
  readWords<64>(from, bytes);
}
__attribute__((target("avx2"))) void read256(const uint8_t *from, int64_t bytes) {
  readWords<32>(from, bytes);
}
__attribute__((target("avx512f"))) void add512(uint8_t *to, const uint8_t *a, const uint8_t *b,
                                               int64_t bytes) {
  addWords<64>(to, a, b, bytes);
}
__attribute__((target("avx2"))) void add256(uint8_t *to, const uint8_t *a, const uint8_t *b,
                                            int64_t bytes) {
  addWords<32>(to, a, b, bytes);
}
#endif

} // namespace

void readMemory(const uint8_t *from, int64_t bytes) {
#if defined(__x86_64__)
  if (__builtin_cpu_supports("avx512f")) {
    return read512(from, bytes);
  }
  if (__builtin_cpu_supports("avx2")) {
    return read256(from, bytes);
  }
#endif
  readWords<16>(from, bytes);
}

void addMemory(uint8_t *to, const uint8_t *a, const uint8_t *b, int64_t bytes) {
#if defined(__x86_64__)
  if (__builtin_cpu_supports("avx512f")) {
    return add512(to, a, b, bytes);
  }
  if (__builtin_cpu_supports("avx2")) {
    return add256(to, a, b, bytes);
  }
#endif
  addWords<16>(to, a, b, bytes);
}

} // namespace nereid::measure
