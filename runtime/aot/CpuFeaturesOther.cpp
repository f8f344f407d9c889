// SPDX-License-Identifier: Apache-2.0
// The features of AArch64 (AT_HWCAP and the length of SVE's registers) and RISC-V (hwprobe since
// Linux 6.4, else the letters in AT_HWCAP; vlenb for the length of V's registers).
#include "runtime/aot/CpuFeatures.h"

#include <cstring>

#if defined(__aarch64__) || defined(__riscv)
#include <sys/auxv.h>
#include <sys/prctl.h>
#include <unistd.h>
#endif

namespace nereid::aot {

#if defined(__aarch64__) || defined(__riscv)
namespace {

bool isText(const char *name, uint64_t length, const char *text) {
  return std::strlen(text) == length && std::memcmp(name, text, length) == 0;
}

/// Of "sve512" with prefix "sve"; 0 when the name is of another form.
unsigned long bitsIn(const char *name, uint64_t length, const char *prefix) {
  const uint64_t start = std::strlen(prefix);
  unsigned long bits = 0;
  if (length <= start || std::memcmp(name, prefix, start) != 0) {
    return 0;
  }
  for (uint64_t i = start; i < length && name[i] >= '0' && name[i] <= '9'; ++i) {
    bits = bits * 10 + static_cast<unsigned long>(name[i] - '0');
  }
  return bits;
}

} // namespace
#endif

#if defined(__aarch64__)

bool machineHasFeature(const char *name, uint64_t length) {
  struct Row {
    const char *name;
    unsigned long vector;
    int bit;
  };
  static constexpr Row rows[] = {
      {"fp-armv8", AT_HWCAP, 0}, {"neon", AT_HWCAP, 1},     {"lse", AT_HWCAP, 8},
      {"fullfp16", AT_HWCAP, 9}, {"dotprod", AT_HWCAP, 20}, {"sve", AT_HWCAP, 22},
      {"sve2", AT_HWCAP2, 1},    {"i8mm", AT_HWCAP2, 13},   {"bf16", AT_HWCAP2, 14},
  };
  for (const Row &row : rows) {
    if (isText(name, length, row.name)) {
      return ::getauxval(row.vector) >> row.bit & 1;
    }
  }
  constexpr int getVectorLength = 51; // PR_SVE_GET_VL
  const unsigned long wanted = bitsIn(name, length, "sve");
  const int answer = wanted ? ::prctl(getVectorLength) : -1;
  return answer >= 0 && static_cast<unsigned long>(answer & 0xffff) * 8 >= wanted;
}

#elif defined(__riscv)

namespace {

struct Probe {
  int64_t key;
  uint64_t value;
};

/// Bit 2 is V, 0 F and D, 1 C, as hwprobe's IMA_EXT_0 has them; false on an older kernel.
bool askKernel(uint64_t &extensions) {
  constexpr long hwprobeCall = 258;
  Probe probe{4, 0};
  const bool isAnswered = ::syscall(hwprobeCall, &probe, 1, 0, nullptr, 0) == 0 && probe.key == 4;
  extensions = probe.value;
  return isAnswered;
}

bool hasVectors() {
  uint64_t extensions = 0;
  return askKernel(extensions) ? extensions >> 2 & 1 : ::getauxval(AT_HWCAP) >> ('v' - 'a') & 1;
}

} // namespace

bool machineHasFeature(const char *name, uint64_t length) {
  if (length == 1 && std::strchr("mafdc", name[0])) {
    return true; // Linux on riscv64 runs on rv64gc at least
  }
  const unsigned long wanted = bitsIn(name, length, "zvl");
  if (!isText(name, length, "v") && wanted == 0) {
    return false;
  }
  if (!hasVectors()) {
    return false;
  }
  unsigned long bytes = 0;
  __asm__ volatile("csrr %0, 0xC22" : "=r"(bytes)); // vlenb
  return 8 * bytes >= wanted;
}

#elif !defined(__x86_64__)

bool machineHasFeature(const char *, uint64_t) { return false; }

#endif

} // namespace nereid::aot
