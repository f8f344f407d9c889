// SPDX-License-Identifier: Apache-2.0
// Tensors made of sizes and numbers alone, as PyTorch makes them: memory that is filled.
#pragma once

#include "lib/definition/Graph.h"
#include "runtime/ThreadPool.h"
#include "runtime/tensor/Tensor.h"

#include <span>

namespace nereid::eager {

/// See definition/operations/indices/Creation.h; sizes are numbers. `inputs` are the number of a
/// full, and behind it, where the type is the operator's, a tensor of that type.
Result<runtime::Tensor> runCreation(const definition::Node &node,
                                    std::span<const runtime::Tensor> inputs,
                                    runtime::ThreadPool &pool);

} // namespace nereid::eager
