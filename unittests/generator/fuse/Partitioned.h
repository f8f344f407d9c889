// SPDX-License-Identifier: Apache-2.0
// Programs of square matrices behind partition(), as tests of what it cuts off want them.
#pragma once

#include <string>

namespace nereid::generator {

/// Sizes, matrices and iterators; stores follow.
extern const char *const square;

/// The text of the stages after partition(), of which those that were cut off come first. Expects
/// that they are lawful, that a second time changes nothing, and that they compute what the program
/// says. `stores`: of p and q, from x and u, over the iterators i, j, k, l and m.
std::string partitioned(const std::string &stores);

/// How often the part stands in the text.
size_t countOf(const std::string &text, const std::string &part);

} // namespace nereid::generator
