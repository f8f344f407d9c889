// SPDX-License-Identifier: Apache-2.0
// Running error analysis: every value is a pair of the exact result (in double) and a bound on how
// far an implementation that rounds in the given types may be from it. One rule per operation,
// after Higham, Accuracy and Stability of Numerical Algorithms, chapter 3.
#pragma once

#include "lib/definition/operations/Operations.h"
#include "runtime/elements/DType.h"

#include <cmath>
#include <limits>
#include <memory>

namespace nereid::eager {

struct Bounded {
  double value = 0;
  double error = 0; ///< infinity: the implementation may leave its type's range here
};

/// How far two numbers are apart of which an implementation may have either: zeros of two signs by
/// the smallest number, so that neither is expected exactly, and NaN and a number infinitely.
inline double distance(double a, double b) {
  if (a == b) {
    const bool areZeros = std::signbit(a) != std::signbit(b);
    return areZeros ? std::numeric_limits<double>::denorm_min() : 0;
  }
  const bool areBothNaN = std::isnan(a) && std::isnan(b);
  const double away = std::fabs(a - b);
  return areBothNaN ? 0 : std::isnan(away) ? std::numeric_limits<double>::infinity() : away;
}

/// A zero whose sign is open: see distance().
constexpr Bounded eitherZero = {0, std::numeric_limits<double>::denorm_min()};

/// The arithmetic an implementation is allowed: computing in `compute`, and, when it stores every
/// intermediate as an eager framework does, rounding each to `storage`.
struct ErrorModel {
  DType compute = DType::F32;
  DType storage = DType::F32;
  bool storesEachOperation = false;
};

using ScalarFunction = double (*)(double);
struct Function;
struct Formula;

/// A pointwise operation's rule, looked up once for a whole tensor.
struct Rule {
  /// n elements; operand k advances by steps[k] (0 or more elements).
  void (*run)(const Rule &rule, const Bounded *const *operands, const int64_t *steps, Bounded *out,
              int64_t n) = nullptr;
  ScalarFunction function = nullptr;
  const Function *row = nullptr;          ///< of an operation that Functions.cpp has
  std::shared_ptr<const Formula> formula; ///< of one that has its rule from its formula alone
  double slope = 0;                       ///< largest absolute derivative of `function`
  /// What the operand of `function` is never below, whatever was rounded: see isNeverNegative().
  double lowest = -std::numeric_limits<double>::infinity();
  double argumentLoss = 0;  ///< of |x|, lost to cancellation inside the formula
  double argumentFlush = 0; ///< of |x|, lost where a factor of x is below the normal numbers
  double roundings = 0;     ///< of the operation itself, times unit roundoff: relative
  double flushed = 0;       ///< absolute error where a function underflows
  double storageUnit = 0, storageTiny = 0; ///< of the rounding after each operation, if any
  double largest = 0, tiny = 0, unit = 0;
  double lastBit = 0; ///< half of it, of the numbers below the normal ones
  /// A single rounding of float32, which leaves what float32 has as it is: of integers, say.
  bool keepsRepresentable = false;
  bool divides = false;    ///< and so does only by powers of two
  bool keepsExact = false; ///< sums and products of float64 that leave no rest are not rounded
};
Rule makeRule(const definition::Node &node, const definition::Operation &operation,
              const ErrorModel &model);

/// Rounds a sum of `terms` finite products whose value and inherited error are in `sum` and whose
/// magnitudes add up to `magnitudes`. `isLost`: an operand's error is infinite.
Bounded finishProductSum(const Rule &rule, Bounded sum, double magnitudes, int64_t terms,
                         bool isLost, const ErrorModel &model);

/// The error of the one that is chosen, and of the other where that might be the one.
Bounded chosen(const Bounded &which, const Bounded &other);

/// A result that the operation rounds `roundings` times, and the storage once where it does.
Bounded roundedResult(Bounded out, double roundings, bool isLost, const ErrorModel &model);

} // namespace nereid::eager
