// SPDX-License-Identifier: Apache-2.0
#include "lib/eager/Comparison.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <utility>

namespace nereid::eager {

// Neumaier's way: what an addition rounds away is added up beside the sum.
void ErrorSum::add(double error) {
  const double next = sum + error;
  lost += std::fabs(sum) >= std::fabs(error) ? (sum - next) + error : (error - next) + sum;
  sum = next;
}

void ErrorSum::add(const ErrorSum &other) {
  add(other.sum);
  lost += other.lost;
}

double ErrorSum::value() const { return std::isfinite(sum) ? sum + lost : sum; }

double Comparison::unverifiableShare() const {
  return static_cast<double>(unverifiable) / static_cast<double>(std::max<int64_t>(1, elements));
}

void Comparison::addError(double error) {
  ++finiteElements;
  errors.add(error);
  maxAbsoluteError = std::max(maxAbsoluteError, error);
}

double Comparison::meanAbsoluteError() const {
  return finiteElements == 0 ? 0 : errors.value() / static_cast<double>(finiteElements);
}

void Comparison::merge(const Comparison &part) {
  const bool isEarlier = mismatches == 0 || std::pair(part.first.output, part.first.index) <
                                                std::pair(first.output, first.index);
  if (part.mismatches > 0 && isEarlier) {
    first = part.first;
  }
  elements += part.elements;
  mismatches += part.mismatches;
  unverifiable += part.unverifiable;
  worstRatio = std::max(worstRatio, part.worstRatio);
  finiteElements += part.finiteElements;
  errors.add(part.errors);
  maxAbsoluteError = std::max(maxAbsoluteError, part.maxAbsoluteError);
  maxRelativeError = std::max(maxRelativeError, part.maxRelativeError);
}

std::string Comparison::text() const {
  if (passed()) {
    return fmt::format("max error {:.3g} absolute, {:.3g} relative, mean {:.3g}", maxAbsoluteError,
                       maxRelativeError, meanAbsoluteError());
  }
  const std::string where = first.output > 0
                                ? fmt::format("{} of output {}", first.index, first.output)
                                : std::to_string(first.index);
  const bool isInteger = !first.actualText.empty();
  // The sign of a NaN says nothing.
  const double number = std::isnan(first.actual) ? NAN : first.actual;
  const std::string bound =
      isInteger && first.bound == 0 ? "" : fmt::format(" ± {:.3g}", first.bound);
  const std::string errorText =
      maxAbsoluteError > 0
          ? fmt::format("; max error {:.3g}, mean {:.3g}", maxAbsoluteError, meanAbsoluteError())
          : "";
  return fmt::format("element {} expects {}{}, but got {} ({} of {} differ{})", where,
                     isInteger ? first.expectedText : fmt::format("{:.9g}", first.expected), bound,
                     isInteger ? first.actualText : fmt::format("{:.9g}", number), mismatches,
                     elements, errorText);
}

std::string Comparison::unverifiableText() const {
  return fmt::format("{} of {} elements cannot be verified: a right kernel may leave the range of "
                     "its type there",
                     unverifiable, elements);
}

} // namespace nereid::eager
