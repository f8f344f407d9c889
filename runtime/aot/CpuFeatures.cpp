// SPDX-License-Identifier: Apache-2.0
// The list in a feature text, NEREID_CPU_FEATURES, and x86-64's own table (Intel SDM volume 2,
// CPUID, and XGETBV for the registers that the operating system saves). An unknown name counts as
// missing: a kernel is rather refused than stopped by an illegal instruction.
#include "runtime/aot/CpuFeatures.h"

#include <cstdlib>
#include <cstring>

#if defined(__x86_64__)
#include <cpuid.h>
#endif

namespace nereid::aot {

#if defined(__x86_64__)
namespace {

enum Register { Eax, Ebx, Ecx, Edx };

struct Row {
  const char *name;
  uint32_t leaf, subleaf;
  Register where;
  uint32_t bit;
  uint32_t state; ///< bits of XCR0: 1 xmm, 2 ymm, 5 opmask, 6 and 7 zmm
  int level;      ///< of x86-64; 9 = none
};

constexpr uint32_t ymm = 0x6, zmm = 0xE6, extended = 0x80000001;

constexpr Row rows[] = {
    {"cx16", 1, 0, Ecx, 13, 0, 2},
    {"popcnt", 1, 0, Ecx, 23, 0, 2},
    {"sse3", 1, 0, Ecx, 0, 0, 2},
    {"ssse3", 1, 0, Ecx, 9, 0, 2},
    {"sse4.1", 1, 0, Ecx, 19, 0, 2},
    {"sse4.2", 1, 0, Ecx, 20, 0, 2},
    {"avx", 1, 0, Ecx, 28, ymm, 3},
    {"avx2", 7, 0, Ebx, 5, ymm, 3},
    {"bmi", 7, 0, Ebx, 3, 0, 3},
    {"bmi2", 7, 0, Ebx, 8, 0, 3},
    {"f16c", 1, 0, Ecx, 29, ymm, 3},
    {"fma", 1, 0, Ecx, 12, ymm, 3},
    {"lzcnt", extended, 0, Ecx, 5, 0, 3},
    {"movbe", 1, 0, Ecx, 22, 0, 3},
    {"avx512f", 7, 0, Ebx, 16, zmm, 4},
    {"avx512bw", 7, 0, Ebx, 30, zmm, 4},
    {"avx512cd", 7, 0, Ebx, 28, zmm, 4},
    {"avx512dq", 7, 0, Ebx, 17, zmm, 4},
    {"avx512vl", 7, 0, Ebx, 31, zmm, 4},
    {"avxvnni", 7, 1, Eax, 4, ymm, 9},
    {"avx512bf16", 7, 1, Eax, 5, zmm, 9},
    {"avx512vnni", 7, 0, Ecx, 11, zmm, 9},
    {"avx512vbmi", 7, 0, Ecx, 1, zmm, 9},
    {"avx512vbmi2", 7, 0, Ecx, 6, zmm, 9},
    {"avx512bitalg", 7, 0, Ecx, 12, zmm, 9},
    {"avx512fp16", 7, 0, Edx, 23, zmm, 9},
    {"avx512ifma", 7, 0, Ebx, 21, zmm, 9},
    {"avx512vpopcntdq", 7, 0, Ecx, 14, zmm, 9},
    {"gfni", 7, 0, Ecx, 8, 0, 9},
    {"avxvnniint8", 7, 1, Edx, 4, ymm, 9},
};

bool isNamed(const Row &row, const char *name, uint64_t length) {
  return std::strlen(row.name) == length && std::memcmp(row.name, name, length) == 0;
}

const Row *findRow(const char *name, uint64_t length) {
  for (const Row &row : rows) {
    if (isNamed(row, name, length)) {
      return &row;
    }
  }
  return nullptr;
}

uint32_t cpuid(uint32_t leaf, uint32_t subleaf, Register where) {
  uint32_t registers[4] = {};
  if (__get_cpuid_max(leaf & 0x80000000, nullptr) < leaf) {
    return 0;
  }
  if (leaf == 7 && subleaf > 0) {
    __cpuid_count(7, 0, registers[Eax], registers[Ebx], registers[Ecx], registers[Edx]);
    if (registers[Eax] < subleaf) {
      return 0;
    }
  }
  __cpuid_count(leaf, subleaf, registers[Eax], registers[Ebx], registers[Ecx], registers[Edx]);
  return registers[where];
}

bool savesState(uint32_t state) {
  if (state == 0) {
    return true;
  }
  constexpr uint32_t osxsave = 1u << 27;
  if (!(cpuid(1, 0, Ecx) & osxsave)) {
    return false;
  }
  uint32_t low, high;
  __asm__("xgetbv" : "=a"(low), "=d"(high) : "c"(0));
  return (low & state) == state;
}

} // namespace

bool machineHasFeature(const char *name, uint64_t length) {
  const Row *row = findRow(name, length);
  return row && (cpuid(row->leaf, row->subleaf, row->where) >> row->bit & 1) &&
         savesState(row->state);
}

/// "x86-64-v3" leaves what the levels up to 3 have.
static bool isWithinLevel(const char *restriction, const char *name, uint64_t length) {
  constexpr char prefix[] = "x86-64-v";
  if (std::strncmp(restriction, prefix, sizeof prefix - 1) != 0) {
    return true;
  }
  const Row *row = findRow(name, length);
  return row && row->level <= restriction[sizeof prefix - 1] - '0';
}

#else

static bool isWithinLevel(const char *, const char *, uint64_t) { return true; }

#endif // AArch64 and RISC-V: CpuFeaturesOther.cpp

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
  return machineHasFeature(name, length) && (!restriction || isLeftBy(restriction, name, length));
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
