// SPDX-License-Identifier: Apache-2.0
// Lays generated C++ out as clang-format does: lists are packed into lines of 100 columns and
// continue below their first item.
#pragma once

#include <string>
#include <vector>

namespace nereid::generator {

/// `head` (with its indentation), the items with `separator` after each but the last, `tail`.
/// Continuation lines start where the first item does, or, when an item does not fit there, four
/// columns into a line of their own. A call that is assigned breaks after the "=" when
/// that takes no more lines.
std::string packed(const std::string &head, const std::vector<std::string> &items,
                   const std::string &tail, const std::string &separator = ",");

/// "// …", broken between words.
std::string commentLines(const std::string &text);

} // namespace nereid::generator
