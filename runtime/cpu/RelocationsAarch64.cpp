// SPDX-License-Identifier: Apache-2.0
// ELF for the Arm 64-bit Architecture, section 5.7: the types that position-independent code of the
// small model uses for its own data and for calls.
#include "runtime/cpu/Relocations.h"

#include <climits>
#include <cstring>
#include <elf.h>

namespace nereid::runtime {
namespace {

using Kind = RelocationForm::Kind;

/// Bytes of the access whose offset a LDST*_ABS_LO12_NC holds in units; 0 = another type.
uint64_t accessBytes(uint32_t type) {
  switch (type) {
  case R_AARCH64_LDST8_ABS_LO12_NC:
    return 1;
  case R_AARCH64_LDST16_ABS_LO12_NC:
    return 2;
  case R_AARCH64_LDST32_ABS_LO12_NC:
    return 4;
  case R_AARCH64_LDST64_ABS_LO12_NC:
    return 8;
  case R_AARCH64_LDST128_ABS_LO12_NC:
    return 16;
  default:
    return 0;
  }
}

RelocationForm formOf(uint32_t type) {
  if (accessBytes(type) != 0) {
    return {Kind::Absolute, 4};
  }
  switch (type) {
  case R_AARCH64_NONE:
    return {Kind::None, 0};
  case R_AARCH64_ABS64:
    return {Kind::Absolute, 8};
  case R_AARCH64_PREL64:
    return {Kind::Relative, 8};
  case R_AARCH64_PREL32:
  case R_AARCH64_CALL26:
  case R_AARCH64_JUMP26:
    return {Kind::Relative, 4};
  case R_AARCH64_ADR_PREL_PG_HI21:
    return {Kind::Page, 4};
  case R_AARCH64_ADD_ABS_LO12_NC:
    return {Kind::Absolute, 4};
  default:
    return {};
  }
}

void setField(uint8_t *place, uint32_t mask, uint32_t bits) {
  uint32_t word;
  std::memcpy(&word, place, sizeof word);
  word = (word & ~mask) | (bits & mask);
  std::memcpy(place, &word, sizeof word);
}

bool write(uint32_t type, uint8_t *place, uint64_t value) {
  const auto distance = static_cast<int64_t>(value);
  constexpr uint32_t imm12 = 0xfffu << 10;
  if (const uint64_t unit = accessBytes(type)) {
    const uint64_t low = value & 0xfff;
    setField(place, imm12, static_cast<uint32_t>(low / unit) << 10);
    return low % unit == 0;
  }
  switch (type) {
  case R_AARCH64_ABS64:
  case R_AARCH64_PREL64:
    std::memcpy(place, &value, 8);
    return true;
  case R_AARCH64_PREL32:
    std::memcpy(place, &value, 4);
    return distance >= INT32_MIN && distance <= INT32_MAX;
  case R_AARCH64_CALL26:
  case R_AARCH64_JUMP26:
    setField(place, 0x3ffffff, static_cast<uint32_t>(value >> 2));
    return value % 4 == 0 && distance >= -(int64_t{1} << 27) && distance < int64_t{1} << 27;
  case R_AARCH64_ADR_PREL_PG_HI21: {
    const auto pages = static_cast<uint32_t>(value >> 12);
    setField(place, 0x60ffffe0, (pages & 3) << 29 | (pages >> 2 & 0x7ffff) << 5);
    return distance >= -(int64_t{1} << 32) && distance < int64_t{1} << 32;
  }
  case R_AARCH64_ADD_ABS_LO12_NC:
    setField(place, imm12, static_cast<uint32_t>(value & 0xfff) << 10);
    return true;
  default:
    return false;
  }
}

void writeStub(uint8_t *place, uint64_t target) {
  const uint32_t code[2] = {0x58000050, 0xD61F0200}; // ldr x16, .+8; br x16
  std::memcpy(place, code, sizeof code);
  std::memcpy(place + sizeof code, &target, sizeof target);
}

} // namespace

const RelocationArchitecture aarch64Relocations = {
    EM_AARCH64,
    "aarch64",
    "ABS64, PREL32, PREL64, CALL26, JUMP26, ADR_PREL_PG_HI21, ADD_ABS_LO12_NC and "
    "LDST*_ABS_LO12_NC",
    16,
    false,
    formOf,
    write,
    writeStub};

} // namespace nereid::runtime
