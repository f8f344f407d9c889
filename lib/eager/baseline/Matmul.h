// SPDX-License-Identifier: Apache-2.0
// Matrix products with PyTorch's rules for vectors and leading dimensions, on all threads.
#pragma once

#include "runtime/ThreadPool.h"
#include "runtime/tensor/Tensor.h"

namespace nereid::eager {

/// `out` is contiguous and has the shape definition::multiply gives; 16-bit floats are multiplied
/// and added in float32 and rounded once. False when there is no memory for converted operands.
bool runMatmul(const runtime::Tensor &a, const runtime::Tensor &b, const runtime::Tensor &out,
               bool inFloat, runtime::ThreadPool &pool);

} // namespace nereid::eager
