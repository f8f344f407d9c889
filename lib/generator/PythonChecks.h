// SPDX-License-Identifier: Apache-2.0
// The checks that a Python function makes of its arguments before it launches anything: asserts and
// conditional raises, its own and those of the functions of its file that it calls.
#pragma once

#include "lib/generator/Interface.h"
#include "lib/language/syntax/Ast.h"

namespace nereid::generator {

/// In order. A check that is made under conditions carries them in its text; one behind a launch or
/// inside of `try` is none.
std::vector<Interface::Part> checksOf(const language::SourceModule &module,
                                      const language::FunctionDef &function);

} // namespace nereid::generator
