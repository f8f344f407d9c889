// SPDX-License-Identifier: Apache-2.0
// One loop for each type and instruction set. Twelve independent chains cover the latency of two
// pipes; what they end with is stored once, so that no loop is left out.
#include "lib/measure/peaks/PeakLoops.h"

#if defined(__x86_64__)
#include <immintrin.h>
#endif

namespace nereid::measure {

namespace {

constexpr int chains = 12;

template <class Element, int bytes> struct VectorOf {
  typedef Element Type __attribute__((vector_size(bytes)));
};

/// What every machine has: vectors of 16 bytes, a multiplication and an addition that the compiler
/// may fuse.
template <class Element> void multiplyThenAdd(int64_t rounds) {
  using Vector = typename VectorOf<Element, 16>::Type;
  const Vector factor = Vector{} + static_cast<Element>(0.999);
  Vector sums[chains] = {};
  for (int64_t i = 0; i < rounds; ++i) {
#pragma clang loop unroll(full)
    for (Vector &sum : sums) {
      sum = sum * factor + factor;
    }
  }
  Vector all{};
  for (const Vector &sum : sums) {
    all += sum;
  }
  volatile Element sink = all[0];
  (void)sink;
}

#if defined(__x86_64__)

/// Becomes part of each caller, with the instructions that it may use.
template <class Element, int bytes>
__attribute__((always_inline)) inline void multiplyAdd(int64_t rounds) {
  using Vector = typename VectorOf<Element, bytes>::Type;
  const Vector factor = Vector{} + static_cast<Element>(0.999);
  Vector sums[chains];
  for (Vector &sum : sums) {
    sum = Vector{} + static_cast<Element>(1e-30);
  }
  for (int64_t i = 0; i < rounds; ++i) {
#pragma clang loop unroll(full)
    for (Vector &sum : sums) {
      sum = __builtin_elementwise_fma(sum, factor, factor);
    }
  }
  Vector all{};
  for (const Vector &sum : sums) {
    all += sum;
  }
  volatile Element sink = all[0];
  (void)sink;
}

__attribute__((target("avx512f"))) void fma512F32(int64_t rounds) {
  multiplyAdd<float, 64>(rounds);
}
__attribute__((target("avx512f"))) void fma512F64(int64_t rounds) {
  multiplyAdd<double, 64>(rounds);
}
__attribute__((target("avx2,fma"))) void fma256F32(int64_t rounds) {
  multiplyAdd<float, 32>(rounds);
}
__attribute__((target("avx2,fma"))) void fma256F64(int64_t rounds) {
  multiplyAdd<double, 32>(rounds);
}

__attribute__((target("avx512f,avx512bf16"))) void dot512Bf16(int64_t rounds) {
  const __m512bh factor = _mm512_cvtne2ps_pbh(_mm512_set1_ps(0.5F), _mm512_set1_ps(0.5F));
  __m512 sums[chains];
  for (auto &sum : sums) {
    sum = _mm512_set1_ps(1e-30F);
  }
  for (int64_t i = 0; i < rounds; ++i) {
#pragma clang loop unroll(full)
    for (auto &sum : sums) {
      sum = _mm512_dpbf16_ps(sum, factor, factor);
    }
  }
  volatile float sink = 0;
  for (auto &sum : sums) {
    sink = sink + _mm512_reduce_add_ps(sum);
  }
}

__attribute__((target("avx512f,avx512vnni"))) void dot512I8(int64_t rounds) {
  const __m512i factor = _mm512_set1_epi8(1);
  __m512i sums[chains];
  for (auto &sum : sums) {
    sum = _mm512_setzero_si512();
  }
  for (int64_t i = 0; i < rounds; ++i) {
#pragma clang loop unroll(full)
    for (auto &sum : sums) {
      sum = _mm512_dpbusd_epi32(sum, factor, factor);
    }
  }
  volatile int sink = 0;
  for (auto &sum : sums) {
    sink = sink + _mm512_reduce_add_epi32(sum);
  }
}

#endif // __x86_64__

} // namespace

std::map<std::string, PeakLoop> peakLoops() {
  std::map<std::string, PeakLoop> loops;
  loops["fp32"] = {multiplyThenAdd<float>, 2.0 * chains * 16 / 4};
  loops["fp64"] = {multiplyThenAdd<double>, 2.0 * chains * 16 / 8};
#if defined(__x86_64__)
  if (__builtin_cpu_supports("avx512f")) {
    loops["fp32"] = {fma512F32, 2.0 * chains * 64 / 4};
    loops["fp64"] = {fma512F64, 2.0 * chains * 64 / 8};
    if (__builtin_cpu_supports("avx512bf16")) {
      loops["bf16"] = {dot512Bf16, 2.0 * chains * 64 / 2};
    }
    if (__builtin_cpu_supports("avx512vnni")) {
      loops["i8"] = {dot512I8, 2.0 * chains * 64};
    }
  } else if (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma")) {
    loops["fp32"] = {fma256F32, 2.0 * chains * 32 / 4};
    loops["fp64"] = {fma256F64, 2.0 * chains * 32 / 8};
  }
#endif
  return loops;
}

} // namespace nereid::measure
