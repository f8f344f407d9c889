// SPDX-License-Identifier: Apache-2.0
// Numbers that stand in a definition's body, and the same definition with another one: the factor
// by which its result is larger ("upsample by a factor of 3"), or what a call's argument is said to
// be ("label smoothing of 0.2"). What the reader of definitions refuses is none.
#pragma once

#include "lib/words/Facts.h"
#include "lib/words/Shipped.h"

#include <optional>

namespace nereid::words {

struct OtherNumber {
  std::string said; ///< "scale_factor 3 instead of 2"
  std::string text; ///< of the definition's file
  definition::Operator op;
};

/// The definition with another body, and with `shape`, where it is not empty, as the line of its
/// results; nothing where the reader refuses it.
std::optional<OtherNumber> withOtherBody(const Shipped &shipped, const std::string &body,
                                         const std::string &said, const std::string &shape);

/// Whether the number is a factor, and results are larger by others.
bool hasOtherFactors(const Shipped &shipped, const LooseNumber &number);
/// Nothing when the body has no place for the number.
std::optional<OtherNumber> withNumber(const Shipped &shipped, const LooseNumber &number);

/// A loss with another reduction, where the result keeps its shape.
std::optional<OtherNumber> withReduction(const Shipped &shipped, const std::string &reduction);

} // namespace nereid::words
