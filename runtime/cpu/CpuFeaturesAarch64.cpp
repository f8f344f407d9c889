// SPDX-License-Identifier: Apache-2.0
// On AArch64 the kernel says what there is: AT_HWCAP and AT_HWCAP2 of the auxiliary vector (Linux,
// Documentation/arch/arm64/elf_hwcaps.rst) and, for the length of SVE's registers, a prctl.
#include "runtime/cpu/CpuFeatures.h"

#if defined(__aarch64__)

#include <cstdint>
#include <sys/auxv.h>
#include <sys/prctl.h>

namespace nereid::runtime {
namespace {

struct Row {
  std::string_view name; ///< LLVM's
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
int sveBits() {
  constexpr int getVectorLength = 51; // PR_SVE_GET_VL
  const int answer = ::prctl(getVectorLength);
  return answer < 0 ? 0 : (answer & 0xffff) * 8;
}

} // namespace

std::vector<std::string> detectCpuFeatures() {
  std::vector<std::string> found;
  for (const Row &row : rows) {
    if (::getauxval(row.vector) >> row.bit & 1) {
      found.emplace_back(row.name);
    }
  }
  for (int bits = 256, length = sveBits(); bits <= length; bits *= 2) {
    found.push_back("sve" + std::to_string(bits));
  }
  return found;
}

} // namespace nereid::runtime

#endif
