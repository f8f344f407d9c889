// SPDX-License-Identifier: Apache-2.0
// Integers of the reference: exact to 64 bits, wrapping as PyTorch's do in their type. Errors come
// from conditions only: a comparison of rounded numbers may have gone the other way.
#pragma once

#include "lib/definition/operations/Operations.h"
#include "lib/eager/reference/ReferenceGraph.h"

namespace nereid::eager {

/// The value in the type's range that equals `value` modulo 2^bits, extended to 64 bits.
uint64_t wrapped(uint64_t value, DType type);

/// Replaces what a pointwise rule without rounding made of the operands by the exact result.
/// `computed`: the integer type of the operation; a comparison's result is a truth value.
/// `isExact`: no operand is off, and no error that `out` has is meant.
void pointwiseIntegers(const definition::Node &node, DType computed,
                       const std::vector<const BoundedTensor *> &operands,
                       const std::vector<bool> &isAbsent, bool isExact, BoundedTensor &out);

/// sum, prod, amax or amin of `in` into `out`, whose errors stay.
void reduceIntegers(const definition::Node &node, DType result, const BoundedTensor &in,
                    BoundedTensor &out);

/// An operand of an operation on floating-point numbers: it is rounded to the type in which
/// PyTorch computes, or to the one of the implementation.
BoundedTensor asNumbers(const BoundedTensor &integers, DType computed, const ErrorModel &model);

} // namespace nereid::eager
