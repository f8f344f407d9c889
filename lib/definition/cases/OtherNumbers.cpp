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
    smallest =
        parameter.isScalar && !parameter.isSize() && size > 0 ? std::min(smallest, size) : smallest;
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
    const bool isNumber = parameter.isScalar && !parameter.isSize();
    numbers.push_back(isNumber ? changed(parameter, turn, smallest) : 0);
    isAny = isAny || isNumber;
  }
  giveSizes(op, binding, numbers);
  const bool isAllowed = isAny && checkConstraints(op, binding, std::nullopt, numbers);
  return isAllowed ? numbers : std::vector<double>();
}

void giveSizes(const Operator &op, const Binding &binding, std::vector<double> &numbers) {
  for (size_t i = 0; i < op.parameters.size(); ++i) {
    const Parameter &parameter = op.parameters[i];
    auto found = binding.symbols.find(parameter.name);
    if (!parameter.isSize() || found == binding.symbols.end()) {
      continue;
    }
    for (size_t k = numbers.size(); k < op.parameters.size(); ++k) {
      numbers.push_back(op.parameters[k].value);
    }
    numbers[i] = static_cast<double>(found->second);
  }
}

Operator withSizeInputs(const Operator &op, const Binding &binding) {
  std::vector<double> numbers;
  giveSizes(op, binding, numbers);
  return withNumbers(op, numbers);
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
