// SPDX-License-Identifier: Apache-2.0
// Operation-by-operation execution, as an eager framework runs a model: every operation is a pass
// of its own over memory with its own result tensor, on all threads, in the operator's type (16-bit
// floats compute in float32 and round once per operation). This is the unfused baseline; in float64
// it is also a reference. Kernels are Eigen packet code, one build per instruction set.
//
//   auto sum = runOperation("add", {{x, bias}}, {}, runtime::defaultPool());
#pragma once

#include "lib/definition/Graph.h"
#include "runtime/ThreadPool.h"
#include "runtime/tensor/Tensor.h"

#include <map>
#include <optional>
#include <span>
#include <vector>

namespace nereid::eager {

using definition::Attribute;
using definition::Operator;

/// One operation of operations.def by name or alias. Inputs broadcast; any strides; a tensor of
/// shape [] is a number and does not decide the type, unless `isTensor` has true for it. Operands
/// with a default may be left out.
/// Attribute "dim" may be one integer or a list, negative or not.
/// E0603 unknown operation, E0604 shapes, E0608 arguments, E0506 no memory for the result.
Result<runtime::Tensor> runOperation(const std::string &op, std::span<const runtime::Tensor> inputs,
                                     const std::map<std::string, Attribute> &attributes,
                                     runtime::ThreadPool &pool,
                                     const std::vector<bool> &isTensor = {});

/// Every node of the graph in order; an intermediate's memory is given back after its last use.
/// Results lie side by side in memory of their own, as a kernel leaves them: views are copied.
/// `inputs`: one tensor per tensor parameter, in order (number parameters take their defaults), or
/// one per parameter with shape [] for the numbers.
Result<std::vector<runtime::Tensor>>
runGraph(const Operator &op, std::span<const runtime::Tensor> inputs, runtime::ThreadPool &pool);

/// Values and indices of a call that returns both (NEREID_PAIR), found at once; nothing when the
/// nodes are not the two of one call on `in`.
std::optional<Result<std::pair<runtime::Tensor, runtime::Tensor>>>
runPair(const definition::Node &values, const definition::Node &indices, const runtime::Tensor &in,
        runtime::ThreadPool &pool);

/// A number as an operand: a float64 tensor of shape [].
runtime::Tensor numberTensor(double value);

/// Results come from a pool that keeps freed blocks for the next operation, as frameworks do.
/// Gives the kept ones back to the system.
void releaseCachedMemory();
/// Bytes in blocks kept for reuse now.
size_t cachedMemoryBytes();

/// "x86-64-v4", "x86-64-v3" or "x86-64-v2": the build of the kernels this machine runs.
std::string_view kernelInstructionSet();

} // namespace nereid::eager
