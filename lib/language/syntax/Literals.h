// SPDX-License-Identifier: Apache-2.0
// Values of number and string literals, read from their spelling. The parser calls these when it
// makes a leaf; the signature reader uses them too.
#pragma once

#include "lib/support/Diagnostics.h"

#include <cstdint>
#include <string>
#include <string_view>

namespace nereid::language {

/// An integer literal of any base, below 2^64; E0106 otherwise.
Result<uint64_t> readInteger(std::string_view spelling);

/// A float literal; too large is infinity, as in Python. E0106 when malformed.
Result<double> readFloat(std::string_view spelling);

/// What was wrong in a string's inside and where, in bytes from its beginning.
struct EscapeError {
  size_t begin = 0, end = 0;
  std::string message; // empty: nothing
};

/// Appends the inside of a string literal with its escapes resolved. Unknown escapes keep their
/// backslash, as in Python.
EscapeError appendUnescaped(std::string &out, std::string_view inside, bool isRaw);

/// The value in single quotes, escaped so that reading it gives the value again.
std::string quoteString(std::string_view value);

} // namespace nereid::language
