// SPDX-License-Identifier: Apache-2.0
// First step of fusion: operations that are several steps of arithmetic (softmax, layer_norm, var,
// gelu, …) are replaced by those steps, so that the later steps know few operations.
#pragma once

#include "lib/generator/Fusion.h"

#include <map>

namespace nereid::generator {

struct PrimitiveGraph {
  std::vector<FusedNode> nodes;
  std::vector<int> outputs;
};
/// E0607 for an operation that has no form in the kernel language.
Result<PrimitiveGraph> decompose(const definition::Operator &op);

/// The same of any operator, as what is computed one step after another and not by one kernel.
/// These are left besides: matmul, conv2d, prod, shifts; "view", "indexed", and leaves: "size", and
/// "count": how many elements a reduction of its operand combines.
struct StepGraph : PrimitiveGraph {
  /// By node: the further arguments of a conv2d, the order of a view, a size as an expression,
  /// of "indexed" the operation and its attributes.
  std::map<int, std::string> arguments;
};
Result<StepGraph> stepsOf(const definition::Operator &op);

/// True for sum, amax and amin: what a kernel reduces with.
bool isReductionName(const std::string &op);

} // namespace nereid::generator
