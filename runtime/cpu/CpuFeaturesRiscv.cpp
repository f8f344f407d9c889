// SPDX-License-Identifier: Apache-2.0
// On RISC-V Linux 6.4 and later answer hwprobe; earlier ones, and QEMU 7, give a letter for each
// extension in AT_HWCAP at best. What none of them says of V is found by trying: reading the length
// of a vector register raises an illegal instruction where there is none.
#include "runtime/cpu/CpuFeatures.h"

#if defined(__riscv) && __riscv_xlen == 64

#include <csetjmp>
#include <csignal>
#include <cstdint>
#include <sys/auxv.h>
#include <unistd.h>

namespace nereid::runtime {
namespace {

struct Probe {
  int64_t key;
  uint64_t value;
};

constexpr long hwprobeCall = 258;
constexpr int64_t baseBehaviour = 3, extensions = 4;

struct Row {
  std::string_view name; ///< LLVM's
  int bit;               ///< of hwprobe's IMA_EXT_0
};

constexpr Row rows[] = {{"f", 0},   {"d", 0},   {"c", 1},   {"v", 2},
                        {"zba", 3}, {"zbb", 4}, {"zbs", 5}, {"zicboz", 6}};

bool askKernel(std::vector<std::string> &found) {
  Probe probes[] = {{baseBehaviour, 0}, {extensions, 0}};
  if (::syscall(hwprobeCall, probes, 2, 0, nullptr, 0) != 0 || probes[1].key != extensions) {
    return false;
  }
  if (probes[0].key == baseBehaviour && (probes[0].value & 1)) {
    found.insert(found.end(), {"m", "a"});
  }
  for (const Row &row : rows) {
    if (probes[1].value >> row.bit & 1) {
      found.emplace_back(row.name);
    }
  }
  return true;
}

sigjmp_buf afterFault;

void leaveFault(int) { siglongjmp(afterFault, 1); }

/// Bits of a vector register; 0 when the instruction does not exist here.
unsigned long vectorBits() {
  struct sigaction own = {}, previous = {};
  own.sa_handler = leaveFault;
  sigemptyset(&own.sa_mask);
  if (::sigaction(SIGILL, &own, &previous) != 0) {
    return 0;
  }
  volatile unsigned long bytes = 0;
  if (sigsetjmp(afterFault, 1) == 0) {
    unsigned long read;
    __asm__ volatile("csrr %0, 0xC22" : "=r"(read)); // vlenb
    bytes = read;
  }
  ::sigaction(SIGILL, &previous, nullptr);
  return 8 * bytes;
}

} // namespace

std::vector<std::string> detectCpuFeatures() {
  std::vector<std::string> found;
  bool hasAnswer = askKernel(found), hasV = false;
  if (!hasAnswer) {
    const unsigned long letters = ::getauxval(AT_HWCAP);
    for (const char *letter : {"m", "a", "f", "d", "c", "v"}) {
      if (letters >> (*letter - 'a') & 1) {
        found.emplace_back(letter);
      }
    }
  }
  for (const std::string &name : found) {
    hasV |= name == "v";
  }
  // A kernel that answers hwprobe and leaves out V is believed.
  const unsigned long bits = hasAnswer && !hasV ? 0 : vectorBits();
  if (bits != 0 && !hasV) {
    found.emplace_back("v");
  }
  for (unsigned long length = 128; length <= bits; length *= 2) {
    found.push_back("zvl" + std::to_string(length) + "b");
  }
  return found;
}

} // namespace nereid::runtime

#endif
