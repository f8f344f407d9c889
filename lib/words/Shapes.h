// SPDX-License-Identifier: Apache-2.0
// Shapes in the spellings of texts: "[8, 1024]", "(4, 128, 768)", "4x128", "4 × 128", "8 by 16",
// "[B, N, D]", "BxCxHxW", "32 rows of 1024".
#pragma once

#include "lib/words/Tokens.h"

#include <cstdint>
#include <functional>
#include <optional>
#include <set>

namespace nereid::words {

/// Whole number at the token, nothing of another token or beyond 64 bits.
std::optional<int64_t> sizeAt(const std::vector<Token> &tokens, size_t at);
bool isSymbol(const std::vector<Token> &tokens, size_t at, std::string_view text);
/// Whether one of the words stands among the tokens from `first` to `last` and those around them
/// that no `isEnd` parts from them.
bool hasAround(const std::vector<Token> &tokens, size_t first, size_t last,
               const std::set<std::string> &words, const std::function<bool(size_t)> &isEnd);

/// One dimension: a size, or a name.
struct WrittenDim {
  std::string name;
  int64_t size = 0;
};

/// Token behind the shape that begins at `at`, or `at` when none does.
size_t readShape(const std::vector<Token> &tokens, size_t at, std::vector<WrittenDim> &dims);

/// "[0, -3]": what stands between square brackets at `at`, behind which no shape is read though a
/// number comes first; "" otherwise.
std::string noShape(const std::vector<Token> &tokens, size_t at);

} // namespace nereid::words
