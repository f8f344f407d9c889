// SPDX-License-Identifier: Apache-2.0
// Dimensions that a text names, against those along which a definition works:
//
//   "the last dimension", 最后一维     -1
//   "the last two dimensions"          -2 and -1
//   "dim=1", "axes (1, 2)"             1, or 1 and 2
//   "the whole tensor"                 all
//   "第1维"                            none that can be told: counted from 0, or from 1
//
// "The first dimension" and "columns" are terms of the vocabulary.
#pragma once

#include "lib/words/Tokens.h"

#include <cstdint>
#include <optional>

namespace nereid::words {

struct Shipped;
struct Facts;

struct AxesFact {
  std::vector<int64_t> dims;  ///< ascending; `untold` of what cannot be told
  size_t first = 0, last = 0; ///< tokens
  SourceRange range;
};
inline constexpr int64_t untoldDim = INT64_MAX;
inline constexpr int64_t allDims = INT64_MAX - 1; ///< "the whole tensor", "all elements"

/// The first of a text.
std::optional<AxesFact> findAxes(const std::vector<Token> &tokens);

/// Whether a definition works along what the text names; true of a text that names nothing.
bool hasAxesOf(const Shipped &shipped, const Facts &facts);

} // namespace nereid::words
