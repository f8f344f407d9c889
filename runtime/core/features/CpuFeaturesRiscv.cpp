// SPDX-License-Identifier: Apache-2.0
// On RISC-V Linux 6.4 and later answer hwprobe; earlier ones, and QEMU 7, give a letter for each
// extension in AT_HWCAP at best. The length of V's registers is read from the processor, and V
// counts as missing where that fails.
#include "runtime/core/features/CpuFeatures.h"

#if defined(__riscv) && __riscv_xlen == 64

#include "runtime/core/features/FeatureNames.h"
#include "runtime/core/features/IllegalInstruction.h"

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
  const char *name; ///< LLVM's
  int bit;          ///< of hwprobe's IMA_EXT_0
};

constexpr Row rows[] = {{"f", 0},   {"d", 0},   {"c", 1},   {"v", 2},
                        {"zba", 3}, {"zbb", 4}, {"zbs", 5}, {"zicboz", 6}};

/// What hwprobe says; false on a kernel that has none.
bool askKernel(bool &isBase, uint64_t &bits) {
  Probe probes[] = {{baseBehaviour, 0}, {extensions, 0}};
  const bool isAnswered =
      ::syscall(hwprobeCall, probes, 2, 0, nullptr, 0) == 0 && probes[1].key == extensions;
  isBase = isAnswered && probes[0].key == baseBehaviour && (probes[0].value & 1);
  bits = isAnswered ? probes[1].value : 0;
  return isAnswered;
}

bool hasLetter(char letter) { return ::getauxval(AT_HWCAP) >> (letter - 'a') & 1; }

} // namespace

bool kernelNamesExtensions() {
  bool isBase;
  uint64_t bits;
  return askKernel(isBase, bits);
}

unsigned long vectorBits() {
  static unsigned long bits = ~0ul; // not asked yet; whoever asks gets the same answer
  unsigned long known = __atomic_load_n(&bits, __ATOMIC_RELAXED);
  if (known == ~0ul) {
    unsigned long bytes = 0;
    const auto read = [](void *place) {
      __asm__ volatile("csrr %0, 0xC22" : "=r"(*static_cast<unsigned long *>(place))); // vlenb
    };
    known = isExecuted(read, &bytes) ? 8 * bytes : 0;
    __atomic_store_n(&bits, known, __ATOMIC_RELAXED);
  }
  return known;
}

bool machineHasFeature(const char *name, uint64_t length) {
  if (length == 1 && std::strchr("mafdc", name[0])) {
    return true; // Linux on riscv64 runs on rv64gc at least
  }
  bool isBase;
  uint64_t bits;
  const bool isAnswered = askKernel(isBase, bits);
  const bool hasVectors = (isAnswered ? bits >> 2 & 1 : hasLetter('v')) && vectorBits() != 0;
  if (const unsigned long wanted = bitsIn(name, length, "zvl", "b")) {
    return hasVectors && vectorBits() >= wanted;
  }
  if (isText(name, length, "v")) {
    return hasVectors;
  }
  for (const Row &row : rows) {
    if (isText(name, length, row.name)) {
      return bits >> row.bit & 1;
    }
  }
  return false;
}

void visitCpuFeatures(void (*visit)(void *context, const char *name), void *context) {
  bool isBase;
  uint64_t bits;
  bool hasVectors = false;
  if (askKernel(isBase, bits)) {
    if (isBase) {
      visit(context, "m");
      visit(context, "a");
    }
    hasVectors = (bits >> 2 & 1) && vectorBits() != 0;
    for (const Row &row : rows) {
      const bool isVector = isText("v", 1, row.name);
      if (isVector ? hasVectors : bits >> row.bit & 1) {
        visit(context, row.name);
      }
    }
  } else {
    constexpr const char *letters[] = {"m", "a", "f", "d", "c", "v"};
    hasVectors = hasLetter('v') && vectorBits() != 0;
    for (const char *letter : letters) {
      if (*letter == 'v' ? hasVectors : hasLetter(*letter)) {
        visit(context, letter);
      }
    }
  }
  for (unsigned long length = 128, all = hasVectors ? vectorBits() : 0; length <= all;
       length *= 2) {
    visit(context, BitsName("zvl", length, "b").text);
  }
}

} // namespace nereid::runtime

#endif
