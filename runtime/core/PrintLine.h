// SPDX-License-Identifier: Apache-2.0
// The line of one element that a kernel prints, in upstream's form, which tools read:
//   pid (0, 0, 0) idx ( 3, 12) x: 5
// The interpreter, the launcher and libraries compiled ahead of time all write it here. C only, as
// the runtime of compiled libraries has no C++ library.
#pragma once

#include <cinttypes>
#include <cstdio>
#include <cstdlib>
#include <cstring>

namespace nereid::runtime {

/// Writes the line without its end. `description` is "FORM;SIZES;PREFIX": SIZES are those of the
/// tile, "4,32", none for a scalar; `index` counts its elements in row-major order. FORM says what
/// `bits` are: i signed, u unsigned, p an address, f a double, x4 a number of four hexadecimal
/// digits, or - when only the text is printed.
inline void formatPrintLine(char *line, size_t capacity, const char *description, const int32_t *id,
                            int64_t index, int64_t bits) {
  const char *sizes = std::strchr(description, ';') + 1;
  const char *prefix = std::strchr(sizes, ';') + 1;
  size_t used = 0;
  auto advance = [&](int written) {
    used = used + static_cast<size_t>(written) < capacity ? used + static_cast<size_t>(written)
                                                          : capacity - 1;
  };
  advance(std::snprintf(line, capacity, "pid (%" PRId32 ", %" PRId32 ", %" PRId32 ")", id[0], id[1],
                        id[2]));
  if (*description == '-') {
    advance(std::snprintf(line + used, capacity - used, "%s", prefix));
    return;
  }
  advance(std::snprintf(line + used, capacity - used, " idx ("));
  for (const char *at = sizes; at < prefix - 1;) {
    char *end = nullptr;
    const int64_t size = std::strtoll(at, &end, 10);
    int64_t inner = 1; // elements between two indices of this dimension
    for (const char *next = end; *next == ',';) {
      char *nextEnd = nullptr;
      inner *= std::strtoll(next + 1, &nextEnd, 10);
      next = nextEnd;
    }
    int width = 0; // of the largest index
    for (int64_t reach = 1; reach < size; reach *= 10) {
      ++width;
    }
    advance(std::snprintf(line + used, capacity - used, "%s%*" PRId64, at == sizes ? "" : ", ",
                          width, index / inner % size));
    at = *end == ',' ? end + 1 : end;
  }
  advance(std::snprintf(line + used, capacity - used, ")%s", prefix));
  switch (*description) {
  case 'f': {
    double value = 0;
    std::memcpy(&value, &bits, sizeof value);
    std::snprintf(line + used, capacity - used, "%f", value);
    break;
  }
  case 'u':
    std::snprintf(line + used, capacity - used, "%" PRIu64, static_cast<uint64_t>(bits));
    break;
  case 'p':
    std::snprintf(line + used, capacity - used, "0x%" PRIx64, static_cast<uint64_t>(bits));
    break;
  case 'x': {
    const int digits = std::atoi(description + 1);
    const uint64_t mask = digits >= 16 ? ~uint64_t(0) : (uint64_t(1) << (4 * digits)) - 1;
    std::snprintf(line + used, capacity - used, "0x%0*" PRIx64, digits,
                  static_cast<uint64_t>(bits) & mask);
    break;
  }
  default:
    std::snprintf(line + used, capacity - used, "%" PRId64, bits);
  }
}

} // namespace nereid::runtime
