// SPDX-License-Identifier: Apache-2.0
// Conversions between types as PyTorch defines them: to floats the nearest number, to integers what
// is left without a fraction, from integers to shorter ones their last bits, to bool whether it is
// not 0. What leaves the range of an integer type is open there, and here.
#pragma once

#include "lib/eager/reference/KnownEnds.h"
#include "lib/eager/reference/ReferenceGraph.h"

namespace nereid::eager {

/// The number of a float type next to it, of two equally near the even one. Beyond the largest one
/// an infinity, or NaN where the type has none (float8_e4m3fn).
double nearestOf(DType type, double value);

/// Between the ends of the integer type, whose highest number and one a double has; false of NaN.
bool isWithin(double value, DType type);

/// Values of the type `from` in the type `to`, which are off as far as those at the ends of what
/// the given ones may be, but for what lies beyond their known ends. `holdsMore`: every value of
/// `from` is one of `to`, nothing is rounded.
BoundedTensor castBounded(const BoundedTensor &in, DType from, DType to, bool holdsMore,
                          const Ends &ends);

} // namespace nereid::eager
