// SPDX-License-Identifier: Apache-2.0
// On x86-64: one table from LLVM's x86 feature names to CPUID bits (Intel SDM volume 2, CPUID; AMD
// APM volume 3, appendix E) and to the register state the operating system must save (XGETBV).
#include "runtime/core/features/CpuFeatures.h"

#if defined(__x86_64__)

#include <cpuid.h>
#include <cstring>

namespace nereid::runtime {
namespace {

enum Register : uint8_t { Eax, Ebx, Ecx, Edx };
/// Registers beyond SSE that the operating system must save.
enum State : uint8_t { None, Ymm, Zmm, Tile };

struct Row {
  const char *name;
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

/// What the processor has answered: under a hypervisor every CPUID leaves the guest.
class Answers {
public:
  uint32_t find(uint32_t leaf, uint32_t subleaf, Register where) {
    for (int i = 0; i < count; ++i) {
      if (leaves[i].leaf == leaf && leaves[i].subleaf == subleaf) {
        return leaves[i].registers[where];
      }
    }
    Leaf &made = leaves[count < limit ? count++ : limit - 1];
    made = {leaf, subleaf, {}};
    ask(made);
    return made.registers[where];
  }

  bool has(const Row &row) {
    return (find(row.leaf, row.subleaf, row.where) >> row.bit & 1) && savesState(row.state);
  }

private:
  struct Leaf {
    uint32_t leaf, subleaf, registers[4];
  };
  static constexpr int limit = 12;

  void ask(Leaf &leaf) {
    if (__get_cpuid_max(leaf.leaf & 0x80000000, nullptr) < leaf.leaf) {
      return;
    }
    // Leaf 7 tells the number of its subleaves.
    if (leaf.leaf == 7 && leaf.subleaf > 0 && find(7, 0, Eax) < leaf.subleaf) {
      return;
    }
    uint32_t *to = leaf.registers;
    __cpuid_count(leaf.leaf, leaf.subleaf, to[Eax], to[Ebx], to[Ecx], to[Edx]);
  }

  bool savesState(State state) {
    if (state == None) {
      return true;
    }
    constexpr uint32_t osxsave = 1u << 27;
    if (!(find(1, 0, Ecx) & osxsave)) {
      return false;
    }
    uint32_t low, high;
    __asm__ volatile("xgetbv" : "=a"(low), "=d"(high) : "c"(0));
    // XCR0: 1 xmm, 2 ymm, 5 opmask, 6 zmm 0-15, 7 zmm 16-31, 17 and 18 tiles.
    const uint32_t wanted = state == Ymm ? 0x6u : state == Zmm ? 0xE6u : 0x60006u;
    return (low & wanted) == wanted;
  }

  Leaf leaves[limit];
  int count = 0;
};

} // namespace

bool machineHasFeature(const char *name, uint64_t length) {
  for (const Row &row : rows) {
    if (std::strlen(row.name) == length && std::memcmp(row.name, name, length) == 0) {
      return Answers().has(row);
    }
  }
  return false;
}

void visitCpuFeatures(void (*visit)(void *context, const char *name), void *context) {
  Answers answers;
  for (const Row &row : rows) {
    if (answers.has(row)) {
      visit(context, row.name);
    }
  }
}

} // namespace nereid::runtime

#elif !defined(__aarch64__) && !(defined(__riscv) && __riscv_xlen == 64)

namespace nereid::runtime {

bool machineHasFeature(const char *, uint64_t) { return false; }
void visitCpuFeatures(void (*)(void *, const char *), void *) {}

} // namespace nereid::runtime

#endif // AArch64 and RISC-V have a file each
