// SPDX-License-Identifier: Apache-2.0
// Elements of any strides side by side, on all threads.
#pragma once

#include "runtime/ThreadPool.h"
#include "runtime/tensor/Tensor.h"

namespace nereid::eager {

/// `out` is contiguous and has the shape and type of `in`.
void runCopy(const runtime::Tensor &in, const runtime::Tensor &out, runtime::ThreadPool &pool);

} // namespace nereid::eager
