// SPDX-License-Identifier: Apache-2.0
// Rounding constants of the types and the error model that tolerances follow from. The static
// tolerance (toleranceFor, Graph.h) bounds an operator on inputs of ordinary size; eager/ carries
// the same model along with the data for a bound per element.
#pragma once

#include "runtime/elements/DType.h"

#include <cstdint>

namespace nereid::definition {

/// Half the distance from 1 to the next number: the relative error of one rounding. 0 for integers.
double unitRoundoff(DType type);
double largestFinite(DType type);
double smallestNormal(DType type);
/// Type in which implementations compute on `storage`: float32 for 16-bit floats.
DType computeType(DType storage);

/// Rounding errors a sum of n terms may collect, in unit roundoffs of the sum of magnitudes:
/// n - 1 in the worst case; 6 sqrt(n) holds for any order of summation with probability above
/// 1 - 1e-7 when roundings are independent of mean zero (Higham and Mary, A New Approach to
/// Probabilistic Rounding Error Analysis, SIAM J. Sci. Comput. 41, 2019). The smaller of the two.
double summationSteps(int64_t terms);

} // namespace nereid::definition
