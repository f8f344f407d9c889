// SPDX-License-Identifier: Apache-2.0
// The loops are written without branches so that the compiler vectorises them. On x86-64 they are
// compiled a second time for AVX2 with F16C, which is taken where the processor has both.
#include "runtime/elements/FloatConversion.h"

#include <algorithm>
#include <bit>
#include <cstring>

#if defined(__x86_64__)
#include <immintrin.h>
#endif

namespace nereid::runtime {
namespace {

using std::bit_cast;

/// Conversions between double and the 16-bit formats pass through float in pieces of this size.
constexpr int64_t piece = 1024;

[[gnu::always_inline]] inline float widenBFloat16(uint16_t bits) {
  uint32_t wide = static_cast<uint32_t>(bits) << 16;
  bool isNan = (wide & 0x7FFFFFFFu) > 0x7F800000u;
  return bit_cast<float>(wide | (isNan ? 0x00400000u : 0u));
}

[[gnu::always_inline]] inline uint16_t narrowToBFloat16(float value) {
  auto bits = bit_cast<uint32_t>(value);
  bool isNan = (bits & 0x7FFFFFFFu) > 0x7F800000u;
  uint32_t rounded = (bits + 0x7FFFu + (bits >> 16 & 1u)) >> 16;
  return static_cast<uint16_t>(isNan ? (bits >> 16 | 0x40u) : rounded);
}

/// Rounds to odd: towards zero, with the last bit set when something was cut off. Rounding the
/// result again to a format at least two bits shorter equals rounding once (Boldo and Melquiond,
/// Emulation of FMA and Correctly Rounded Sums, IEEE Trans. Computers 57, 2008).
[[gnu::always_inline]] inline float roundToOdd(double value) {
  auto nearest = static_cast<float>(value);
  auto back = static_cast<double>(nearest);
  auto bits = bit_cast<uint32_t>(nearest);
  uint64_t magnitude = bit_cast<uint64_t>(value) << 1, reached = bit_cast<uint64_t>(back) << 1;
  bool isInexact = back < value || back > value; // false for NaN
  uint32_t odd = (bits - (reached > magnitude ? 1u : 0u)) | 1u;
  return bit_cast<float>(isInexact ? odd : bits);
}

[[gnu::always_inline]] inline void bfloat16ToFloat(const uint16_t *in, float *out, int64_t n) {
  for (int64_t i = 0; i < n; ++i) {
    out[i] = widenBFloat16(in[i]);
  }
}
[[gnu::always_inline]] inline void floatToBFloat16(const float *in, uint16_t *out, int64_t n) {
  for (int64_t i = 0; i < n; ++i) {
    out[i] = narrowToBFloat16(in[i]);
  }
}
template <class From, class To>
[[gnu::always_inline]] inline void castRun(const From *in, To *out, int64_t n) {
  for (int64_t i = 0; i < n; ++i) {
    out[i] = static_cast<To>(in[i]);
  }
}
[[gnu::always_inline]] inline void doubleToOdd(const double *in, float *out, int64_t n) {
  for (int64_t i = 0; i < n; ++i) {
    out[i] = roundToOdd(in[i]);
  }
}

/// A signalling NaN is made quiet by the cast through double, as in loadAsDouble's users.
void halfToFloatPortable(const uint16_t *in, float *out, int64_t n) {
  for (int64_t i = 0; i < n; ++i) {
    out[i] = static_cast<float>(static_cast<double>(fromHalf(in[i])));
  }
}
void floatToHalfPortable(const float *in, uint16_t *out, int64_t n) {
  for (int64_t i = 0; i < n; ++i) {
    out[i] = toHalf(static_cast<double>(in[i]));
  }
}

#define NEREID_CONVERSIONS(SUFFIX, ATTRIBUTE, HALF_TO_FLOAT, FLOAT_TO_HALF)                        \
  ATTRIBUTE void toFloat##SUFFIX(const void *in, DType from, float *out, int64_t n) {              \
    switch (from) {                                                                                \
    case DType::F16:                                                                               \
      return HALF_TO_FLOAT(static_cast<const uint16_t *>(in), out, n);                             \
    case DType::BF16:                                                                              \
      return bfloat16ToFloat(static_cast<const uint16_t *>(in), out, n);                           \
    default:                                                                                       \
      return castRun(static_cast<const double *>(in), out, n);                                     \
    }                                                                                              \
  }                                                                                                \
  ATTRIBUTE void fromFloat##SUFFIX(const float *in, void *out, DType to, int64_t n) {              \
    switch (to) {                                                                                  \
    case DType::F16:                                                                               \
      return FLOAT_TO_HALF(in, static_cast<uint16_t *>(out), n);                                   \
    case DType::BF16:                                                                              \
      return floatToBFloat16(in, static_cast<uint16_t *>(out), n);                                 \
    default:                                                                                       \
      return castRun(in, static_cast<double *>(out), n);                                           \
    }                                                                                              \
  }                                                                                                \
  ATTRIBUTE void doubleToOdd##SUFFIX(const double *in, float *out, int64_t n) {                    \
    doubleToOdd(in, out, n);                                                                       \
  }

NEREID_CONVERSIONS(Portable, , halfToFloatPortable, floatToHalfPortable)

#if defined(__x86_64__)
#define NEREID_AVX2 __attribute__((target("avx2,f16c")))

NEREID_AVX2 void halfToFloatAvx2(const uint16_t *in, float *out, int64_t n) {
  int64_t i = 0;
  for (; i + 8 <= n; i += 8) {
    __m128i bits = _mm_loadu_si128(reinterpret_cast<const __m128i *>(in + i));
    _mm256_storeu_ps(out + i, _mm256_cvtph_ps(bits));
  }
  for (; i < n; ++i) {
    out[i] = _cvtsh_ss(in[i]);
  }
}

NEREID_AVX2 void floatToHalfAvx2(const float *in, uint16_t *out, int64_t n) {
  int64_t i = 0;
  for (; i + 8 <= n; i += 8) {
    __m128i bits = _mm256_cvtps_ph(_mm256_loadu_ps(in + i), _MM_FROUND_TO_NEAREST_INT);
    _mm_storeu_si128(reinterpret_cast<__m128i *>(out + i), bits);
  }
  for (; i < n; ++i) {
    out[i] = static_cast<uint16_t>(_cvtss_sh(in[i], _MM_FROUND_TO_NEAREST_INT));
  }
}

NEREID_CONVERSIONS(Avx2, NEREID_AVX2, halfToFloatAvx2, floatToHalfAvx2)
#undef NEREID_AVX2
#endif
#undef NEREID_CONVERSIONS

struct Conversions {
  void (*toFloat)(const void *in, DType from, float *out, int64_t n) = toFloatPortable;
  void (*fromFloat)(const float *in, void *out, DType to, int64_t n) = fromFloatPortable;
  void (*toOdd)(const double *in, float *out, int64_t n) = doubleToOddPortable;
};

/// Rounding from double is one step, so the 8-bit floats need no intermediate format.
void convertOneByOne(const uint8_t *in, DType from, uint8_t *out, DType to, int64_t count) {
  const auto inBytes = static_cast<int64_t>(sizeInBytes(from));
  const auto outBytes = static_cast<int64_t>(sizeInBytes(to));
  for (int64_t i = 0; i < count; ++i) {
    storeFromDouble(out + i * outBytes, to, loadAsDouble(in + i * inBytes, from));
  }
}

Conversions pickConversions() {
  Conversions picked;
#if defined(__x86_64__)
  __builtin_cpu_init();
  if (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("f16c")) {
    picked = {toFloatAvx2, fromFloatAvx2, doubleToOddAvx2};
  }
#endif
  return picked;
}

} // namespace

void convertFloats(const void *in, DType from, void *out, DType to, int64_t count) {
  static const Conversions conversions = pickConversions();
  if (from == to) {
    std::memcpy(out, in, static_cast<size_t>(count) * sizeInBytes(from));
    return;
  }
  if (isFloat8(from) || isFloat8(to)) {
    return convertOneByOne(static_cast<const uint8_t *>(in), from, static_cast<uint8_t *>(out), to,
                           count);
  }
  if (to == DType::F32) {
    return conversions.toFloat(in, from, static_cast<float *>(out), count);
  }
  if (from == DType::F32) {
    return conversions.fromFloat(static_cast<const float *>(in), out, to, count);
  }
  const auto *source = static_cast<const uint8_t *>(in);
  auto *target = static_cast<uint8_t *>(out);
  const auto inBytes = static_cast<int64_t>(sizeInBytes(from));
  const auto outBytes = static_cast<int64_t>(sizeInBytes(to));
  alignas(64) float values[piece];
  for (int64_t begin = 0; begin < count; begin += piece) {
    const int64_t n = std::min(piece, count - begin);
    if (from == DType::F64) {
      conversions.toOdd(reinterpret_cast<const double *>(source + begin * inBytes), values, n);
    } else {
      conversions.toFloat(source + begin * inBytes, from, values, n);
    }
    conversions.fromFloat(values, target + begin * outBytes, to, n);
  }
}

} // namespace nereid::runtime
