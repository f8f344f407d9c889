// SPDX-License-Identifier: Apache-2.0
// Moves runs of elements between tensors of any type and stride and the type an inner loop computes
// in. Everything passes through buffers that stay in the first-level cache.
#pragma once

#include "lib/eager/baseline/kernels/KernelTable.h"
#include "runtime/tensor/Tensor.h"

namespace nereid::eager {

/// Elements of one piece of work of an inner loop: three operands and a result fit a 32 KiB cache.
inline constexpr int64_t stageElements = 1024;

/// n elements of `type`, `stride` elements apart (0 = the same one), converted to T.
template <class T> void gather(const void *base, DType type, int64_t stride, T *out, int64_t n);
/// n contiguous elements of `type`; integers wrap, bool is value != 0.
template <class T> void scatter(const T *in, void *base, DType type, int64_t n);

template <class T> inline constexpr DType dtypeFor = DType::F64;
template <> inline constexpr DType dtypeFor<float> = DType::F32;
template <> inline constexpr DType dtypeFor<int8_t> = DType::I8;
template <> inline constexpr DType dtypeFor<int16_t> = DType::I16;
template <> inline constexpr DType dtypeFor<int32_t> = DType::I32;
template <> inline constexpr DType dtypeFor<int64_t> = DType::I64;
template <> inline constexpr DType dtypeFor<uint8_t> = DType::U8;
template <> inline constexpr DType dtypeFor<uint16_t> = DType::U16;
template <> inline constexpr DType dtypeFor<uint32_t> = DType::U32;
template <> inline constexpr DType dtypeFor<uint64_t> = DType::U64;

/// Calls `call` with a number of the integer type's C++ type; bool counts as uint8.
template <class Call> void withInteger(DType type, Call call) {
  switch (type) {
  case DType::I8:
    return call(int8_t{});
  case DType::I16:
    return call(int16_t{});
  case DType::I32:
    return call(int32_t{});
  case DType::U16:
    return call(uint16_t{});
  case DType::U32:
    return call(uint32_t{});
  case DType::U64:
    return call(uint64_t{});
  case DType::I64:
    return call(int64_t{});
  default:
    return call(uint8_t{});
  }
}

inline const char *elementAt(const void *base, DType type, int64_t index) {
  return static_cast<const char *>(base) + index * static_cast<int64_t>(sizeInBytes(type));
}

template <class T> const TypedKernels<T> &kernelsFor();
template <> inline const TypedKernels<float> &kernelsFor<float>() { return kernelTable().f32; }
template <> inline const TypedKernels<double> &kernelsFor<double>() { return kernelTable().f64; }

} // namespace nereid::eager
