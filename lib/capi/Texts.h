// SPDX-License-Identifier: Apache-2.0
// Texts that come through the C interface: what they must not be, before anything reads them.
#pragma once

#include <cstddef>
#include <string>

namespace nereid::capi {

/// Longest name of a function, operation, type or target, and longest path.
inline constexpr size_t longestName = 4096;
/// Longest signature and longest list of attributes.
inline constexpr size_t longestList = size_t{1} << 20;

/// Why `text`, which the message calls `what`, is refused: null, longer than `limit` bytes, or not
/// UTF-8; "" when it is none of these.
std::string problemOfText(const char *what, const char *text, size_t limit);
/// The same for a text that may be left out.
std::string problemOfOptionalText(const char *what, const char *text, size_t limit);

} // namespace nereid::capi
