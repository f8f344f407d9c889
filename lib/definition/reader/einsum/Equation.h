// SPDX-License-Identifier: Apache-2.0
// The equation of torch.einsum, "bik,kj->bij": which letter each dimension of each operand has and
// which of the letters the result keeps. Knows texts alone; reader/BodyEinsum.cpp has the shapes.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

namespace nereid::definition {

/// One operand or the result: letters in order, and perhaps "..." before the letter of that number.
struct EinsumTerm {
  std::string letters;
  std::optional<size_t> ellipsis;
};

struct EinsumEquation {
  std::vector<EinsumTerm> operands;
  EinsumTerm result;
  bool isResultWritten = false; ///< without "->" it has the letters that occur once, in their order
};

/// Where in the text something is wrong, and what.
struct EinsumProblem {
  size_t begin = 0, end = 0;
  std::string message, help;
};

std::variant<EinsumEquation, EinsumProblem> parseEinsum(std::string_view text);

} // namespace nereid::definition
