// SPDX-License-Identifier: Apache-2.0
// The text of inline assembly, in which "$0" stands for an operand: LLVM ends the process where it
// does not understand it.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace nereid::nvidia {

/// Why the text cannot be printed with so many operands, results included; empty when it can.
std::string problemOfAssembly(std::string_view text, size_t operands);

} // namespace nereid::nvidia
