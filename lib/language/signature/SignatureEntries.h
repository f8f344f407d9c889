// SPDX-License-Identifier: Apache-2.0
// A signature's text in pieces: "x=*fp32:16, 4" is an entry by name and one by position.
#pragma once

#include <string_view>
#include <vector>

namespace nereid::language {

struct SignatureEntry {
  std::string_view name, value; // name is empty by position
  size_t begin = 0, end = 0;    // in the signature's text
};

/// Cuts at the commas and equal signs outside strings and brackets.
std::vector<SignatureEntry> splitSignature(std::string_view text);

} // namespace nereid::language
