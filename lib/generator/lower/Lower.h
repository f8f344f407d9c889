// SPDX-License-Identifier: Apache-2.0
// An operator's graph as index-space program: a stage for the outputs of each shape, whose values
// are everything they depend on. Types become explicit: floats below 32 bits are computed in
// float32, operands are cast to the type in which their operation computes, and a store rounds
// once. Composite pointwise operations are opened by their rows in operations.def, others by
// definition::decomposed.
#pragma once

#include "lib/definition/Graph.h"
#include "lib/generator/program/Program.h"

#include <functional>
#include <map>
#include <string>

namespace nereid::generator {

/// What programs call the product of the leading sizes "...": "rest", or a longer name where a size
/// of the definition has that one.
std::string leadingSymbol(const std::function<bool(const std::string &)> &isSize);

/// Sizes are the symbols of the definition's shapes, leadingSymbol() for "...", each at least 1;
/// tensors lie one element after another. E0607 for an operation that has no lowering yet.
Result<Program> lower(const definition::Operator &op, DType dtype);

/// For the account of what kernels compute, not for their text: every value is called by the number
/// of the operation of definition::decomposed(op) that it is of.
struct ToldProgram {
  Program program;
  std::map<BufferId, std::string> reasons; ///< why a temporary is between two kernels
};
Result<ToldProgram> lowerTold(const definition::Operator &op, DType dtype);

} // namespace nereid::generator
