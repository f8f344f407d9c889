// SPDX-License-Identifier: Apache-2.0
// Reproducible data. Element i depends on the seed and i alone, so the thread count does not
// matter; logarithm, sine and cosine are computed here from exactly rounded operations, so the C
// library and the processor do not matter either.
#include "runtime/Philox.h"
#include "runtime/ThreadPool.h"
#include "runtime/elements/ElementBlocks.h"
#include "runtime/tensor/HostTensor.h"

#include <bit>
#include <cmath>

// A fused multiply-add rounds once where two operations round twice: it would make the numbers
// depend on the processor.
#pragma STDC FP_CONTRACT OFF

namespace nereid::runtime {
namespace {

#define NEREID_INLINE __attribute__((always_inline)) inline

constexpr int groups = blockElements / 4;

/// Counters of one block of elements: four words of 32 bits for each four elements.
NEREID_INLINE void randomWords(uint64_t seed, uint64_t firstGroup, uint32_t (&words)[4][groups]) {
  for (int i = 0; i < groups; ++i) {
    const uint64_t counter = firstGroup + static_cast<uint64_t>(i);
    const PhiloxBlock block =
        philox({static_cast<uint32_t>(counter), static_cast<uint32_t>(counter >> 32), 0, 0},
               static_cast<uint32_t>(seed), static_cast<uint32_t>(seed >> 32));
    for (int lane = 0; lane < 4; ++lane) {
      words[lane][i] = block[lane];
    }
  }
}

/// Natural logarithm of a normal x > 0, to about 1e-15: x = m * 2^e with m in [0.707, 1.414), then
/// log m = 2 atanh((m - 1) / (m + 1)) by its series.
NEREID_INLINE double logarithm(double x) {
  const uint64_t bits = std::bit_cast<uint64_t>(x);
  // Bits of sqrt(1/2), rounded down to its upper half: splits exponents at that mantissa.
  constexpr uint64_t rootHalf = 0x3FE6A09E00000000;
  const uint64_t shifted = bits - rootHalf;
  const int32_t exponent = static_cast<int32_t>(static_cast<int64_t>(shifted) >> 52);
  const double m = std::bit_cast<double>((shifted & 0xFFFFFFFFFFFFF) + rootHalf);
  const double s = (m - 1) / (m + 1), z = s * s;
  double series = 1.0 / 21;
  for (int k = 19; k >= 1; k -= 2) {
    series = series * z + 1.0 / k;
  }
  return 2 * s * series + exponent * 0.6931471805599453;
}

/// Sine and cosine of 2 pi t, t in [0, 1): the nearest quarter turn is taken off, the rest, within
/// an eighth of a turn, goes through the Taylor series to x^15.
NEREID_INLINE void sineCosine(double t, double &sine, double &cosine) {
  const int32_t quarter = static_cast<int32_t>(t * 4 + 0.5);
  const double x = (t - quarter * 0.25) * 6.283185307179586;
  const double z = x * x;
  double s = 0, c = 0;
  for (int k = 7; k >= 1; --k) {
    s = (1 - s) * z * (1.0 / ((2 * k) * (2 * k + 1)));
    c = (1 - c) * z * (1.0 / ((2 * k - 1) * (2 * k)));
  }
  s = x * (1 - s);
  c = 1 - c;
  const bool isSwapped = quarter & 1;
  sine = (quarter & 2 ? -1.0 : 1.0) * (isSwapped ? c : s);
  cosine = ((quarter + 1) & 2 ? -1.0 : 1.0) * (isSwapped ? s : c);
}

/// Box and Muller: two uniform numbers to two normal ones.
NEREID_INLINE void normalBlock(uint64_t seed, uint64_t firstGroup, double *values) {
  uint32_t words[4][groups];
  randomWords(seed, firstGroup, words);
  double lanes[4][groups];
  for (int pair = 0; pair < 4; pair += 2) {
    for (int i = 0; i < groups; ++i) {
      const double u = (words[pair][i] + 1.0) * 0x1p-32; // (0, 1]
      double sine, cosine;
      sineCosine(words[pair + 1][i] * 0x1p-32, sine, cosine);
      const double radius = std::sqrt(-2 * logarithm(u));
      lanes[pair][i] = radius * cosine;
      lanes[pair + 1][i] = radius * sine;
    }
  }
  for (int i = 0; i < groups; ++i) {
    for (int lane = 0; lane < 4; ++lane) {
      values[4 * i + lane] = lanes[lane][i];
    }
  }
}

// The same operations in the same order, compiled for wider vectors; equal results bit by bit.
using NormalBlock = void (*)(uint64_t, uint64_t, double *);
void normalPlain(uint64_t seed, uint64_t group, double *values) {
  normalBlock(seed, group, values);
}
#if defined(__x86_64__)
__attribute__((target("avx2"))) void normalAvx2(uint64_t seed, uint64_t group, double *values) {
  normalBlock(seed, group, values);
}
__attribute__((target("avx512f,avx512dq,avx512vl,prefer-vector-width=512"))) void
normalAvx512(uint64_t seed, uint64_t group, double *values) {
  normalBlock(seed, group, values);
}
#endif

NormalBlock normalForThisMachine() {
#if defined(__x86_64__)
  if (__builtin_cpu_supports("avx512dq") && __builtin_cpu_supports("avx512vl")) {
    return normalAvx512;
  }
  if (__builtin_cpu_supports("avx2")) {
    return normalAvx2;
  }
#endif
  return normalPlain;
}

uint64_t groupOf(int64_t element) { return static_cast<uint64_t>(element) / 4; }

/// Calls body(tensor, begin, count) for all elements, with the tensor or a copy in host memory.
template <class Body> LaunchError fillBlocks(const Tensor &given, const Body &body) {
  return writeOnHost(given, [&](const Tensor &tensor) {
    forEachBlock(tensor, defaultPool(),
                 [&](int64_t begin, int count) { body(tensor, begin, count); });
  });
}

} // namespace

LaunchError fillNormal(const Tensor &given, uint64_t seed) {
  const NormalBlock makeBlock = normalForThisMachine();
  return fillBlocks(given, [&](const Tensor &tensor, int64_t begin, int count) {
    double values[blockElements];
    makeBlock(seed, groupOf(begin), values);
    writeBlock(tensor, begin, count, values);
  });
}

LaunchError fillUniform(const Tensor &given, uint64_t seed, double low, double high) {
  return fillBlocks(given, [&](const Tensor &tensor, int64_t begin, int count) {
    uint32_t words[4][groups];
    randomWords(seed, groupOf(begin), words);
    double values[blockElements];
    for (int i = 0; i < count; ++i) {
      values[i] = low + (high - low) * ((words[i % 4][i / 4] + 0.5) * 0x1p-32);
    }
    writeBlock(tensor, begin, count, values);
  });
}

LaunchError fillIntegers(const Tensor &given, uint64_t seed, int64_t low, int64_t high) {
  const uint64_t range = high > low ? static_cast<uint64_t>(high) - static_cast<uint64_t>(low) : 1;
  return fillBlocks(given, [&](const Tensor &tensor, int64_t begin, int count) {
    uint32_t words[4][groups], others[4][groups];
    randomWords(seed, groupOf(begin), words);
    // Ranges beyond 32 bits need a second word for each element; ~seed is another stream.
    randomWords(~seed, groupOf(begin), others);
    int64_t integers[blockElements];
    double numbers[blockElements];
    for (int i = 0; i < count; ++i) {
      const uint64_t word = uint64_t{words[i % 4][i / 4]} << 32 | others[i % 4][i / 4];
      const uint64_t scaled = static_cast<uint64_t>((unsigned __int128){word} * range >> 64);
      integers[i] = static_cast<int64_t>(static_cast<uint64_t>(low) + scaled);
      numbers[i] = static_cast<double>(integers[i]);
    }
    if (isFloat(tensor.dtype())) {
      writeBlock(tensor, begin, count, numbers);
    } else {
      writeIntegers(tensor, begin, count, integers, false);
    }
  });
}

LaunchError fillConstant(const Tensor &given, double value) {
  double values[blockElements];
  for (double &element : values) {
    element = value;
  }
  return fillBlocks(given, [&](const Tensor &tensor, int64_t begin, int count) {
    writeBlock(tensor, begin, count, values);
  });
}

} // namespace nereid::runtime
