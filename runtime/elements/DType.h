// SPDX-License-Identifier: Apache-2.0
// Element types shared by the compiler, the runtime and the tools, with the names each of them
// uses: the kernel language writes `fp32`, definitions write PyTorch's `float32`. No other file
// repeats these tables.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>

namespace nereid {

enum class DType : uint8_t {
  Bool,
  I8,
  I16,
  I32,
  I64,
  U8,
  U16,
  U32,
  U64,
  F16,
  BF16,
  F32,
  F64,
  F8E4M3FN,
  F8E5M2,
  F8E4M3FNUZ,
  F8E5M2FNUZ,
  F8E4B15
};

/// Number of enumerators, for iteration in tests and tables.
inline constexpr int dtypeCount = 18;

/// Bytes one element takes in memory; Bool takes 1.
size_t sizeInBytes(DType type);
bool isFloat(DType type);
/// The floating-point types of one byte, see Float8.h.
bool isFloat8(DType type);
/// True for I8..I64 (not Bool).
bool isSignedInteger(DType type);
/// True for U8..U64 (not Bool).
bool isUnsignedInteger(DType type);

/// Kernel-language name: "i1", "i32", "u8", "fp16", "bf16", "fp32", "fp64", "fp8e4nv",
/// "fp8e5", "fp8e4b8", "fp8e5b16", "fp8e4b15".
std::string_view kernelName(DType type);
/// PyTorch name: "bool", "int32", "uint8", "float16", "bfloat16", "float32", "float64",
/// "float8_e4m3fn", "float8_e5m2", "float8_e4m3fnuz", "float8_e5m2fnuz"; where PyTorch has no
/// such type, the name in the kernel language: "float8e4b15".
std::string_view torchName(DType type);
/// Accepts both spellings, and "f16", "f32", "f64", "float8e4nv" and its like; nothing for an
/// unknown name.
std::optional<DType> parseDType(std::string_view name);

/// IEEE round to nearest even, NaN stays NaN, overflow gives infinity.
uint16_t toHalf(double value);
uint16_t toBFloat16(double value);
float fromHalf(uint16_t bits);
float fromBFloat16(uint16_t bits);

/// Reads one element of any type as double (integers beyond 2^53 lose bits).
double loadAsDouble(const void *element, DType type);
/// Rounds to the type (nearest even, F8E4B15 as Float8.h says); integers wrap modulo 2^bits, 8-bit
/// floats saturate.
void storeFromDouble(void *element, DType type, double value);

} // namespace nereid
