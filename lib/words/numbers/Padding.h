// SPDX-License-Identifier: Apache-2.0
// How much a text pads at which side, and a definition's padding with that much:
//
//   "pad by 3 on each side"        3 at all sides of the dimensions that the definition pads
//   "pad 2 left and 1 right"       (2, 1, 0, 0)
//   左右各填充3                     (3, 3, 0, 0)
#pragma once

#include "lib/words/numbers/Literals.h"

namespace nereid::words {

/// Nothing where a number has no side, or a side no number.
std::optional<PaddingFact> findPadding(const std::vector<Token> &tokens,
                                       const std::vector<bool> &isOfShape,
                                       const std::optional<AxesFact> &axes);

/// The definition with what the text pads, and what was said of it; itself where it is the same.
/// Nothing of one that pads nothing, or whose dimensions or constraints do not allow it.
std::optional<OtherNumber> withPadding(const Shipped &shipped, const PaddingFact &padding);

/// Whether the definition is a padding by given numbers.
bool isPadding(const Shipped &shipped);

} // namespace nereid::words
