// SPDX-License-Identifier: Apache-2.0
// Names of CPU features that end with a number of bits, "sve512" and "zvl256b". Of
// runtime/core/features/CpuFeatures.h alone.
#pragma once

#include <cstdint>
#include <cstdio>
#include <cstring>

namespace nereid::runtime {

inline bool isText(const char *name, uint64_t length, const char *text) {
  return std::strlen(text) == length && std::memcmp(name, text, length) == 0;
}

/// 512 of "sve512" with prefix "sve" and no suffix; 0 when the name is of another form.
inline unsigned long bitsIn(const char *name, uint64_t length, const char *prefix,
                            const char *suffix) {
  const uint64_t start = std::strlen(prefix), end = std::strlen(suffix);
  unsigned long bits = 0;
  if (length <= start + end || std::memcmp(name, prefix, start) != 0 ||
      std::memcmp(name + length - end, suffix, end) != 0) {
    return 0;
  }
  for (uint64_t i = start; i < length - end; ++i) {
    if (name[i] < '0' || name[i] > '9' || bits > 1 << 20) {
      return 0;
    }
    bits = bits * 10 + static_cast<unsigned long>(name[i] - '0');
  }
  return bits;
}

struct BitsName {
  char text[24];
  BitsName(const char *prefix, unsigned long bits, const char *suffix) {
    std::snprintf(text, sizeof text, "%s%lu%s", prefix, bits, suffix);
  }
};

} // namespace nereid::runtime
