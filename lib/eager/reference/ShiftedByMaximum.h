// SPDX-License-Identifier: Apache-2.0
// Bounds for x - max(x) and what softmax and its kin make of it, which no rule for a single
// operation can give. Where x is exact the difference is never positive, and what falls below the
// type's range is as good for exp as the number itself. Where x is computed, a compiler may
// contract its last product with the difference, which then is above 0 by a rounding of x, but no
// more: however far off x may be, exp stays below a number close to 1, and a share of their sum
// below 1.
#pragma once

#include "lib/definition/Graph.h"
#include "lib/eager/reference/ReferenceGraph.h"

namespace nereid::eager {

/// The node whose maximum `node` subtracts from it, -1 when it is no such difference. The maximum
/// may be replaced by a number where it is not finite.
int shiftedByMaximum(const definition::Operator &graph, const definition::Node &node);

/// Takes back that differences of exact elements below the type's range are lost.
void boundShifted(const BoundedTensor &x, const BoundedTensor &maximum, BoundedTensor &shifted);

/// How far x - max(x) may be above 0, NaN where that is too far to say anything of its exp.
double highestShifted(const BoundedTensor &x, const ErrorModel &model);

/// Of exp(x - max(x)), the logarithm of its sum, and its share of that sum; -1 when `node` is none:
/// the node of x - max(x).
int exponentialOfShifted(const definition::Operator &graph, const definition::Node &node);
int logarithmOfSum(const definition::Operator &graph, const definition::Node &node);
int shareOfSum(const definition::Operator &graph, const definition::Node &node);

/// Narrows the errors of these results; `highest`: see highestShifted().
void boundExponentials(const BoundedTensor &shifted, double highest, const ErrorModel &model,
                       BoundedTensor &exponentials);
void boundLogarithms(const BoundedTensor &sums, double highest, const ErrorModel &model,
                     BoundedTensor &logarithms);
void boundShares(const BoundedTensor &exponentials, const BoundedTensor &sums,
                 const ErrorModel &model, BoundedTensor &shares);

} // namespace nereid::eager
