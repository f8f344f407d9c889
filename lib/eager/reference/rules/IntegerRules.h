// SPDX-License-Identifier: Apache-2.0
// Integers of the reference: exact to 64 bits, wrapping as PyTorch's do in their type. Errors come
// from conditions, as a comparison of rounded numbers may have gone the other way, and from rounded
// numbers that were made integers. They are distances around the circle of the type's numbers: 127
// and -128 of int8 are 1 apart. Sums, products and conversions to types of no more bits keep such
// distances; for all others what may be on either side of the ends is open.
#pragma once

#include "lib/definition/operations/Operations.h"
#include "lib/eager/reference/ReferenceGraph.h"

#include <optional>

namespace nereid::eager {

/// The value in the type's range that equals `value` modulo 2^bits, extended to 64 bits.
uint64_t wrapped(uint64_t value, DType type);

/// How many steps lead from one number of the type to the other, around its ends or not.
uint64_t stepsApart(uint64_t a, uint64_t b, DType type);

/// An error so large that every number of the type is within it.
bool isOpen(const Bounded &value, DType type);

/// Whether what the operation makes of operand `k`, of the type `from`, in `to` is the same modulo
/// the numbers of `to` for all numbers that are the same modulo those of `from`.
bool keepsWrapping(const definition::Node &node, size_t k, DType from, DType to);

/// Whether with its error some sum, difference or product, before it wraps, lies beyond the ends of
/// the type. Below 0 only differences do: errors of what counts from 0 go one way.
bool maySpanEnds(const definition::Node &node, const BoundedTensor &results, DType type);

/// Of the type, for an operation that does not keep wrapping: what may lie beyond the type's ends
/// has an infinite error. Nothing where there is no such element.
std::optional<BoundedTensor> withOpenEnds(const BoundedTensor &in, DType type);

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
