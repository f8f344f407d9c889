// SPDX-License-Identifier: Apache-2.0
// Movements as PyTorch runs them: a slice is a view of the same memory, a padding or concatenation
// a copy.
#pragma once

#include "lib/definition/Graph.h"
#include "runtime/ThreadPool.h"
#include "runtime/tensor/Tensor.h"

#include <span>

namespace nereid::eager {

/// See definition/operations/Movement.h; the node's attributes are numbers.
Result<runtime::Tensor> runMovement(const definition::Node &node,
                                    std::span<const runtime::Tensor> inputs,
                                    runtime::ThreadPool &pool);

} // namespace nereid::eager
