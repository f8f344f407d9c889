// SPDX-License-Identifier: Apache-2.0
// RISC-V ELF psABI, section "Relocations": what code without linker relaxation uses. An address
// takes two instructions; the second one's relocation names the first, whose distance both share.
// The difference of two labels, as in a table of branches, takes an addition and a subtraction.
#include "runtime/cpu/Relocations.h"

#include <climits>
#include <cstring>
#include <elf.h>

namespace nereid::runtime {
namespace {

using Kind = RelocationForm::Kind;

RelocationForm formOf(uint32_t type) {
  switch (type) {
  case R_RISCV_NONE:
    return {Kind::None, 0};
  case R_RISCV_64:
  case R_RISCV_ADD64:
  case R_RISCV_SUB64:
    return {Kind::Absolute, 8};
  case R_RISCV_ADD32:
  case R_RISCV_SUB32:
    return {Kind::Absolute, 4};
  case R_RISCV_32_PCREL:
  case R_RISCV_PCREL_HI20:
    return {Kind::Relative, 4};
  case R_RISCV_CALL:
  case R_RISCV_CALL_PLT:
    return {Kind::Relative, 8};
  case R_RISCV_PCREL_LO12_I:
  case R_RISCV_PCREL_LO12_S:
    return {Kind::LowPart, 4};
  default:
    return {};
  }
}

template <class T> T read(const uint8_t *place) {
  T value;
  std::memcpy(&value, place, sizeof value);
  return value;
}

/// Wraps around, so that a subtraction behind it gives a distance.
template <class T> void add(uint8_t *place, T value) {
  const T sum = read<T>(place) + value;
  std::memcpy(place, &sum, sizeof sum);
}

void setField(uint8_t *place, uint32_t mask, uint32_t bits) {
  const uint32_t word = (read<uint32_t>(place) & ~mask) | (bits & mask);
  std::memcpy(place, &word, sizeof word);
}

/// The upper 20 bits, rounded so that the signed lower 12 make up the rest.
bool writeHigh(uint8_t *place, uint64_t value) {
  setField(place, 0xfffff000, static_cast<uint32_t>(value + 0x800));
  const auto rounded = static_cast<int64_t>(value + 0x800);
  return rounded >= INT32_MIN && rounded <= INT32_MAX;
}

void writeLow(uint8_t *place, uint64_t value) {
  setField(place, 0xfff00000, static_cast<uint32_t>(value << 20));
}

bool write(uint32_t type, uint8_t *place, uint64_t value) {
  const auto distance = static_cast<int64_t>(value);
  switch (type) {
  case R_RISCV_64:
    std::memcpy(place, &value, 8);
    return true;
  case R_RISCV_ADD64:
    add(place, value);
    return true;
  case R_RISCV_SUB64:
    add(place, -value);
    return true;
  case R_RISCV_ADD32:
    add(place, static_cast<uint32_t>(value));
    return true;
  case R_RISCV_SUB32:
    add(place, static_cast<uint32_t>(-value));
    return true;
  case R_RISCV_32_PCREL:
    std::memcpy(place, &value, 4);
    return distance >= INT32_MIN && distance <= INT32_MAX;
  case R_RISCV_PCREL_HI20:
    return writeHigh(place, value);
  case R_RISCV_CALL:
  case R_RISCV_CALL_PLT: // auipc and jalr
    writeLow(place + 4, value);
    return writeHigh(place, value);
  case R_RISCV_PCREL_LO12_I:
    writeLow(place, value);
    return true;
  case R_RISCV_PCREL_LO12_S: {
    const auto low = static_cast<uint32_t>(value & 0xfff);
    setField(place, 0xfe000f80, (low >> 5) << 25 | (low & 31) << 7);
    return true;
  }
  default:
    return false;
  }
}

void writeStub(uint8_t *place, uint64_t target) {
  // auipc t3, 0; ld t3, 16(t3); jr t3; and four bytes so that the address is aligned
  const uint32_t code[4] = {0x00000e17, 0x010e3e03, 0x000e0067, 0};
  std::memcpy(place, code, sizeof code);
  std::memcpy(place + sizeof code, &target, sizeof target);
}

} // namespace

const RelocationArchitecture riscv64Relocations = {
    EM_RISCV,
    "riscv64",
    "64, 32_PCREL, ADD32, ADD64, SUB32, SUB64, CALL, CALL_PLT, PCREL_HI20, PCREL_LO12_I and "
    "PCREL_LO12_S",
    32,
    true,
    formOf,
    write,
    writeStub};

} // namespace nereid::runtime
