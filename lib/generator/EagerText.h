// SPDX-License-Identifier: Apache-2.0
// The definition's body as a Python function of PyTorch's own operations, `_eager`, which the
// wrapper calls for sizes where a mode chose the eager form. See TritonWriter.cpp.
#pragma once

#include "lib/generator/WrapperNames.h"

#include <string>

namespace nereid::generator {

/// The function with its head and two empty lines behind; it takes what the wrapper takes.
std::string eagerFunction(const CalledOperator &called, const SizeNames &names);

/// A line of a body with each function under the module that PyTorch has it in: "gelu(x)" and
/// "torch.gelu(x)" become "F.gelu(x)". Methods, and what `math` has, stay as they are.
std::string withModules(const std::string &line);

} // namespace nereid::generator
