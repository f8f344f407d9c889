// SPDX-License-Identifier: Apache-2.0
// "{1..4096}" behind an integer's type in a signature: the values for which a specialization of a
// library compiled ahead of time is meant. Both ends belong to it and either may be left out. The
// code is the same without it; the library's launcher chooses by it.
#pragma once

#include "lib/support/Diagnostics.h"
#include "runtime/elements/DType.h"

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace nereid::language {

struct SizeRange {
  std::optional<int64_t> least, most;
  bool isBounded() const { return least || most; }
  std::string text() const; ///< "{1..4096}"; empty without bounds
  bool operator==(const SizeRange &) const = default;
};

/// `text` stands between the braces. E0026 when it is malformed, empty or beyond the type.
Result<SizeRange> readSizeRange(std::string_view text, DType type);

} // namespace nereid::language
