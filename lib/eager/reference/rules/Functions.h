// SPDX-License-Identifier: Apache-2.0
// The operations of operations.def that the reference takes from one table: the exact value of
// each, computed by itself in float64, and what its roundings are measured by. They know nothing of
// the formulas that kernels compute.
#pragma once

#include "lib/definition/Graph.h"

namespace nereid::eager {

struct Function {
  /// Of the operands, in order.
  double (*value)(const double *x) = nullptr;
  /// The largest intermediate that an implementation adds or takes off, so that what it rounds
  /// there stays in the result; null: the result itself.
  double (*scale)(const double *x) = nullptr;
  /// A product that may be below the normal numbers, and what it is multiplied by afterwards.
  double (*fragile)(const double *x) = nullptr;
  double (*multiplied)(const double *x) = nullptr;
  /// The largest intermediate: beyond the range of the type nothing is promised.
  double (*largest)(const double *x) = nullptr;
  /// How far an operand may be off, for the values at the ends to say how far the result is: of
  /// what comes back again and again.
  double (*reach)(const double *x, size_t operand) = nullptr;
};

/// The row of a node by name and attributes; null when it has none.
const Function *functionOf(const definition::Node &node);

} // namespace nereid::eager
