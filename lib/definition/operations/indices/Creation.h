// SPDX-License-Identifier: Apache-2.0
// Tensors that are made of sizes and numbers alone: operations of kind Creation.
//
//   arange   shape, dtype (of integers)   each element's number in row-major order
//   full     shape, dtype                 its operand, a number, everywhere
//
// "shape" is a text over symbols, which may begin with "...", until bindCreation makes it a list of
// integers. "dtype" is a type's name, "operator" (the operator's type) or "default" (PyTorch's
// default type, which who computes in float64 sets to that).
#pragma once

#include "lib/definition/Graph.h"

namespace nereid::definition {

bool isCreation(const Node &node);
/// An arange or full of this shape; "dtype" as above. `full` gets its operand from the caller.
Node creationNode(const std::string &op, const SymbolicShape &shape, const std::string &dtype);
SymbolicShape createdShape(const Node &node);
DType createdDtype(const Node &node, DType operatorType);
/// The attribute "shape" as numbers.
Status bindCreation(Node &node, const Binding &binding);
/// The attribute "dtype" as the name of a type.
void bindCreatedDtype(Node &node, DType operatorType);

} // namespace nereid::definition
