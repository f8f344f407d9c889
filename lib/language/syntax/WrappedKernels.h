// SPDX-License-Identifier: Apache-2.0
// `kernel = triton.jit(function)`, `kernel = triton.autotune(…)(function)`: decorators applied by a
// call. Each becomes the definition that the decorator syntax would have given, so that nothing
// after the parser knows that there are two ways to write it.
#pragma once

#include "lib/language/syntax/Ast.h"

namespace nereid::language {

/// Replaces such assignments at the top level, also inside `if`, `try` and `with`, by functions.
void defineWrappedKernels(SourceModule &module);

} // namespace nereid::language
