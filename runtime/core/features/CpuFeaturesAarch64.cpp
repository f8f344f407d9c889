// SPDX-License-Identifier: Apache-2.0
// On AArch64 the kernel says what there is: AT_HWCAP and AT_HWCAP2 of the auxiliary vector (Linux,
// Documentation/arch/arm64/elf_hwcaps.rst) and, for the length of SVE's registers, a prctl.
#include "runtime/core/features/CpuFeatures.h"

#if defined(__aarch64__)

#include "runtime/core/features/FeatureNames.h"

#include <sys/auxv.h>
#include <sys/prctl.h>

namespace nereid::runtime {
namespace {

struct Row {
  const char *name; ///< LLVM's
  unsigned long vector;
  int bit;
};

constexpr Row rows[] = {
    {"fp-armv8", AT_HWCAP, 0}, {"neon", AT_HWCAP, 1},     {"aes", AT_HWCAP, 3},
    {"sha2", AT_HWCAP, 6},     {"crc", AT_HWCAP, 7},      {"lse", AT_HWCAP, 8},
    {"fullfp16", AT_HWCAP, 9}, {"rdm", AT_HWCAP, 12},     {"jsconv", AT_HWCAP, 13},
    {"rcpc", AT_HWCAP, 15},    {"dotprod", AT_HWCAP, 20}, {"sve", AT_HWCAP, 22},
    {"fp16fml", AT_HWCAP, 23}, {"sve2", AT_HWCAP2, 1},    {"i8mm", AT_HWCAP2, 13},
    {"bf16", AT_HWCAP2, 14},
};

/// Of this thread, as the kernel set it up; 0 without SVE.
unsigned long sveBits() {
  constexpr int getVectorLength = 51; // PR_SVE_GET_VL
  const int answer = ::prctl(getVectorLength);
  return answer < 0 ? 0 : static_cast<unsigned long>(answer & 0xffff) * 8;
}

bool has(const Row &row) { return ::getauxval(row.vector) >> row.bit & 1; }

} // namespace

bool machineHasFeature(const char *name, uint64_t length) {
  for (const Row &row : rows) {
    if (isText(name, length, row.name)) {
      return has(row);
    }
  }
  const unsigned long wanted = bitsIn(name, length, "sve", "");
  return wanted != 0 && sveBits() >= wanted;
}

void visitCpuFeatures(void (*visit)(void *context, const char *name), void *context) {
  for (const Row &row : rows) {
    if (has(row)) {
      visit(context, row.name);
    }
  }
  for (unsigned long bits = 256, length = sveBits(); bits <= length; bits *= 2) {
    visit(context, BitsName("sve", bits, "").text);
  }
}

} // namespace nereid::runtime

#endif
