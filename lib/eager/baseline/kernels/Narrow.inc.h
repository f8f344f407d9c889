// SPDX-License-Identifier: Apache-2.0
// Conversions between float32 and the 16-bit types, and their sums.
// Part of Kernels.inc.h, inside of its namespace.

void bfloat16ToFloat(const uint16_t *in, float *out, int64_t n) {
  NEREID_INDEPENDENT
  for (int64_t i = 0; i < n; ++i) {
    out[i] = __builtin_bit_cast(float, static_cast<uint32_t>(in[i]) << 16);
  }
}

void floatToBfloat16(const float *in, uint16_t *out, int64_t n) {
  NEREID_INDEPENDENT
  for (int64_t i = 0; i < n; ++i) {
    auto bits = __builtin_bit_cast(uint32_t, in[i]);
    uint32_t rounded = (bits + 0x7fffu + ((bits >> 16) & 1u)) >> 16;
    bool isNan = (bits & 0x7fffffffu) > 0x7f800000u;
    out[i] = static_cast<uint16_t>(isNan ? (bits >> 16) | 0x40u : rounded);
  }
}

void addBfloat16(const uint16_t *in, float *state, int64_t n) {
  NEREID_INDEPENDENT
  for (int64_t i = 0; i < n; ++i) {
    state[i] += __builtin_bit_cast(float, static_cast<uint32_t>(in[i]) << 16);
  }
}

#ifdef __F16C__
void addHalf(const uint16_t *in, float *state, int64_t n) {
  int64_t i = 0;
#ifdef __AVX512F__
  for (; i + 16 <= n; i += 16) {
    __m512 value = _mm512_cvtph_ps(_mm256_loadu_si256(reinterpret_cast<const __m256i *>(in + i)));
    _mm512_storeu_ps(state + i, _mm512_add_ps(_mm512_loadu_ps(state + i), value));
  }
#endif
  for (; i + 8 <= n; i += 8) {
    __m256 value = _mm256_cvtph_ps(_mm_loadu_si128(reinterpret_cast<const __m128i *>(in + i)));
    _mm256_storeu_ps(state + i, _mm256_add_ps(_mm256_loadu_ps(state + i), value));
  }
  for (; i < n; ++i) {
    state[i] += _cvtsh_ss(in[i]);
  }
}

void halfToFloat(const uint16_t *in, float *out, int64_t n) {
  int64_t i = 0;
#ifdef __AVX512F__
  for (; i + 16 <= n; i += 16) {
    __m256i bits = _mm256_loadu_si256(reinterpret_cast<const __m256i *>(in + i));
    _mm512_storeu_ps(out + i, _mm512_cvtph_ps(bits));
  }
#endif
  for (; i + 8 <= n; i += 8) {
    __m128i bits = _mm_loadu_si128(reinterpret_cast<const __m128i *>(in + i));
    _mm256_storeu_ps(out + i, _mm256_cvtph_ps(bits));
  }
  for (; i < n; ++i) {
    out[i] = _cvtsh_ss(in[i]);
  }
}

void floatToHalf(const float *in, uint16_t *out, int64_t n) {
  int64_t i = 0;
#ifdef __AVX512F__
  for (; i + 16 <= n; i += 16) {
    __m256i bits = _mm512_cvtps_ph(_mm512_loadu_ps(in + i), _MM_FROUND_TO_NEAREST_INT);
    _mm256_storeu_si256(reinterpret_cast<__m256i *>(out + i), bits);
  }
#endif
  for (; i + 8 <= n; i += 8) {
    __m128i bits = _mm256_cvtps_ph(_mm256_loadu_ps(in + i), _MM_FROUND_TO_NEAREST_INT);
    _mm_storeu_si128(reinterpret_cast<__m128i *>(out + i), bits);
  }
  for (; i < n; ++i) {
    out[i] = static_cast<uint16_t>(_cvtss_sh(in[i], _MM_FROUND_TO_NEAREST_INT));
  }
}
#else
void addHalf(const uint16_t *in, float *state, int64_t n) {
  for (int64_t i = 0; i < n; ++i) {
    state[i] += nereid::fromHalf(in[i]);
  }
}

void halfToFloat(const uint16_t *in, float *out, int64_t n) {
  for (int64_t i = 0; i < n; ++i) {
    out[i] = nereid::fromHalf(in[i]);
  }
}

void floatToHalf(const float *in, uint16_t *out, int64_t n) {
  for (int64_t i = 0; i < n; ++i) {
    out[i] = nereid::toHalf(static_cast<double>(in[i]));
  }
}
#endif
