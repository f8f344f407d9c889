// SPDX-License-Identifier: Apache-2.0
// What comes of comparing results with a reference, however the bounds were found.
#pragma once

#include <cstdint>
#include <string>

namespace nereid::eager {

/// An element that is farther from the reference than it may be.
struct Mismatch {
  int output = -1;    ///< of several outputs
  int64_t index = -1; ///< in row-major order
  double actual = 0, expected = 0, bound = 0;
  std::string actualText, expectedText; ///< of integers, exact; empty of floats
};

struct Comparison {
  int64_t elements = 0; ///< of all outputs
  int64_t mismatches = 0;
  /// Elements where a correct implementation may leave its type's range, so that anything may come
  /// out; they are not among the mismatches.
  int64_t unverifiable = 0;
  double worstRatio = 0;       ///< largest error over its bound; above 1 is a mismatch
  double maxAbsoluteError = 0; ///< of elements finite on both sides
  double maxRelativeError = 0; ///< of those larger than an absolute tolerance, where there is one
  Mismatch first;              ///< of the mismatches

  bool passed() const { return mismatches == 0; }
  double unverifiableShare() const;
  /// Adds what was found in another part of the outputs.
  void merge(const Comparison &part);
  /// "element 17 expects 1.5 ± 1e-7, but got nan (3 of 1024 differ)"; when it passed, the largest
  /// errors.
  std::string text() const;
  /// "60 of 645 elements cannot be verified: …".
  std::string unverifiableText() const;
};

} // namespace nereid::eager
