// SPDX-License-Identifier: Apache-2.0
// What kind of computation an operator is, from its graph alone.
#pragma once

#include "lib/definition/Graph.h"

#include <string>

namespace nereid::document {

/// "pointwise", "pointwise with broadcasting", "reduction", "normalisation" (a reduction that is
/// spread over its row again), "product", "convolution", "movement"; products and convolutions with
/// what follows them: "product with pointwise epilogue", "product with reduction".
std::string operatorClass(const definition::Operator &op);
/// "5 operations: amax, sub, exp, sum, div".
std::string operationsText(const definition::Operator &op);

} // namespace nereid::document
