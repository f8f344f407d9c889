// SPDX-License-Identifier: Apache-2.0
// The list in a feature text, and what NEREID_CPU_FEATURES leaves of the machine's.
#include "runtime/aot/CpuFeatures.h"

#include "runtime/core/features/CpuFeatures.h"

#include <cstdlib>
#include <cstring>

namespace nereid::aot {
namespace {

/// What each level of x86-64 adds to the one before, from the second on.
constexpr const char *levels[] = {
    ",cx16,popcnt,sse3,ssse3,sse4.1,sse4.2,",
    ",avx,avx2,bmi,bmi2,f16c,fma,lzcnt,movbe,",
    ",avx512f,avx512bw,avx512cd,avx512dq,avx512vl,",
};

bool isIn(const char *list, const char *name, uint64_t length) {
  for (const char *at = list + 1; *at;) {
    const uint64_t entry = std::strcspn(at, ",");
    if (entry == length && std::memcmp(at, name, length) == 0) {
      return true;
    }
    at += entry + 1;
  }
  return false;
}

/// "x86-64-v3" leaves what the levels up to 3 have.
bool isWithinLevel(const char *restriction, const char *name, uint64_t length) {
  constexpr char prefix[] = "x86-64-v";
  if (std::strncmp(restriction, prefix, sizeof prefix - 1) != 0) {
    return true;
  }
  const int highest = restriction[sizeof prefix - 1] - '0';
  for (int level = 2; level <= highest && level <= 4; ++level) {
    if (isIn(levels[level - 2], name, length)) {
      return true;
    }
  }
  return false;
}

} // namespace

bool isLeftBy(const char *restriction, const char *name, uint64_t length) {
  for (const char *at = restriction; *at;) {
    const uint64_t entry = std::strcspn(at, ",");
    if (at[0] == '-' && entry - 1 == length && std::memcmp(at + 1, name, length) == 0) {
      return false;
    }
    at += entry + (at[entry] == ',');
  }
  if (!isWithinLevel(restriction, name, length)) {
    return false;
  }
  // Every other part of AVX-512 goes with its foundation.
  constexpr char foundation[] = "avx512f";
  const bool isPart = length > 7 && std::memcmp(name, foundation, 6) == 0;
  return !isPart || isLeftBy(restriction, foundation, 7);
}

bool hasCpuFeature(const char *name, uint64_t length) {
  const char *restriction = std::getenv("NEREID_CPU_FEATURES");
  return runtime::machineHasFeature(name, length) &&
         (!restriction || isLeftBy(restriction, name, length));
}

bool hasCpuFeatures(const char *features) {
  for (const char *at = features; *at;) {
    const uint64_t entry = std::strcspn(at, ",");
    if (at[0] == '+' && !hasCpuFeature(at + 1, entry - 1)) {
      return false;
    }
    at += entry + (at[entry] == ',');
  }
  return true;
}

} // namespace nereid::aot
