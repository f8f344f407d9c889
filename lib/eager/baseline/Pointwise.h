// SPDX-License-Identifier: Apache-2.0
// One pointwise operation over broadcast operands of any stride, on all threads.
#pragma once

#include "lib/definition/Graph.h"
#include "runtime/ThreadPool.h"
#include "runtime/tensor/Tensor.h"

#include <span>

namespace nereid::eager {

/// `out` is contiguous and has the broadcast shape; computes in float when `inFloat`, else double.
void runPointwise(const definition::Node &node, std::span<const runtime::Tensor> inputs,
                  const runtime::Tensor &out, bool inFloat, runtime::ThreadPool &pool);

/// The same in an integer type; bool results are 0 and 1.
void runIntegers(const definition::Node &node, std::span<const runtime::Tensor> inputs,
                 const runtime::Tensor &out, DType computed, runtime::ThreadPool &pool);

} // namespace nereid::eager
