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

/// A sum in twice the precision of its parts, so that the order in which threads add them does not
/// show in what is told of it.
class ErrorSum {
public:
  void add(double error);
  void add(const ErrorSum &other);
  double value() const; ///< infinite beyond the largest number

private:
  double sum = 0, lost = 0;
};

struct Comparison {
  int64_t elements = 0; ///< of all outputs
  int64_t mismatches = 0;
  /// Elements where a correct implementation may leave its type's range, so that anything may come
  /// out; they are not among the mismatches.
  int64_t unverifiable = 0;
  double worstRatio = 0;       ///< largest error over its bound; above 1 is a mismatch
  double maxAbsoluteError = 0; ///< of elements finite on both sides
  int64_t finiteElements = 0;  ///< on both sides, and verifiable
  ErrorSum errors;             ///< of them
  double maxRelativeError = 0; ///< of those larger than an absolute tolerance, where there is one
  Mismatch first;              ///< of the mismatches

  bool passed() const { return mismatches == 0; }
  double unverifiableShare() const;
  /// One more element that is finite on both sides.
  void addError(double error);
  /// Over the same elements as the largest one; 0 without any.
  double meanAbsoluteError() const;
  /// Adds what was found in another part of the outputs.
  void merge(const Comparison &part);
  /// "element 17 expects 1.5 ± 1e-7, but got 1.75 (3 of 1024 differ; max error 0.25, mean 0.001)",
  /// of all finite elements, whose errors are left out when they have none; when it passed, the
  /// errors alone.
  std::string text() const;
  /// "60 of 645 elements cannot be verified: …".
  std::string unverifiableText() const;
};

} // namespace nereid::eager
