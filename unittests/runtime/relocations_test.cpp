// SPDX-License-Identifier: Apache-2.0
// Relocations of every architecture against words that GNU as and ld gave for the same distances,
// and against the fields as the instruction set manuals draw them.
#include "runtime/cpu/Relocations.h"

#include <cstring>
#include <elf.h>
#include <gtest/gtest.h>

using namespace nereid::runtime;
using Kind = RelocationForm::Kind;

namespace {

uint32_t word(const uint8_t *place) {
  uint32_t value;
  std::memcpy(&value, place, sizeof value);
  return value;
}

/// The instruction after relocation; 0xdead when it was refused.
uint32_t patched(const RelocationArchitecture &architecture, uint32_t type, uint32_t instruction,
                 int64_t value) {
  uint8_t place[8] = {};
  std::memcpy(place, &instruction, sizeof instruction);
  return architecture.write(type, place, static_cast<uint64_t>(value)) ? word(place) : 0xdead;
}

TEST(Relocations, AreFoundByTheMachine) {
  EXPECT_EQ(relocationArchitecture(EM_X86_64)->name, "x86-64");
  EXPECT_EQ(relocationArchitecture(EM_AARCH64)->name, "aarch64");
  EXPECT_EQ(relocationArchitecture(EM_RISCV)->name, "riscv64");
  EXPECT_EQ(relocationArchitecture(EM_S390), nullptr);
  for (uint16_t machine : {EM_X86_64, EM_AARCH64, EM_RISCV}) {
    const RelocationArchitecture *architecture = relocationArchitecture(machine);
    EXPECT_EQ(architecture->formOf(0).kind, Kind::None);
    EXPECT_EQ(architecture->formOf(9999).kind, Kind::Unsupported);
    uint8_t place[8] = {};
    EXPECT_FALSE(architecture->write(9999, place, 0)) << architecture->name;
  }
}

TEST(Relocations, X86DistancesAre32Bits) {
  EXPECT_EQ(patched(x86Relocations, R_X86_64_PC32, 0, -4), 0xfffffffcU);
  EXPECT_EQ(patched(x86Relocations, R_X86_64_PLT32, 0, int64_t{1} << 31), 0xdeadU);
  EXPECT_EQ(patched(x86Relocations, R_X86_64_PC32, 0, -(int64_t{1} << 31)), 0x80000000U);
}

TEST(Relocations, Aarch64Calls) {
  const auto call = [](int64_t distance) {
    return patched(aarch64Relocations, R_AARCH64_CALL26, 0x94000000, distance);
  };
  EXPECT_EQ(call(8), 0x94000002U);          // bl .+8
  EXPECT_EQ(call(-4), 0x97ffffffU);         // bl .-4
  EXPECT_EQ(call(0x7fffffc), 0x95ffffffU);  // the furthest forwards
  EXPECT_EQ(call(-0x8000000), 0x96000000U); // and backwards
  EXPECT_EQ(call(0x8000000), 0xdeadU);      // one further
  EXPECT_EQ(call(-0x8000004), 0xdeadU);     //
  EXPECT_EQ(call(6), 0xdeadU);              // between two instructions
  EXPECT_EQ(patched(aarch64Relocations, R_AARCH64_JUMP26, 0x14000000, 16), 0x14000004U);
}

TEST(Relocations, Aarch64Addresses) {
  EXPECT_EQ(aarch64Relocations.formOf(R_AARCH64_ADR_PREL_PG_HI21).kind, Kind::Page);
  const auto page = [](int64_t distance) {
    return patched(aarch64Relocations, R_AARCH64_ADR_PREL_PG_HI21, 0x90000000, distance);
  };
  EXPECT_EQ(page(0x1000), 0xb0000000U);              // adrp x0, one page: immlo = 1
  EXPECT_EQ(page(0x5000), 0xb0000020U);              // 5 = 1 in immhi, 1 in immlo
  EXPECT_EQ(page(-0x1000), 0xf0ffffe0U);             // all ones
  EXPECT_EQ(page(int64_t{1} << 32), 0xdeadU);        // 4 GiB is too far
  EXPECT_EQ(page(-(int64_t{1} << 32)), 0x90800000U); // but backwards it is not
  const auto low = [](uint32_t type, uint32_t instruction, int64_t address) {
    return patched(aarch64Relocations, type, instruction, address);
  };
  EXPECT_EQ(low(R_AARCH64_ADD_ABS_LO12_NC, 0x91000000, 0x12345), 0x910d1400U);    // add #0x345
  EXPECT_EQ(low(R_AARCH64_LDST8_ABS_LO12_NC, 0x39400000, 0xfff), 0x397ffc00U);    // ldrb #4095
  EXPECT_EQ(low(R_AARCH64_LDST32_ABS_LO12_NC, 0xbd400000, 0x7008), 0xbd400800U);  // ldr s0, #8
  EXPECT_EQ(low(R_AARCH64_LDST64_ABS_LO12_NC, 0xf9400000, 0x7008), 0xf9400400U);  // ldr x0, #8
  EXPECT_EQ(low(R_AARCH64_LDST128_ABS_LO12_NC, 0x3dc00000, 0x7020), 0x3dc00800U); // ldr q0, #32
  EXPECT_EQ(low(R_AARCH64_LDST128_ABS_LO12_NC, 0x3dc00000, 0x7028), 0xdeadU);     // not aligned
}

TEST(Relocations, RiscvAddresses) {
  const auto at = [](uint32_t type, uint32_t instruction, int64_t distance) {
    return patched(riscv64Relocations, type, instruction, distance);
  };
  // 0x12345678 and 0x12345fff: the low part is signed, so the second one's high part is one more.
  EXPECT_EQ(at(R_RISCV_PCREL_HI20, 0x00000517, 0x12345678), 0x12345517U); // auipc a0
  EXPECT_EQ(at(R_RISCV_PCREL_HI20, 0x00000517, 0x12345fff), 0x12346517U);
  EXPECT_EQ(at(R_RISCV_PCREL_LO12_I, 0x00050513, 0x12345678), 0x67850513U); // addi a0, a0, 0x678
  EXPECT_EQ(at(R_RISCV_PCREL_LO12_I, 0x00050513, 0x12345fff), 0xfff50513U); // addi a0, a0, -1
  EXPECT_EQ(at(R_RISCV_PCREL_LO12_S, 0x00b52023, 0x12345678), 0x66b52c23U); // sw a1, 0x678(a0)
  EXPECT_EQ(at(R_RISCV_PCREL_HI20, 0x517, 0x7ffff7ff), 0x7ffff517U);
  EXPECT_EQ(at(R_RISCV_PCREL_HI20, 0x517, 0x7ffff800), 0xdeadU); // would become negative
  EXPECT_EQ(riscv64Relocations.formOf(R_RISCV_PCREL_LO12_I).kind, Kind::LowPart);
}

TEST(Relocations, RiscvCallsTakeTwoInstructions) {
  uint8_t place[8];
  const uint32_t pair[2] = {0x00000097, 0x000080e7}; // auipc ra, 0; jalr ra
  std::memcpy(place, pair, sizeof pair);
  ASSERT_TRUE(riscv64Relocations.write(R_RISCV_CALL_PLT, place, static_cast<uint64_t>(-0x1004)));
  EXPECT_EQ(word(place), 0xfffff097U);     // -1 page
  EXPECT_EQ(word(place + 4), 0xffc080e7U); // and -4
  EXPECT_EQ(riscv64Relocations.formOf(R_RISCV_CALL_PLT).bytes, 8);
}

TEST(Relocations, RiscvDifferencesOfLabelsAddAndSubtract) {
  uint8_t place[8] = {};
  const uint64_t branch = 0x7fff00001234, table = 0x7fff00002000;
  EXPECT_TRUE(riscv64Relocations.write(R_RISCV_ADD32, place, branch));
  EXPECT_TRUE(riscv64Relocations.write(R_RISCV_SUB32, place, table));
  EXPECT_EQ(static_cast<int32_t>(word(place)), 0x1234 - 0x2000);
  EXPECT_EQ(word(place + 4), 0U);
  uint64_t wide = 5;
  auto *bytes = reinterpret_cast<uint8_t *>(&wide);
  EXPECT_TRUE(riscv64Relocations.write(R_RISCV_ADD64, bytes, branch));
  EXPECT_TRUE(riscv64Relocations.write(R_RISCV_SUB64, bytes, table));
  EXPECT_EQ(wide, 5 + branch - table);
}

/// Reads the stub as the processor does: which address does it jump to?
TEST(Relocations, StubsEndInTheAddressTheyLoad) {
  constexpr uint64_t target = 0x123456789abcdef0;
  uint8_t stub[32];
  const auto addressAt = [&](size_t offset) {
    uint64_t value;
    std::memcpy(&value, stub + offset, sizeof value);
    return value;
  };
  x86Relocations.writeStub(stub, target);
  EXPECT_EQ(addressAt(6 + word(stub + 2)), target); // jmp *displacement(%rip)
  aarch64Relocations.writeStub(stub, target);
  const uint32_t literal = word(stub); // ldr x16, label: imm19 in bits 5 to 23, times 4
  EXPECT_EQ(literal & 0xff00001fU, 0x58000010U);
  EXPECT_EQ(addressAt((literal >> 5 & 0x7ffff) * 4), target);
  EXPECT_EQ(word(stub + 4), 0xd61f0200U); // br x16
  riscv64Relocations.writeStub(stub, target);
  const uint32_t load = word(stub + 4); // ld t3, offset(t3) behind auipc t3, 0
  EXPECT_EQ(word(stub), 0x00000e17U);
  EXPECT_EQ(load & 0xfffff, 0xe3e03U & 0xfffff);
  EXPECT_EQ(addressAt(load >> 20), target);
  EXPECT_EQ((load >> 20) % 8, 0U);
}

} // namespace
