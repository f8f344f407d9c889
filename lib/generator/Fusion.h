// SPDX-License-Identifier: Apache-2.0
// What one fused kernel has to compute, and over which index space: the operator graph with
// composites opened, its iteration space cut into rows and columns, and for every operand how it
// moves through that space. Stands between definition/ and the schedule and source writers.
//
//   broadcast_add   x [..., D], bias [D]            rows = ..., columns = D; bias: Row
//   mask_add        x [B,H,Q,S], mask [B,1,1,S]     rows = B·(H·Q), columns = S; mask: Full, row
//                                                   index divided by H·Q
//   layer_norm      mean over D                     rows = ..., columns = D = the reduced
//   dimensions
#pragma once

#include "lib/definition/operations/Promotion.h"
#include "lib/generator/call/CalledOperator.h"

#include <map>
#include <string>
#include <vector>

namespace nereid::generator {

/// A product of symbolic sizes; empty = 1. "..." stands for the product of what it binds to.
struct SizeProduct {
  std::vector<definition::Dim> dims;
  int64_t evaluate(const definition::Binding &binding) const;
  /// Identifier made of the symbols: "rest_B_4"; "one" when empty.
  std::string identifier() const;
  bool operator==(const SizeProduct &) const = default;
};

/// One operation of the fused kernel: a primitive PyTorch name ("add", "exp", "sum", "where", …;
/// composites such as softmax or var are opened), or a leaf:
///   "input", "scalar"  parameter number `parameter`;   "constant"  `value`
///   "columns"          how many elements a reduction combines
/// "squeeze" drops reduced dimensions and computes nothing.
struct FusedNode {
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
  std::string source; ///< the definition's expression it comes from
  std::string name;   ///< variable name wanted in the source, or ""
  Extent extent = Extent::Scalar;
  bool isReduction = false;
  bool isBoolean = false; ///< comparisons, logical operations, bool parameters
  /// For each type of the operator: the value's type, and the one in which it is computed.
  std::vector<DType> types, computedTypes;
  int level = 0;         ///< reductions that must be finished before: 0, 1, 2, …
  std::vector<int> axes; ///< per dimension its axis of the iteration space; -1 = size 1
};

struct FusedOperator : CalledOperator {
  std::vector<FusedNode> nodes;                     ///< topological
  std::vector<int> outputNodes;                     ///< one per output
  std::vector<SizeProduct> rowGroups, columnGroups; ///< outermost first
  SizeProduct rows, columns;
  bool hasReduction = false;
  bool isFlat = false; ///< nothing broadcasts: one dimension is enough
  int levels = 0;      ///< number of dependent reductions
  /// Values may be integers: sources say every type. Without them all but bools is one type.
  bool hasIntegers = false;

  /// "pointwise", "broadcast" or "row_reduction": the key under which experience is filed.
  std::string kind() const;
};

/// E0607 names the operation that cannot be fused into one kernel, and what can.
Result<FusedOperator> fuse(const definition::Operator &op);

} // namespace nereid::generator
