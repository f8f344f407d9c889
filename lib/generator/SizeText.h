// SPDX-License-Identifier: Apache-2.0
// Numbers made of sizes (definition/operations/SizeExpression.h) in the C++ of companions.
#pragma once

#include "lib/generator/WrapperNames.h"

namespace nereid::generator {

/// A C++ expression of Python's value: int64_t where `node` is whole, double otherwise.
std::string cppSizeNumber(const definition::Node &node, const SizeNames &names);

} // namespace nereid::generator
