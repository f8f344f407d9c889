// SPDX-License-Identifier: Apache-2.0
// Conversions for Staging.h. Contiguous 16-bit floats take the vector conversions of the kernel
// table; the other combinations are plain loops.
#include "lib/eager/baseline/Staging.h"

#include "runtime/elements/Float8.h"
#include "runtime/elements/IntegerElements.h"

#include <bit>
#include <cstring>
#include <type_traits>

namespace nereid::eager {
namespace {

template <class From, class T> void copyRun(const void *base, int64_t stride, T *out, int64_t n) {
  const auto *in = static_cast<const From *>(base);
  if (stride == 1) {
    for (int64_t i = 0; i < n; ++i) {
      out[i] = static_cast<T>(in[i]);
    }
    return;
  }
  for (int64_t i = 0; i < n; ++i) {
    out[i] = static_cast<T>(in[i * stride]);
  }
}

template <class T>
void gatherHalf(const void *base, DType type, int64_t stride, T *out, int64_t n) {
  const auto *in = static_cast<const uint16_t *>(base);
  const KernelTable &table = kernelTable();
  auto convert = type == DType::F16 ? table.halfToFloat : table.bfloat16ToFloat;
  uint16_t bits[stageElements];
  float values[stageElements];
  for (int64_t begin = 0; begin < n; begin += stageElements) {
    int64_t count = n - begin < stageElements ? n - begin : stageElements;
    const uint16_t *run = in + begin * stride;
    if (stride != 1) {
      for (int64_t i = 0; i < count; ++i) {
        bits[i] = run[i * stride];
      }
      run = bits;
    }
    if constexpr (std::is_same_v<T, float>) {
      convert(run, out + begin, count);
    } else {
      convert(run, values, count);
      copyRun<float>(values, 1, out + begin, count);
    }
  }
}

template <class T> void scatterHalf(const T *in, void *base, DType type, int64_t n) {
  auto *out = static_cast<uint16_t *>(base);
  if constexpr (std::is_same_v<T, float>) {
    const KernelTable &table = kernelTable();
    (type == DType::F16 ? table.floatToHalf : table.floatToBfloat16)(in, out, n);
  } else {
    for (int64_t i = 0; i < n; ++i) { // straight from double: two roundings would differ
      auto value = static_cast<double>(in[i]);
      out[i] = type == DType::F16 ? toHalf(value) : toBFloat16(value);
    }
  }
}

/// The 8-bit floats that PyTorch converts to: what is beyond the largest number is an infinity, or
/// NaN where there is none. Numbers below the normal ones are rounded where the adder aligns them.
uint8_t toEightBits(float value, DType type) {
  const bool isE4 = type == DType::F8E4M3FN;
  const uint32_t digits = isE4 ? 3 : 2, bias = isE4 ? 7 : 15;
  const float firstBeyond = isE4 ? 464.0f : 61440.0f, leastNormal = isE4 ? 0x1p-6f : 0x1p-14f;
  uint32_t bits = std::bit_cast<uint32_t>(value);
  const auto sign = static_cast<uint8_t>(bits >> 24 & 0x80);
  bits &= 0x7FFFFFFF;
  const float size = std::bit_cast<float>(bits);
  if (!(size < firstBeyond)) {
    const bool isLargest = isE4 && size == firstBeyond; // of two equally near the even one
    const bool isNumber = size == size;
    return static_cast<uint8_t>(sign | (isLargest ? 0x7E : isNumber && !isE4 ? 0x7C : 0x7F));
  }
  if (size < leastNormal) {
    const float align = leastNormal * static_cast<float>(1 << (23 - digits));
    return static_cast<uint8_t>(
        sign | (std::bit_cast<uint32_t>(size + align) - std::bit_cast<uint32_t>(align)));
  }
  const uint32_t cut = 23 - digits, isOdd = bits >> cut & 1;
  const uint32_t rounded = bits + (1U << (cut - 1)) - 1 + isOdd;
  return static_cast<uint8_t>(sign | ((rounded >> cut) - ((127 - bias) << digits)));
}

} // namespace

template <class T> void gather(const void *base, DType type, int64_t stride, T *out, int64_t n) {
  switch (type) {
  case DType::F32:
    return copyRun<float>(base, stride, out, n);
  case DType::F64:
    return copyRun<double>(base, stride, out, n);
  case DType::F16:
  case DType::BF16:
    return gatherHalf(base, type, stride, out, n);
  case DType::Bool: {
    const auto *in = static_cast<const uint8_t *>(base);
    for (int64_t i = 0; i < n; ++i) {
      out[i] = static_cast<T>(in[i * stride] != 0);
    }
    return;
  }
  case DType::I8:
    return copyRun<int8_t>(base, stride, out, n);
  case DType::I16:
    return copyRun<int16_t>(base, stride, out, n);
  case DType::I32:
    return copyRun<int32_t>(base, stride, out, n);
  case DType::I64:
    return copyRun<int64_t>(base, stride, out, n);
  case DType::U8:
    return copyRun<uint8_t>(base, stride, out, n);
  case DType::U16:
    return copyRun<uint16_t>(base, stride, out, n);
  case DType::U32:
    return copyRun<uint32_t>(base, stride, out, n);
  case DType::U64:
    return copyRun<uint64_t>(base, stride, out, n);
  case DType::F8E4M3FN:
  case DType::F8E5M2:
  case DType::F8E4M3FNUZ:
  case DType::F8E5M2FNUZ:
  case DType::F8E4B15: {
    const auto *in = static_cast<const uint8_t *>(base);
    for (int64_t i = 0; i < n; ++i) {
      out[i] = static_cast<T>(fromFloat8(in[i * stride], type));
    }
    return;
  }
  }
}

template <class T> void scatter(const T *in, void *base, DType type, int64_t n) {
  switch (type) {
  case DType::F32: {
    auto *out = static_cast<float *>(base);
    for (int64_t i = 0; i < n; ++i) {
      out[i] = static_cast<float>(in[i]);
    }
    return;
  }
  case DType::F64: {
    auto *out = static_cast<double *>(base);
    for (int64_t i = 0; i < n; ++i) {
      out[i] = static_cast<double>(in[i]);
    }
    return;
  }
  case DType::F16:
  case DType::BF16:
    return scatterHalf(in, base, type, n);
  case DType::Bool: {
    auto *out = static_cast<uint8_t *>(base);
    for (int64_t i = 0; i < n; ++i) {
      out[i] = in[i] != 0;
    }
    return;
  }
  case DType::F8E4M3FN:
  case DType::F8E5M2: {
    auto *out = static_cast<uint8_t *>(base);
    for (int64_t i = 0; i < n; ++i) {
      out[i] = toEightBits(static_cast<float>(in[i]), type);
    }
    return;
  }
  default:
    for (int64_t i = 0; i < n; ++i) {
      void *element = static_cast<char *>(base) + i * static_cast<int64_t>(sizeInBytes(type));
      if constexpr (std::is_integral_v<T>) {
        runtime::storeInteger(element, type, static_cast<uint64_t>(in[i]));
      } else {
        storeFromDouble(element, type, static_cast<double>(in[i]));
      }
    }
  }
}

#define NEREID_STAGED(T)                                                                           \
  template void gather<T>(const void *, DType, int64_t, T *, int64_t);                             \
  template void scatter<T>(const T *, void *, DType, int64_t);
NEREID_STAGED(float)
NEREID_STAGED(double)
NEREID_STAGED(int8_t)
NEREID_STAGED(int16_t)
NEREID_STAGED(int32_t)
NEREID_STAGED(int64_t)
NEREID_STAGED(uint8_t)
NEREID_STAGED(uint16_t)
NEREID_STAGED(uint32_t)
NEREID_STAGED(uint64_t)

} // namespace nereid::eager
