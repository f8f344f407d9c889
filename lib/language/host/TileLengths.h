// SPDX-License-Identifier: Apache-2.0
// Which constants of a kernel are lengths of its tiles: what a search over block sizes varies.
#pragma once

#include "lib/language/syntax/Ast.h"

#include <string>
#include <vector>

namespace nereid::language {

/// The constexpr parameters that stand in the bounds of a `tl.arange`, in the shape of a `tl.zeros`
/// or `tl.full`, or in a `block_shape`; in the order of the parameters. The kernel's own statements
/// are read, not the functions that it calls.
std::vector<std::string> tileLengths(const FunctionDef &kernel);

/// A `for` or `while` stands somewhere in the kernel: there are iterations to overlap.
bool hasLoop(const FunctionDef &kernel);

} // namespace nereid::language
