// SPDX-License-Identifier: Apache-2.0
// The one place where kernels become text: precedences, parentheses, line breaks.
#pragma once

#include "lib/generator/kernel/Tree.h"

namespace nereid::generator::kernel {

/// Where a line is broken, in columns, if it can be.
constexpr size_t lineLimit = 96;

/// On one line, with the parentheses that Python needs, and around quotients and remainders inside
/// of products, which a reader would have to think about.
std::string text(const Expr &x);

/// A `@triton.jit` function. A call that is too long for its line is broken inside of its
/// parentheses.
std::string text(const Kernel &kernel);

} // namespace nereid::generator::kernel
