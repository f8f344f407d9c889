// SPDX-License-Identifier: Apache-2.0
// A definition's constraints as source text of the wrappers: Python assertions, and calls of
// nereid::expectThat. Ranges of a tensor's values are not looked at there: that would be a pass
// over the tensor.
#pragma once

#include "lib/generator/WrapperNames.h"

namespace nereid::generator {

/// Lines without indentation; symbols are bound before them.
std::vector<std::string> pythonConstraints(const CalledOperator &called, const SizeNames &names);
/// Statements, indented by `pad`.
std::vector<std::string> cppConstraints(const CalledOperator &called, const SizeNames &names,
                                        const std::string &pad);

} // namespace nereid::generator
