// SPDX-License-Identifier: Apache-2.0
// An operator as what is computed one step after another: operations that are several steps of
// arithmetic (softmax, layer_norm, var, gelu, …) are replaced by those, so that the program that
// judges results in Python knows few of them.
#pragma once

#include "lib/definition/Graph.h"
#include "lib/definition/operations/Promotion.h"

#include <map>
#include <string>
#include <vector>

namespace nereid::generator {

/// One step: a primitive PyTorch name ("add", "exp", "sum", "matmul", …), or a leaf:
///   "input", "scalar"  parameter number `parameter`;   "constant"  `value`;   "size"
///   "count"            how many elements a reduction of its operand combines
/// "squeeze" drops reduced dimensions and computes nothing; "view", "moved", "indexed", "made".
struct StepNode {
  std::string op;
  std::vector<int> inputs;
  std::vector<int64_t> dims; ///< reductions and squeeze: negative, ascending
  bool keepsDims = true;     ///< reductions
  double value = 0;          ///< constant
  int64_t integer = 0;       ///< constant without a fraction
  /// Of numbers: what they make of integers.
  definition::OperandKind kind = definition::OperandKind::Tensor;
  int parameter = -1; ///< input, scalar: number in Operator::parameters
  definition::SymbolicShape shape;
  std::string source;       ///< the definition's expression it comes from
  bool isBoolean = false;   ///< comparisons, logical operations, bool parameters
  std::vector<DType> types; ///< the value's, for each type of the operator
};

struct StepGraph {
  std::vector<StepNode> nodes; ///< topological
  std::vector<int> outputs;
  /// By node: the further arguments of a conv2d, the order of a view, a size as an expression,
  /// of "indexed" the operation and its attributes.
  std::map<int, std::string> arguments;
};
/// E0607 for an operation that has no form as steps.
Result<StepGraph> stepsOf(const definition::Operator &op);

/// True for sum, amax and amin.
bool isReductionName(const std::string &op);

} // namespace nereid::generator
