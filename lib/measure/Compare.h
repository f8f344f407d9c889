// SPDX-License-Identifier: Apache-2.0
// Decides whether a result is right: against a float64 (or exact integer) reference, with a
// tolerance that the caller derived from type and reduction length.
#pragma once

#include "runtime/Tensor.h"

#include <cstdint>
#include <string>

namespace nereid::measure {

struct Comparison {
  int64_t elements = 0, mismatches = 0;
  /// Elements that nothing can be said of, as the reference's bounds end there; no mismatches.
  int64_t unverifiable = 0;
  double maxAbsoluteError = 0; ///< over elements finite on both sides
  double maxRelativeError = 0;
  int64_t firstMismatch = -1;      ///< row-major element number
  double actual = 0, expected = 0; ///< of the first mismatch
  bool passed() const { return mismatches == 0; }
  /// "max error 1.2e-7" or "element 17 expects 1.5, but got nan (3 of 1024 differ)".
  std::string text() const;
};

/// Element passes when |actual - expected| <= absolute + relative·|expected|. NaN must meet NaN and
/// an infinity the same infinity; a finite expectation that overflows the result's type may give
/// that infinity. Integer and bool types must be equal. Shapes must be equal (else all mismatch).
Comparison compare(const runtime::Tensor &actual, const runtime::Tensor &reference, double relative,
                   double absolute);

} // namespace nereid::measure
