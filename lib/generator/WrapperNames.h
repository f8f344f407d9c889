// SPDX-License-Identifier: Apache-2.0
// What the Python wrapper and the C++ companions have in common: the order of parameters, the
// variables that hold symbolic sizes.
#pragma once

#include "lib/generator/call/CalledOperator.h"

#include <map>
#include <set>

namespace nereid::generator {

/// Parameters as a caller passes them: tensors in order, then numbers with their defaults.
struct CallParameter {
  std::string name;
  int operand = -1; ///< in CalledOperator::operands; -1: a number
  double value = 0;
  bool isSize = false;
  bool isInteger = false; ///< of a number: its default has no fraction

  /// A size or an integer, not a tensor and not a fraction.
  bool isWhole() const { return operand < 0 && (isSize || isInteger); }
};
std::vector<CallParameter> callParameters(const CalledOperator &called);

/// Assigns variables to symbols in the order in which the tensors reveal them.
class SizeNames {
public:
  explicit SizeNames(const CalledOperator &called);

  struct Step {
    int operand = 0;
    bool isRest = false; ///< the leading dimensions
    int fromEnd = 0;     ///< dimension counted from the end, 1 = last; isRest: how many follow
    std::string variable;
  };
  /// Every symbol once, at the first tensor that has it.
  std::vector<Step> steps;
  /// Those that are arguments of a call, under their own names.
  std::vector<std::string> given;
  std::string variable(const definition::Dim &dim) const;
  /// "(one.n - 1)" of "N - 1", in Python's spelling; quotients are of numbers that are not
  /// negative.
  std::string computed(const std::string &size, const std::string &prefix) const;

private:
  std::map<std::string, std::string> names;
};

/// First line of the definition's summary and its body, for comments.
std::vector<std::string> bodyLines(const definition::Operator &op);

} // namespace nereid::generator
