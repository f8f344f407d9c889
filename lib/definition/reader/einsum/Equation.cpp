// SPDX-License-Identifier: Apache-2.0
// The rules are those of torch.einsum; a letter twice in one operand, its diagonal, is refused.
#include "lib/definition/reader/einsum/Equation.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <map>

namespace nereid::definition {
namespace {

constexpr std::string_view formHelp =
    "the form is \"ij,jk->ik\": letters for the dimensions of each operand, behind '->' those of "
    "the result";

struct Part {
  size_t begin, end;
};

std::vector<Part> splitAtCommas(std::string_view text, size_t end) {
  std::vector<Part> parts;
  size_t begin = 0;
  for (size_t at = 0; at <= end; ++at) {
    if (at == end || text[at] == ',') {
      parts.push_back({begin, at});
      begin = at + 1;
    }
  }
  return parts;
}

std::variant<EinsumTerm, EinsumProblem> parseTerm(std::string_view text, Part part, bool isResult) {
  EinsumTerm term;
  for (size_t at = part.begin; at < part.end; ++at) {
    const char one = text[at];
    if (one == ' ') {
      continue;
    }
    if (one == '.') {
      if (text.substr(at, 3) != "..." || at + 3 > part.end || term.ellipsis) {
        return EinsumProblem{at, at + 1,
                             term.ellipsis
                                 ? "'...' may stand once in each operand and in the result"
                                 : "a dot in the equation of 'einsum' expects two more: '...'",
                             std::string(formHelp)};
      }
      term.ellipsis = term.letters.size();
      at += 2;
      continue;
    }
    if (std::isalpha(static_cast<unsigned char>(one)) == 0) {
      const bool isShown = static_cast<unsigned char>(one) > 0x20 && one < 0x7f;
      return EinsumProblem{at, at + 1,
                           fmt::format("the equation of 'einsum' expects letters, ',', '...' and "
                                       "'->', but got {}",
                                       isShown ? fmt::format("'{}'", one) : "another character"),
                           std::string(formHelp)};
    }
    if (term.letters.find(one) != std::string::npos) {
      return EinsumProblem{
          at, at + 1,
          isResult ? fmt::format("the result of 'einsum' has the letter '{}' twice", one)
                   : fmt::format("an operand of 'einsum' has the letter '{}' twice, which would be "
                                 "its diagonal",
                                 one),
          isResult ? std::string(formHelp)
                   : "give the dimensions different letters; diagonals are not available"};
    }
    term.letters += one;
  }
  return term;
}

/// Without "->": what occurs once, capitals first, behind what "..." stands for.
EinsumTerm resultOf(const std::vector<EinsumTerm> &operands) {
  std::map<char, int> count;
  EinsumTerm result;
  for (const EinsumTerm &term : operands) {
    for (char letter : term.letters) {
      ++count[letter];
    }
    if (term.ellipsis) {
      result.ellipsis = 0;
    }
  }
  for (const auto &[letter, times] : count) {
    result.letters += times == 1 ? std::string(1, letter) : "";
  }
  return result;
}

} // namespace

std::variant<EinsumEquation, EinsumProblem> parseEinsum(std::string_view text) {
  const size_t arrow = text.find("->");
  EinsumEquation equation;
  equation.isResultWritten = arrow != std::string_view::npos;
  for (Part part : splitAtCommas(text, std::min(arrow, text.size()))) {
    auto term = parseTerm(text, part, false);
    if (auto *problem = std::get_if<EinsumProblem>(&term)) {
      return *problem;
    }
    equation.operands.push_back(std::get<EinsumTerm>(std::move(term)));
  }
  if (!equation.isResultWritten) {
    equation.result = resultOf(equation.operands);
    return equation;
  }
  auto result = parseTerm(text, {arrow + 2, text.size()}, true);
  if (auto *problem = std::get_if<EinsumProblem>(&result)) {
    return *problem;
  }
  equation.result = std::get<EinsumTerm>(std::move(result));
  for (size_t at = arrow + 2; at < text.size(); ++at) {
    const bool isKnown = std::any_of(
        equation.operands.begin(), equation.operands.end(),
        [&](const EinsumTerm &term) { return term.letters.find(text[at]) != std::string::npos; });
    if (std::isalpha(static_cast<unsigned char>(text[at])) != 0 && !isKnown) {
      return EinsumProblem{
          at, at + 1,
          fmt::format("the result of 'einsum' has the letter '{}', but no operand has", text[at]),
          std::string(formHelp)};
    }
  }
  const bool anyRest =
      std::any_of(equation.operands.begin(), equation.operands.end(),
                  [](const EinsumTerm &term) { return term.ellipsis.has_value(); });
  if (equation.result.ellipsis && !anyRest) {
    return EinsumProblem{arrow + 2, text.size(),
                         "the result of 'einsum' has '...', but no operand has",
                         std::string(formHelp)};
  }
  return equation;
}

} // namespace nereid::definition
