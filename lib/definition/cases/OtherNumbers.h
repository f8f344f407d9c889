// SPDX-License-Identifier: Apache-2.0
// Number parameters that are not the definition's defaults: a kernel that has these built in is
// right for nobody else.
#pragma once

#include "lib/definition/Graph.h"

#include <vector>

namespace nereid::definition {

/// So many sets of numbers are tried.
constexpr int otherNumbersTurns = 2;

/// One for each parameter, of tensors 0. In the first turn powers of two, so that quotients by them
/// are exact and fall half-way between whole numbers; in the second one fractions of the defaults,
/// and 0.3 for what is too small to be seen. Signs stay. Empty where there are no numbers, or
/// constraints leave none.
std::vector<double> otherNumbers(const Operator &op, const Binding &binding, int turn);

/// Size inputs as they are in a case, among numbers that are otherwise the defaults.
void giveSizes(const Operator &op, const Binding &binding, std::vector<double> &numbers);

/// The operator with these sizes as the defaults of its size inputs.
Operator withSizeInputs(const Operator &op, const Binding &binding);

/// The operator with them as its defaults.
Operator withNumbers(const Operator &op, const std::vector<double> &numbers);

} // namespace nereid::definition
