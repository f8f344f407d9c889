// SPDX-License-Identifier: Apache-2.0
// A formula in a text, "relu(x) + sigmoid(x) * tanh(x), fp16": as the definition of exactly that.
// Its functions are those of bodies, by their names; its names are tensors.
#pragma once

#include "lib/words/Shipped.h"

#include <optional>
#include <string_view>

namespace nereid::words {

struct Formula {
  Shipped definition;
  std::string rest; ///< the text without it
};

/// The first formula of two operations or more, one of them a function, that makes a definition:
/// the longest one between commas, line ends and other stops. Softmax and the like are over the
/// last dimension where the formula does not say; a product `a @ b` of two matrices stands once.
/// Nothing where there is none.
std::optional<Formula> formulaIn(std::string_view prose);

/// What stands around it names no operation besides, and excludes nothing. `known`: see findTerms.
bool isWhole(const Formula &formula, const std::set<std::string> &known);

} // namespace nereid::words
