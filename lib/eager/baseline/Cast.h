// SPDX-License-Identifier: Apache-2.0
// Conversion of a tensor to another type as an eager framework does it, on all threads.
#pragma once

#include "runtime/ThreadPool.h"
#include "runtime/tensor/Tensor.h"

namespace nereid::eager {

/// `out` is contiguous and has the shape of `in`, which has any strides. As PyTorch: floats lose
/// their fraction on the way to integers, float64 goes to the shorter floats by way of float32, and
/// what float8_e4m3fn has no number for becomes NaN.
void runCast(const runtime::Tensor &in, const runtime::Tensor &out, runtime::ThreadPool &pool);

} // namespace nereid::eager
