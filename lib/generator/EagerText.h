// SPDX-License-Identifier: Apache-2.0
// The definition's body as a Python function of PyTorch's own operations, `_eager`, which the
// wrapper calls for sizes where a mode chose the eager form. See programs/ProgramTriton.cpp.
#pragma once

#include "lib/generator/WrapperNames.h"

#include <string>
#include <string_view>
#include <vector>

namespace nereid::generator {

/// "F.gelu(x)" becomes "_gelu(x)" for the call "F.gelu" and the name "_gelu"; tells whether there
/// is one.
bool replaceCall(std::string &line, std::string_view call, std::string_view name);
/// What calls of the body need beside it: a function, or nothing.
std::string eagerHelpers(const CalledOperator &called);
/// The body's lines, sizes that it names bound before them.
std::vector<std::string> eagerBody(const CalledOperator &called);
/// "out.to(x.dtype)": what the body's results are returned as.
std::vector<std::string> eagerResults(const CalledOperator &called);

/// The function with its head and two empty lines behind; it takes what the wrapper takes.
std::string eagerFunction(const CalledOperator &called);

/// A line of a body with each function under the module that PyTorch has it in: "gelu(x)" and
/// "torch.gelu(x)" become "F.gelu(x)". Methods, and what `math` has, stay as they are.
std::string withModules(const std::string &line);
/// A file whose sizes may have the name "F": "F.gelu(x)" becomes "torch.nn.functional.gelu(x)".
std::string withWholeModules(std::string file);

} // namespace nereid::generator
