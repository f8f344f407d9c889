// SPDX-License-Identifier: Apache-2.0
// The kernel's arithmetic in the accuracy program: one line for each of its operations, which
// carries along how far the operations' roundings may move the result. text/steps.py has the rules.
#pragma once

#include "lib/generator/Generator.h"
#include "lib/generator/WrapperNames.h"

#include <string>

namespace nereid::generator {

/// STEPS, the operations that occur with their roundings, and the function `_steps`.
std::string stepFunctions(const Generation &generation, const SizeNames &names);

} // namespace nereid::generator
