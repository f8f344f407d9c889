// SPDX-License-Identifier: Apache-2.0
// PyTorch's rules for the type of a result: tensors are promoted among each other, a number changes
// the type only when it is of a higher kind (a fraction makes floats of integers), functions and
// quotients of integers are float32, sums of integers int64. Used by the definition's graph, the
// generator's and each call of eager execution.
#pragma once

#include "lib/definition/operations/Operations.h"

#include <span>

namespace nereid::definition {

/// Tensor; a number: without a fraction, with one (or infinite), or a default that decides nothing.
enum class OperandKind : uint8_t { Tensor, Whole, Fraction, Neutral };

struct TypedOperand {
  DType dtype = DType::F32; ///< of a tensor
  OperandKind kind = OperandKind::Tensor;
};

/// PyTorch's promotion of two tensor types (bool < integers < floats; float16 with bfloat16 gives
/// float32).
DType promote(DType a, DType b);
/// Whether PyTorch has one: it promotes uint16, uint32 and uint64 to floats alone.
bool havePromotion(DType a, DType b);
/// Of tensors with dimensions (together `ranked`) and without: those without decide only where they
/// are of a higher kind, as numbers do.
DType promoteRanked(DType ranked, DType unranked);
/// Whether PyTorch converts the operands to what they are together before it computes.
bool promotesOperands(const Operation &operation);
/// An operand that the type of the result does not depend on.
bool isCondition(const Operation &operation, size_t operand);

/// The type in which the operation computes: that of its operands together. `otherwise`: when no
/// operand is a tensor.
DType computedDtype(const Operation &operation, std::span<const TypedOperand> operands,
                    DType otherwise);
DType resultDtype(const Operation &operation, std::span<const TypedOperand> operands,
                  DType otherwise);

/// Of a Cast: the type that its name says; `own`: the operator's.
DType castDtype(const Operation &operation, DType own);
/// Whether every value of `from` is one of `type`, so that nothing is rounded.
bool holdsAll(DType type, DType from);

/// The same for a node of a graph; `types` are those of earlier nodes.
std::vector<TypedOperand> typedOperands(const Node &node, const std::vector<Node> &nodes,
                                        const std::vector<DType> &types);
/// What a number is, by its attributes; Tensor for any other node.
OperandKind operandKind(const Node &node);

/// Smallest and largest number of an integer type, as its two's complement in 64 bits.
int64_t lowestInteger(DType type);
uint64_t highestInteger(DType type);
bool fitsInteger(int64_t value, DType type);

/// E0608, without a place, when PyTorch has no such operation on these types, or when a kernel
/// could not be exact: the message says what is possible.
Status checkTypes(const Node &node, const std::vector<Node> &nodes, const std::vector<DType> &types,
                  DType operatorType);

} // namespace nereid::definition
