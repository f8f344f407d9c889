// SPDX-License-Identifier: Apache-2.0
// A definition's constraints as source text of the wrappers: Python assertions, and C++ that throws
// std::invalid_argument. Ranges of a tensor's values are not looked at there: that would be a pass
// over the tensor.
#pragma once

#include "lib/generator/WrapperNames.h"

namespace nereid::generator {

/// Lines without indentation; symbols are bound before them.
std::vector<std::string> pythonConstraints(const FusedOperator &fused, const SizeNames &names);
std::vector<std::string> cppConstraints(const FusedOperator &fused, const SizeNames &names);

} // namespace nereid::generator
