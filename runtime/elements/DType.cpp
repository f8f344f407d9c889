// SPDX-License-Identifier: Apache-2.0
// Tables and conversions of the element types. Rounding is done on the bits of the double, in one
// step, so that no value is rounded twice.
#include "runtime/elements/DType.h"

#include "runtime/elements/Float8.h"

#include <bit>
#include <cmath>
#include <cstring>
#include <limits>

namespace nereid {
namespace {

struct Row {
  std::string_view kernel, torch, other;
  uint8_t bytes;
  enum Class : uint8_t { Boolean, Signed, Unsigned, Float } kind;
};

// In the order of DType's enumerators.
constexpr Row rows[dtypeCount] = {
    {"i1", "bool", "", 1, Row::Boolean},
    {"i8", "int8", "", 1, Row::Signed},
    {"i16", "int16", "", 2, Row::Signed},
    {"i32", "int32", "", 4, Row::Signed},
    {"i64", "int64", "", 8, Row::Signed},
    {"u8", "uint8", "", 1, Row::Unsigned},
    {"u16", "uint16", "", 2, Row::Unsigned},
    {"u32", "uint32", "", 4, Row::Unsigned},
    {"u64", "uint64", "", 8, Row::Unsigned},
    {"fp16", "float16", "f16", 2, Row::Float},
    {"bf16", "bfloat16", "", 2, Row::Float},
    {"fp32", "float32", "f32", 4, Row::Float},
    {"fp64", "float64", "f64", 8, Row::Float},
    {"fp8e4nv", "float8_e4m3fn", "float8e4nv", 1, Row::Float},
    {"fp8e5", "float8_e5m2", "float8e5", 1, Row::Float},
    {"fp8e4b8", "float8_e4m3fnuz", "float8e4b8", 1, Row::Float},
    {"fp8e5b16", "float8_e5m2fnuz", "float8e5b16", 1, Row::Float},
    {"fp8e4b15", "float8e4b15", "", 1, Row::Float},
};

const Row &rowOf(DType type) { return rows[static_cast<int>(type)]; }

/// Rounds a double to a binary format of 16 bits with `mantissaBits` stored and the exponent bias
/// `bias` (the largest biased exponent is infinity and NaN).
template <int mantissaBits, int bias> uint16_t roundTo16(double value) {
  constexpr int exponentMax = 2 * bias + 1;
  const uint64_t bits = std::bit_cast<uint64_t>(value);
  const uint16_t sign = static_cast<uint16_t>(bits >> 48 & 0x8000);
  const int biased = static_cast<int>(bits >> 52 & 0x7FF);
  const uint64_t fraction = bits & 0xFFFFFFFFFFFFFull;
  constexpr uint16_t infinity = exponentMax << mantissaBits;
  if (biased == 0x7FF) {
    if (fraction == 0) {
      return sign | infinity;
    }
    const uint16_t payload = static_cast<uint16_t>(fraction >> (52 - mantissaBits));
    return sign | infinity | (1 << (mantissaBits - 1)) | payload;
  }
  int exponent = biased - 1023 + bias;
  if (biased == 0 || exponent < -mantissaBits) {
    return sign;
  }
  // Below the normal range the result's unit stays that of exponent 1.
  const int dropped = 52 - mantissaBits + (exponent < 1 ? 1 - exponent : 0);
  const uint64_t significand = fraction | 1ull << 52;
  uint64_t kept = significand >> dropped;
  const uint64_t rest = significand & ((1ull << dropped) - 1);
  const uint64_t half = 1ull << (dropped - 1);
  kept += rest > half || (rest == half && (kept & 1)) ? 1 : 0;
  // A subnormal that rounds up to the hidden bit becomes the smallest normal by the addition.
  const uint64_t result =
      exponent < 1 ? kept : kept + (static_cast<uint64_t>(exponent - 1) << mantissaBits);
  return result >= infinity ? sign | infinity : sign | static_cast<uint16_t>(result);
}

/// The integer modulo 2^64, as a cast in hardware-independent form; NaN and infinities give 0.
uint64_t wrapToU64(double value) {
  if (!std::isfinite(value)) {
    return 0;
  }
  const double whole = std::nearbyint(value);
  constexpr double range = 18446744073709551616.0;
  if (whole >= -9223372036854775808.0 && whole < 9223372036854775808.0) {
    return static_cast<uint64_t>(static_cast<int64_t>(whole));
  }
  double reduced = std::fmod(whole, range);
  if (reduced < 0) {
    reduced += range;
  }
  return reduced >= range ? 0 : static_cast<uint64_t>(reduced);
}

template <class T> T readAs(const void *element) {
  T value;
  std::memcpy(&value, element, sizeof value);
  return value;
}

} // namespace

size_t sizeInBytes(DType type) { return rowOf(type).bytes; }
bool isFloat(DType type) { return rowOf(type).kind == Row::Float; }
bool isFloat8(DType type) { return isFloat(type) && sizeInBytes(type) == 1; }
bool isSignedInteger(DType type) { return rowOf(type).kind == Row::Signed; }
bool isUnsignedInteger(DType type) { return rowOf(type).kind == Row::Unsigned; }
std::string_view kernelName(DType type) { return rowOf(type).kernel; }
std::string_view torchName(DType type) { return rowOf(type).torch; }

std::optional<DType> parseDType(std::string_view name) {
  if (name.empty()) {
    return std::nullopt;
  }
  for (int i = 0; i < dtypeCount; ++i) {
    if (name == rows[i].kernel || name == rows[i].torch || name == rows[i].other) {
      return static_cast<DType>(i);
    }
  }
  return std::nullopt;
}

uint16_t toHalf(double value) { return roundTo16<10, 15>(value); }
uint16_t toBFloat16(double value) { return roundTo16<7, 127>(value); }

float fromHalf(uint16_t bits) {
  const uint32_t sign = static_cast<uint32_t>(bits & 0x8000) << 16;
  const uint32_t exponent = bits >> 10 & 0x1F;
  const uint32_t fraction = bits & 0x3FF;
  if (exponent == 31) {
    return std::bit_cast<float>(sign | 0x7F800000u | fraction << 13);
  }
  if (exponent == 0) {
    const float magnitude = static_cast<float>(fraction) * 0x1p-24f;
    return std::bit_cast<float>(sign | std::bit_cast<uint32_t>(magnitude));
  }
  return std::bit_cast<float>(sign | (exponent + 112) << 23 | fraction << 13);
}

float fromBFloat16(uint16_t bits) {
  return std::bit_cast<float>(static_cast<uint32_t>(bits) << 16);
}

double loadAsDouble(const void *element, DType type) {
  switch (type) {
  case DType::Bool:
    return readAs<uint8_t>(element) != 0;
  case DType::I8:
    return readAs<int8_t>(element);
  case DType::I16:
    return readAs<int16_t>(element);
  case DType::I32:
    return readAs<int32_t>(element);
  case DType::I64:
    return static_cast<double>(readAs<int64_t>(element));
  case DType::U8:
    return readAs<uint8_t>(element);
  case DType::U16:
    return readAs<uint16_t>(element);
  case DType::U32:
    return readAs<uint32_t>(element);
  case DType::U64:
    return static_cast<double>(readAs<uint64_t>(element));
  case DType::F16:
    return fromHalf(readAs<uint16_t>(element));
  case DType::BF16:
    return fromBFloat16(readAs<uint16_t>(element));
  case DType::F32:
    return readAs<float>(element);
  case DType::F64:
    return readAs<double>(element);
  case DType::F8E4M3FN:
  case DType::F8E5M2:
  case DType::F8E4M3FNUZ:
  case DType::F8E5M2FNUZ:
  case DType::F8E4B15:
    return fromFloat8(readAs<uint8_t>(element), type);
  }
  return 0;
}

void storeFromDouble(void *element, DType type, double value) {
  switch (type) {
  case DType::Bool: {
    const uint8_t flag = value != 0 || std::isnan(value);
    std::memcpy(element, &flag, 1);
    return;
  }
  case DType::F16: {
    const uint16_t bits = toHalf(value);
    std::memcpy(element, &bits, sizeof bits);
    return;
  }
  case DType::BF16: {
    const uint16_t bits = toBFloat16(value);
    std::memcpy(element, &bits, sizeof bits);
    return;
  }
  case DType::F32: {
    const float rounded = static_cast<float>(value);
    std::memcpy(element, &rounded, sizeof rounded);
    return;
  }
  case DType::F64:
    std::memcpy(element, &value, sizeof value);
    return;
  case DType::F8E4M3FN:
  case DType::F8E5M2:
  case DType::F8E4M3FNUZ:
  case DType::F8E5M2FNUZ:
  case DType::F8E4B15: {
    const uint8_t bits = toFloat8(value, type);
    std::memcpy(element, &bits, sizeof bits);
    return;
  }
  default: {
    // Little-endian: the low bytes come first.
    const uint64_t bits = wrapToU64(value);
    std::memcpy(element, &bits, sizeInBytes(type));
    return;
  }
  }
}

} // namespace nereid
