// SPDX-License-Identifier: Apache-2.0
// Tensors whose memory is kept for the next one of the same size, the way a framework's caching
// allocator does it: without it every large result would pay for fresh pages of the system, and the
// baseline would be slower than what it stands for.
#pragma once

#include "runtime/tensor/Tensor.h"

namespace nereid::eager {

/// Uninitialised and contiguous; invalid when the memory cannot be had.
runtime::Tensor allocateTensor(std::vector<int64_t> shape, DType dtype);

} // namespace nereid::eager
