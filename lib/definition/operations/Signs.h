// SPDX-License-Identifier: Apache-2.0
// Python's signs of arithmetic between numbers, and the operations of the table that they stand
// for: + - * / ** // %.
#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace nereid::definition {

/// "add" of "+"; nothing for another sign.
std::optional<std::string> operationOfSign(std::string_view sign);
/// "+" of "add"; nothing for an operation that has no sign.
std::optional<std::string> signOfOperation(std::string_view operation);

} // namespace nereid::definition
