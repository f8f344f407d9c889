// SPDX-License-Identifier: Apache-2.0
// Moves runs of elements between tensors of any type and stride and the type an inner loop computes
// in. Everything passes through buffers that stay in the first-level cache.
#pragma once

#include "lib/eager/kernels/KernelTable.h"
#include "runtime/Tensor.h"

namespace nereid::eager {

/// Elements of one piece of work of an inner loop: three operands and a result fit a 32 KiB cache.
inline constexpr int64_t stageElements = 1024;

/// n elements of `type`, `stride` elements apart (0 = the same one), converted to T.
template <class T> void gather(const void *base, DType type, int64_t stride, T *out, int64_t n);
/// n contiguous elements of `type`; integers wrap, bool is value != 0.
template <class T> void scatter(const T *in, void *base, DType type, int64_t n);

template <class T> inline constexpr DType dtypeFor = sizeof(T) == 4 ? DType::F32 : DType::F64;

inline const char *elementAt(const void *base, DType type, int64_t index) {
  return static_cast<const char *>(base) + index * static_cast<int64_t>(sizeInBytes(type));
}

template <class T> const TypedKernels<T> &kernelsFor();
template <> inline const TypedKernels<float> &kernelsFor<float>() { return kernelTable().f32; }
template <> inline const TypedKernels<double> &kernelsFor<double>() { return kernelTable().f64; }

} // namespace nereid::eager
