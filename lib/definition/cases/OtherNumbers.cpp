// SPDX-License-Identifier: Apache-2.0
#include "lib/definition/cases/OtherNumbers.h"

#include "lib/definition/constraints/Constraint.h"

#include <algorithm>
#include <cmath>

namespace nereid::definition {
namespace {

/// Size of what stands for a zero: below that of the other numbers, so that what was above it stays
/// there.
double smallestSize(const Operator &op) {
  double smallest = 0.5;
  for (const Parameter &parameter : op.parameters) {
    const double size = std::fabs(parameter.value);
    smallest = parameter.isScalar && size > 0 ? std::min(smallest, size) : smallest;
  }
  return smallest;
}

double changed(const Parameter &parameter, int turn, double smallest) {
  const double value = parameter.value;
  if (!std::isfinite(value)) {
    return value;
  }
  if (parameter.isInteger) {
    return value + 1 + turn;
  }
  if (value == 0) {
    return turn == 0 ? std::exp2(std::floor(std::log2(smallest))) : -0.3 * smallest;
  }
  if (turn == 0) {
    return std::copysign(std::exp2(1 + std::floor(std::log2(std::fabs(value)))), value);
  }
  // An epsilon says nothing beside ordinary numbers, whatever it is multiplied by.
  constexpr double leastSeen = 0.01;
  return std::fabs(value) < leastSeen ? std::copysign(0.3, value) : 0.7 * value;
}

} // namespace

std::vector<double> otherNumbers(const Operator &op, const Binding &binding, int turn) {
  const double smallest = smallestSize(op);
  std::vector<double> numbers;
  bool isAny = false;
  for (const Parameter &parameter : op.parameters) {
    numbers.push_back(parameter.isScalar ? changed(parameter, turn, smallest) : 0);
    isAny = isAny || parameter.isScalar;
  }
  const bool isAllowed = isAny && checkConstraints(op, binding, std::nullopt, numbers);
  return isAllowed ? numbers : std::vector<double>();
}

Operator withNumbers(const Operator &op, const std::vector<double> &numbers) {
  Operator result = op;
  for (size_t i = 0; i < numbers.size(); ++i) {
    if (result.parameters[i].isScalar) {
      result.parameters[i].value = numbers[i];
    }
  }
  return result;
}

} // namespace nereid::definition
