// SPDX-License-Identifier: Apache-2.0
#include "lib/language/signature/SizeRange.h"

#include "lib/language/syntax/Characters.h"

#include <charconv>

namespace nereid::language {

/// Nothing for an empty text; false when it is no integer.
static bool readBound(std::string_view text, std::optional<int64_t> &bound) {
  text = trimmed(text, " ");
  if (text.empty()) {
    return true;
  }
  int64_t value = 0;
  auto [end, failure] = std::from_chars(text.data(), text.data() + text.size(), value);
  bound = value;
  return failure == std::errc() && end == text.data() + text.size();
}

static Diagnostic malformed(std::string message) {
  Diagnostic error = makeError("E0026", std::move(message));
  error.withHelp("write the least and the largest value, such as n=i32{1..4096}; {4097..} has no "
                 "upper end");
  return error;
}

std::string SizeRange::text() const {
  if (!isBounded()) {
    return "";
  }
  auto bound = [](const std::optional<int64_t> &value) {
    return value ? std::to_string(*value) : std::string();
  };
  return "{" + bound(least) + ".." + bound(most) + "}";
}

Result<SizeRange> readSizeRange(std::string_view text, DType type) {
  // A u64 may hold what the launcher's 64-bit integers cannot compare.
  if (!(isSignedInteger(type) || isUnsignedInteger(type)) || type == DType::U64) {
    return malformed("expects an integer other than u64 before a range, but got '" +
                     std::string(kernelName(type)) + "'");
  }
  const std::string quoted = "'{" + std::string(text) + "}'";
  const size_t dots = text.find("..");
  SizeRange range;
  if (dots == std::string_view::npos || !readBound(text.substr(0, dots), range.least) ||
      !readBound(text.substr(dots + 2), range.most) || !range.isBounded()) {
    return malformed("expects a range of integers, but got " + quoted);
  }
  const auto bits = static_cast<unsigned>(8 * sizeInBytes(type));
  const bool isSigned = isSignedInteger(type);
  const int64_t largest = static_cast<int64_t>((uint64_t(1) << (isSigned ? bits - 1 : bits)) - 1);
  const int64_t smallest = isSigned ? -largest - 1 : 0;
  for (const std::optional<int64_t> &bound : {range.least, range.most}) {
    if (bound && (*bound < smallest || *bound > largest)) {
      return malformed("the range " + quoted + " expects values from " + std::to_string(smallest) +
                       " to " + std::to_string(largest) + " for the type '" +
                       std::string(kernelName(type)) + "', but got " + std::to_string(*bound));
    }
  }
  if (range.least && range.most && *range.least > *range.most) {
    return malformed("the range " + quoted + " is empty: " + std::to_string(*range.least) +
                     " is larger than " + std::to_string(*range.most));
  }
  return range;
}

} // namespace nereid::language
