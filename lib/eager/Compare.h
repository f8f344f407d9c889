// SPDX-License-Identifier: Apache-2.0
// Decides whether a result is right by one tolerance: against a float64 (or exact integer)
// reference, with a tolerance that the caller derived from type and reduction length.
// Reference.h has a bound for each element instead.
#pragma once

#include "lib/eager/Comparison.h"
#include "runtime/tensor/Tensor.h"

namespace nereid::eager {

/// Element passes when |actual - expected| <= absolute + relative·|expected|. NaN must meet NaN and
/// an infinity the same infinity; a finite expectation that overflows the result's type may give
/// that infinity. Integer and bool types must be equal. Shapes must be equal (else all mismatch).
Comparison compare(const runtime::Tensor &actual, const runtime::Tensor &reference, double relative,
                   double absolute);

} // namespace nereid::eager
