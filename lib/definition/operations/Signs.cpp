// SPDX-License-Identifier: Apache-2.0
#include "lib/definition/operations/Signs.h"

#include <algorithm>
#include <array>
#include <utility>

namespace nereid::definition {

using Pair = std::pair<std::string_view, std::string_view>;

static constexpr std::array<Pair, 7> signs = {{{"+", "add"},
                                               {"-", "sub"},
                                               {"*", "mul"},
                                               {"/", "div"},
                                               {"**", "pow"},
                                               {"//", "floor_divide"},
                                               {"%", "remainder"}}};

std::optional<std::string> operationOfSign(std::string_view sign) {
  const auto *found = std::find_if(signs.begin(), signs.end(),
                                   [&](const Pair &each) { return each.first == sign; });
  return found == signs.end() ? std::nullopt : std::optional(std::string(found->second));
}

std::optional<std::string> signOfOperation(std::string_view operation) {
  const auto *found = std::find_if(signs.begin(), signs.end(),
                                   [&](const Pair &each) { return each.second == operation; });
  return found == signs.end() ? std::nullopt : std::optional(std::string(found->first));
}

} // namespace nereid::definition
