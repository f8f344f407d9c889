// SPDX-License-Identifier: Apache-2.0
// Which kernel of a file is meant: the one that is named, or the only one.
#pragma once

#include "lib/language/syntax/Ast.h"
#include "lib/support/Diagnostics.h"

#include <string>
#include <vector>

namespace nereid::language {

/// The name to use among `kernels`, those of the file at `path`; `wanted` is empty where none is
/// named. E0014 when the choice is not one.
Result<std::string> chooseKernelName(const std::string &path,
                                     const std::vector<std::string> &kernels,
                                     const std::string &wanted);

/// The same as a function decorated with triton.jit. `remarks`: see kernelNamed.
Result<const FunctionDef *> chooseKernel(const SourceModule &module, const std::string &wanted,
                                         Diagnostics &remarks);

} // namespace nereid::language
