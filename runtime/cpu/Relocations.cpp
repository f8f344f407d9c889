// SPDX-License-Identifier: Apache-2.0
// The architectures by machine number, and x86-64's own (System V psABI, section 4.4).
#include "runtime/cpu/Relocations.h"

#include <climits>
#include <cstring>
#include <elf.h>

namespace nereid::runtime {
namespace {

RelocationForm formOfX86(uint32_t type) {
  using Kind = RelocationForm::Kind;
  switch (type) {
  case R_X86_64_NONE:
    return {Kind::None, 0};
  case R_X86_64_64:
    return {Kind::Absolute, 8};
  case R_X86_64_PC64:
    return {Kind::Relative, 8};
  case R_X86_64_PC32:
  case R_X86_64_PLT32:
    return {Kind::Relative, 4};
  default:
    return {};
  }
}

bool writeX86(uint32_t type, uint8_t *place, uint64_t value) {
  const size_t bytes = formOfX86(type).bytes;
  const auto distance = static_cast<int64_t>(value);
  const bool fits = bytes == 8 || (distance >= INT32_MIN && distance <= INT32_MAX);
  if (bytes == 0 || !fits) {
    return false;
  }
  std::memcpy(place, &value, bytes);
  return true;
}

void writeStubX86(uint8_t *place, uint64_t target) {
  const uint8_t jump[6] = {0xFF, 0x25, 0, 0, 0, 0}; // jmp *0(%rip)
  std::memcpy(place, jump, sizeof jump);
  std::memcpy(place + sizeof jump, &target, sizeof target);
}

} // namespace

const RelocationArchitecture x86Relocations = {
    EM_X86_64, "x86-64", "64, PC32, PLT32 and PC64", 16, false, formOfX86, writeX86, writeStubX86};

const RelocationArchitecture *relocationArchitecture(uint16_t machine) {
  for (const RelocationArchitecture *one :
       {&x86Relocations, &aarch64Relocations, &riscv64Relocations}) {
    if (one->machine == machine) {
      return one;
    }
  }
  return nullptr;
}

const RelocationArchitecture *hostRelocations() {
#if defined(__x86_64__)
  return &x86Relocations;
#elif defined(__aarch64__)
  return &aarch64Relocations;
#elif defined(__riscv) && __riscv_xlen == 64
  return &riscv64Relocations;
#else
  return nullptr;
#endif
}

} // namespace nereid::runtime
