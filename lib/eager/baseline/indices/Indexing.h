// SPDX-License-Identifier: Apache-2.0
// Eager reads and writes at indices from tensors: one pass over the points, after one over the
// indices that looks whether each lies in its dimension.
#pragma once

#include "lib/definition/Graph.h"
#include "runtime/ThreadPool.h"
#include "runtime/tensor/Tensor.h"

#include <span>

namespace nereid::eager {

/// `out` has the result's shape and type and is written. Values that meet are joined in float32
/// (of float64 in float64) and rounded once; integers wrap. E0629 for an index outside.
Status runIndexing(const definition::Node &node, std::span<const runtime::Tensor> operands,
                   const runtime::Tensor &out, runtime::ThreadPool &pool);

} // namespace nereid::eager
