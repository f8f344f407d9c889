// SPDX-License-Identifier: Apache-2.0
// The object loader: relocations, external functions, page protection, damaged input.
#include "ObjectBuilder.h"
#include "runtime/Kernel.h"

#include <fstream>
#include <gtest/gtest.h>
#include <random>
#include <sstream>

using namespace nereid::runtime;
using test::ObjectBuilder;

namespace {

std::shared_ptr<Module> load(const std::vector<uint8_t> &object) {
  auto loaded = loadObject(object);
  if (LaunchError *error = std::get_if<LaunchError>(&loaded)) {
    ADD_FAILURE() << error->message;
    return nullptr;
  }
  return std::get<std::shared_ptr<Module>>(loaded);
}

std::string problemOf(const std::vector<uint8_t> &object) {
  auto loaded = loadObject(object);
  const LaunchError *error = std::get_if<LaunchError>(&loaded);
  EXPECT_TRUE(!error || error->code == "E0390") << error->code;
  return error ? error->message : "";
}

/// Protection of the mapping that holds the address: "r-xp".
std::string protectionOf(const void *address) {
  std::ifstream maps("/proc/self/maps");
  for (std::string line; std::getline(maps, line);) {
    std::istringstream text(line);
    uintptr_t begin, end;
    char dash;
    std::string access;
    text >> std::hex >> begin >> dash >> end >> access;
    if (begin <= reinterpret_cast<uintptr_t>(address) &&
        reinterpret_cast<uintptr_t>(address) < end) {
      return access;
    }
  }
  return "";
}

TEST(ElfLoader, RunsCodeThatReadsItsConstant) {
  const auto code = load(test::addThousandObject());
  ASSERT_TRUE(code);
  const auto entry = reinterpret_cast<KernelEntry>(code->symbol("kernel"));
  ASSERT_TRUE(entry);
  int32_t out[4] = {};
  const uint64_t slots[] = {reinterpret_cast<uintptr_t>(out)};
  const int32_t count[3] = {4, 1, 1};
  for (int32_t x = 0; x < 4; ++x) {
    const int32_t id[3] = {x, 0, 0};
    entry(slots, id, count, nullptr);
  }
  EXPECT_EQ(out[0], 1000);
  EXPECT_EQ(out[3], 1003);
  EXPECT_EQ(code->symbol("missing"), nullptr);
}

TEST(ElfLoader, CallsExternalFunctionsThroughStubs) {
  ObjectBuilder object;
  object.code({0x48, 0x8B, 0x77, 0x08, // mov rsi, [rdi + 8]
               0x48, 0x8B, 0x3F,       // mov rdi, [rdi]
               0xBA, 16, 0, 0, 0,      // mov edx, 16
               0xE9, 0, 0, 0, 0});     // jmp memcpy
  object.symbol("copy", ObjectBuilder::Text, 0);
  const uint32_t external = object.symbol("memcpy", ObjectBuilder::Undefined, 0);
  object.relocate(ObjectBuilder::Text, 13, R_X86_64_PLT32, external, -4);
  const auto code = load(object.build());
  ASSERT_TRUE(code);
  const char from[17] = "sixteen letters!";
  char to[17] = {};
  const uint64_t slots[] = {reinterpret_cast<uintptr_t>(to), reinterpret_cast<uintptr_t>(from)};
  const int32_t id[3] = {}, count[3] = {1, 1, 1};
  reinterpret_cast<KernelEntry>(code->symbol("copy"))(slots, id, count, nullptr);
  EXPECT_STREQ(to, from);
}

TEST(ElfLoader, RelocatesDataAndClearsBss) {
  ObjectBuilder object;
  object.code({0xC3});
  object.symbol("kernel", ObjectBuilder::Text, 0);
  object.readOnly = {1, 2, 3, 4, 5, 6, 7, 8};
  object.data.resize(16);
  object.bssBytes = 64;
  const uint32_t constant = object.symbol("constant", ObjectBuilder::ReadOnly, 0);
  object.symbol("pointers", ObjectBuilder::Data, 0);
  object.symbol("zeros", ObjectBuilder::Bss, 0);
  object.relocate(ObjectBuilder::Data, 0, R_X86_64_64, constant, 2);
  object.relocate(ObjectBuilder::Data, 8, R_X86_64_PC64, constant, 3);
  const auto code = load(object.build());
  ASSERT_TRUE(code);
  const uint64_t *pointers = static_cast<const uint64_t *>(code->symbol("pointers"));
  const uint64_t address = reinterpret_cast<uintptr_t>(code->symbol("constant"));
  EXPECT_EQ(pointers[0], address + 2);
  EXPECT_EQ(pointers[1], address + 3 - reinterpret_cast<uintptr_t>(&pointers[1]));
  for (int i = 0; i < 64; ++i) {
    EXPECT_EQ(static_cast<uint8_t *>(code->symbol("zeros"))[i], 0);
  }
}

TEST(ElfLoader, NoPageIsWritableAndExecutable) {
  ObjectBuilder object;
  object.code({0xC3});
  object.readOnly = {1};
  object.data = {2};
  object.symbol("code", ObjectBuilder::Text, 0);
  object.symbol("constant", ObjectBuilder::ReadOnly, 0);
  object.symbol("variable", ObjectBuilder::Data, 0);
  const auto code = load(object.build());
  ASSERT_TRUE(code);
  EXPECT_EQ(protectionOf(code->symbol("code")), "r-xp");
  EXPECT_EQ(protectionOf(code->symbol("constant")), "r--p");
  EXPECT_EQ(protectionOf(code->symbol("variable")), "rw-p");
}

TEST(ElfLoader, UnknownExternalIsRefusedByName) {
  ObjectBuilder object;
  object.code({0xE9, 0, 0, 0, 0});
  const uint32_t external = object.symbol("system", ObjectBuilder::Undefined, 0);
  object.relocate(ObjectBuilder::Text, 1, R_X86_64_PLT32, external, -4);
  EXPECT_NE(problemOf(object.build()).find("'system'"), std::string::npos);
}

TEST(ElfLoader, UnsupportedRelocationIsRefused) {
  for (uint32_t type : {R_X86_64_32, R_X86_64_32S, R_X86_64_GOTPCREL}) {
    ObjectBuilder object;
    object.code({0, 0, 0, 0, 0, 0, 0, 0});
    const uint32_t symbol = object.symbol("kernel", ObjectBuilder::Text, 0);
    object.relocate(ObjectBuilder::Text, 0, type, symbol, 0);
    EXPECT_NE(problemOf(object.build()).find("relocation type " + std::to_string(type)),
              std::string::npos);
  }
}

TEST(ElfLoader, RelocationBeyondItsSectionIsRefused) {
  for (uint64_t offset : {uint64_t{5}, uint64_t{1} << 40, ~uint64_t{0} - 2}) {
    ObjectBuilder object;
    object.code({0, 0, 0, 0, 0, 0, 0, 0});
    const uint32_t symbol = object.symbol("kernel", ObjectBuilder::Text, 0);
    object.relocate(ObjectBuilder::Text, offset, R_X86_64_PC32, symbol, 0);
    EXPECT_NE(problemOf(object.build()).find("outside its section"), std::string::npos) << offset;
  }
}

TEST(ElfLoader, EveryTruncationIsRefusedOrHarmless) {
  const std::vector<uint8_t> object = test::addThousandObject();
  for (size_t bytes = 0; bytes < object.size(); ++bytes) {
    const std::vector<uint8_t> part(object.begin(), object.begin() + static_cast<long>(bytes));
    EXPECT_NE(problemOf(part), "") << bytes; // the section table is at the end
  }
}

TEST(ElfLoader, FlippedBytesNeverCrash) {
  const std::vector<uint8_t> object = test::addThousandObject();
  int refused = 0;
  for (size_t i = 0; i < object.size(); ++i) {
    for (uint8_t mask : {0x01, 0x80, 0xFF}) {
      std::vector<uint8_t> damaged = object;
      damaged[i] ^= mask;
      refused += problemOf(damaged) != "";
    }
  }
  EXPECT_GT(refused, 100);
  std::mt19937 random(7);
  for (int round = 0; round < 20000; ++round) {
    std::vector<uint8_t> damaged = object;
    for (unsigned flips = random() % 8 + 1; flips > 0; --flips) {
      damaged[random() % damaged.size()] = static_cast<uint8_t>(random());
    }
    problemOf(damaged);
  }
}

} // namespace
