// SPDX-License-Identifier: Apache-2.0
// Numbers of a text that are no shape, length, rank or speed: what they are in a definition.
//
//   "leaky relu with slope 0.2"       the default of its number input 'negative_slope'
//   "polygamma of order 2"            the definition's own 2
//   "upsample by a factor of 3"       a number of its body that is another one, Literals.h
//   "add 5 to every element"          nothing: a sum of two tensors has no number
#pragma once

#include "lib/words/Shipped.h"
#include "lib/words/numbers/Literals.h"

#include <map>

namespace nereid::words {

struct NumbersOf {
  std::map<std::string, std::string> inputs; ///< number inputs and what the text gives them
  std::vector<LooseNumber> open;             ///< that have no place
  std::optional<OtherNumber> other;          ///< the definition with a number of its body replaced
};

NumbersOf numbersOf(const Shipped &shipped, const Facts &facts);
/// Whether a definition is what the text says with its numbers, but for those of names ("as in
/// Gemma 2"). A document has others beside them.
bool hasNumbersOf(const Shipped &shipped, const Facts &facts);

} // namespace nereid::words
