// SPDX-License-Identifier: Apache-2.0
// On x86-64: one table from LLVM's x86 feature names to CPUID bits (Intel SDM volume 2, CPUID; AMD
// APM volume 3, appendix E) and to the register state the operating system must save (XGETBV).
#include "runtime/cpu/CpuFeatures.h"

#include <algorithm>
#include <array>
#include <cstdint>
#include <map>
#include <utility>

#if defined(__x86_64__)
#include <cpuid.h>
#endif

namespace nereid::runtime {

#if defined(__x86_64__)

namespace {

enum Register { Eax, Ebx, Ecx, Edx };
enum State : uint8_t { None, Ymm, Zmm, Tile };

struct Row {
  std::string_view name;
  uint32_t leaf, subleaf;
  Register where;
  int bit;
  State state;
};

constexpr uint32_t extended1 = 0x80000001, extended8 = 0x80000008;

constexpr Row rows[] = {
    {"64bit", extended1, 0, Edx, 29, None},
    {"adx", 7, 0, Ebx, 19, None},
    {"aes", 1, 0, Ecx, 25, None},
    {"amx-bf16", 7, 0, Edx, 22, Tile},
    {"amx-complex", 7, 1, Edx, 8, Tile},
    {"amx-fp16", 7, 1, Eax, 21, Tile},
    {"amx-int8", 7, 0, Edx, 25, Tile},
    {"amx-tile", 7, 0, Edx, 24, Tile},
    {"avx", 1, 0, Ecx, 28, Ymm},
    {"avx2", 7, 0, Ebx, 5, Ymm},
    {"avx512bf16", 7, 1, Eax, 5, Zmm},
    {"avx512bitalg", 7, 0, Ecx, 12, Zmm},
    {"avx512bw", 7, 0, Ebx, 30, Zmm},
    {"avx512cd", 7, 0, Ebx, 28, Zmm},
    {"avx512dq", 7, 0, Ebx, 17, Zmm},
    {"avx512f", 7, 0, Ebx, 16, Zmm},
    {"avx512fp16", 7, 0, Edx, 23, Zmm},
    {"avx512ifma", 7, 0, Ebx, 21, Zmm},
    {"avx512vbmi", 7, 0, Ecx, 1, Zmm},
    {"avx512vbmi2", 7, 0, Ecx, 6, Zmm},
    {"avx512vl", 7, 0, Ebx, 31, Zmm},
    {"avx512vnni", 7, 0, Ecx, 11, Zmm},
    {"avx512vp2intersect", 7, 0, Edx, 8, Zmm},
    {"avx512vpopcntdq", 7, 0, Ecx, 14, Zmm},
    {"avxifma", 7, 1, Eax, 23, Ymm},
    {"avxneconvert", 7, 1, Edx, 5, Ymm},
    {"avxvnni", 7, 1, Eax, 4, Ymm},
    {"avxvnniint16", 7, 1, Edx, 10, Ymm},
    {"avxvnniint8", 7, 1, Edx, 4, Ymm},
    {"bmi", 7, 0, Ebx, 3, None},
    {"bmi2", 7, 0, Ebx, 8, None},
    {"cldemote", 7, 0, Ecx, 25, None},
    {"clflushopt", 7, 0, Ebx, 23, None},
    {"clwb", 7, 0, Ebx, 24, None},
    {"clzero", extended8, 0, Ebx, 0, None},
    {"cmov", 1, 0, Edx, 15, None},
    {"cmpccxadd", 7, 1, Eax, 7, None},
    {"crc32", 1, 0, Ecx, 20, None},
    {"cx16", 1, 0, Ecx, 13, None},
    {"cx8", 1, 0, Edx, 8, None},
    {"enqcmd", 7, 0, Ecx, 29, None},
    {"f16c", 1, 0, Ecx, 29, Ymm},
    {"fma", 1, 0, Ecx, 12, Ymm},
    {"fma4", extended1, 0, Ecx, 16, Ymm},
    {"fsgsbase", 7, 0, Ebx, 0, None},
    {"fxsr", 1, 0, Edx, 24, None},
    {"gfni", 7, 0, Ecx, 8, None},
    {"hreset", 7, 1, Eax, 22, None},
    {"invpcid", 7, 0, Ebx, 10, None},
    {"lwp", extended1, 0, Ecx, 15, Ymm},
    {"lzcnt", extended1, 0, Ecx, 5, None},
    {"mmx", 1, 0, Edx, 23, None},
    {"movbe", 1, 0, Ecx, 22, None},
    {"movdir64b", 7, 0, Ecx, 28, None},
    {"movdiri", 7, 0, Ecx, 27, None},
    {"mwaitx", extended1, 0, Ecx, 29, None},
    {"pclmul", 1, 0, Ecx, 1, None},
    {"pconfig", 7, 0, Edx, 18, None},
    {"pku", 7, 0, Ecx, 4, None},
    {"popcnt", 1, 0, Ecx, 23, None},
    {"prefetchi", 7, 1, Edx, 14, None},
    {"prfchw", extended1, 0, Ecx, 8, None},
    {"ptwrite", 0x14, 0, Ebx, 4, None},
    {"raoint", 7, 1, Eax, 3, None},
    {"rdpid", 7, 0, Ecx, 22, None},
    {"rdpru", extended8, 0, Ebx, 4, None},
    {"rdrnd", 1, 0, Ecx, 30, None},
    {"rdseed", 7, 0, Ebx, 18, None},
    {"rtm", 7, 0, Ebx, 11, None},
    {"sahf", extended1, 0, Ecx, 0, None},
    {"serialize", 7, 0, Edx, 14, None},
    {"sgx", 7, 0, Ebx, 2, None},
    {"sha", 7, 0, Ebx, 29, None},
    {"sha512", 7, 1, Eax, 0, Ymm},
    {"shstk", 7, 0, Ecx, 7, None},
    {"sm3", 7, 1, Eax, 1, Ymm},
    {"sm4", 7, 1, Eax, 2, Ymm},
    {"sse", 1, 0, Edx, 25, None},
    {"sse2", 1, 0, Edx, 26, None},
    {"sse3", 1, 0, Ecx, 0, None},
    {"sse4.1", 1, 0, Ecx, 19, None},
    {"sse4.2", 1, 0, Ecx, 20, None},
    {"sse4a", extended1, 0, Ecx, 6, None},
    {"ssse3", 1, 0, Ecx, 9, None},
    {"tbm", extended1, 0, Ecx, 21, None},
    {"tsxldtrk", 7, 0, Edx, 16, None},
    {"uintr", 7, 0, Edx, 5, None},
    {"vaes", 7, 0, Ecx, 9, Ymm},
    {"vpclmulqdq", 7, 0, Ecx, 10, Ymm},
    {"waitpkg", 7, 0, Ecx, 5, None},
    {"wbnoinvd", extended8, 0, Ebx, 9, None},
    {"x87", 1, 0, Edx, 0, None},
    {"xop", extended1, 0, Ecx, 11, Ymm},
    {"xsave", 1, 0, Ecx, 26, None},
    {"xsavec", 0xD, 1, Eax, 1, None},
    {"xsaveopt", 0xD, 1, Eax, 0, None},
    {"xsaves", 0xD, 1, Eax, 3, None},
};

using Registers = std::array<uint32_t, 4>;

Registers query(uint32_t leaf, uint32_t subleaf) {
  Registers registers{};
  if (__get_cpuid_max(leaf & 0x80000000, nullptr) < leaf) {
    return registers;
  }
  if (leaf == 7 && subleaf > 0) {
    uint32_t subleaves = 0, b, c, d;
    __cpuid_count(7, 0, subleaves, b, c, d);
    if (subleaves < subleaf) {
      return registers;
    }
  }
  __cpuid_count(leaf, subleaf, registers[0], registers[1], registers[2], registers[3]);
  return registers;
}

bool savesState(State state) {
  if (state == None) {
    return true;
  }
  constexpr uint32_t osxsave = 1u << 27;
  if (!(query(1, 0)[Ecx] & osxsave)) {
    return false;
  }
  uint32_t low, high;
  __asm__("xgetbv" : "=a"(low), "=d"(high) : "c"(0));
  // XCR0: 1 xmm, 2 ymm, 5 opmask, 6 zmm 0-15, 7 zmm 16-31, 17 and 18 tiles.
  const uint32_t wanted = state == Ymm ? 0x6u : state == Zmm ? 0xE6u : 0x60006u;
  return (low & wanted) == wanted;
}

} // namespace

/// Each leaf is asked once: under a hypervisor every CPUID leaves the guest.
std::vector<std::string> detectCpuFeatures() {
  std::map<std::pair<uint32_t, uint32_t>, Registers> leaves;
  bool isSaved[4];
  for (State state : {None, Ymm, Zmm, Tile}) {
    isSaved[state] = savesState(state);
  }
  std::vector<std::string> found;
  for (const Row &row : rows) {
    auto [leaf, isFirst] = leaves.try_emplace({row.leaf, row.subleaf});
    if (isFirst) {
      leaf->second = query(row.leaf, row.subleaf);
    }
    if ((leaf->second[row.where] >> row.bit & 1) && isSaved[row.state]) {
      found.emplace_back(row.name);
    }
  }
  return found;
}

#elif !defined(__aarch64__) && !(defined(__riscv) && __riscv_xlen == 64)

std::vector<std::string> detectCpuFeatures() { return {}; }

#endif // AArch64 and RISC-V have a file each

static const std::vector<std::string> &presentNames() {
  static const std::vector<std::string> names = [] {
    std::vector<std::string> found = detectCpuFeatures();
    std::sort(found.begin(), found.end());
    return found;
  }();
  return names;
}

bool hasCpuFeature(std::string_view name) {
  return std::binary_search(presentNames().begin(), presentNames().end(), name);
}

std::vector<std::string> missingCpuFeatures(std::string_view features) {
  std::vector<std::string> missing;
  while (!features.empty()) {
    const size_t comma = features.find(',');
    const std::string_view entry = features.substr(0, comma);
    features = comma == std::string_view::npos ? "" : features.substr(comma + 1);
    if (entry.size() > 1 && entry[0] == '+' && !hasCpuFeature(entry.substr(1))) {
      missing.emplace_back(entry.substr(1));
    }
  }
  return missing;
}

std::vector<std::string> presentCpuFeatures() { return presentNames(); }

std::string_view cpuArchitecture() {
#if defined(__x86_64__)
  return "x86-64";
#elif defined(__aarch64__)
  return "aarch64";
#elif defined(__riscv) && __riscv_xlen == 64
  return "riscv64";
#else
  return "unknown";
#endif
}

} // namespace nereid::runtime
