// SPDX-License-Identifier: Apache-2.0
// Which products of 64 bits are the instruction that multiplies 32, seen by what the code generator
// writes, and that their numbers are those of plain arithmetic.
#include "lib/targets/cpu/codegen/Codegen.h"
#include "unittests/target_cpu/CodegenHarness.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace nereid::cpu {
namespace {

constexpr uint64_t factor = 3528531795, key = 2654435769;

/// `rounds` products, each of what the one before left in its upper and in its lower half, and of
/// the number that is loaded, up to `mask`.
std::string chainOf(int rounds, const std::string &mask) {
  std::string text = "%m = arith.constant dense<" + mask +
                     "> : vector<16xi64>\n"
                     "%f = arith.constant dense<" +
                     std::to_string(factor) +
                     "> : vector<16xi64>\n"
                     "%k = arith.constant dense<" +
                     std::to_string(key) +
                     "> : vector<16xi64>\n"
                     "%h = arith.constant dense<32> : vector<16xi64>\n"
                     "%w0 = arith.andi %x0, %m : vector<16xi64>\n";
  for (int i = 1; i <= rounds; ++i) {
    const std::string n = std::to_string(i);
    text += "%q" + n + " = arith.muli %w" + std::to_string(i - 1) + ", %f : vector<16xi64>\n";
    text += "%d" + n + " = arith.shrsi %q" + n + ", %h : vector<16xi64>\n";
    text += "%u" + n + " = arith.andi %d" + n + ", %m : vector<16xi64>\n";
    text += "%l" + n + " = arith.andi %q" + n + ", %m : vector<16xi64>\n";
    text += "%c" + n + " = arith.xori %u" + n + ", %l" + n + " : vector<16xi64>\n";
    text += "%w" + n + " = arith.xori %c" + n + ", %k : vector<16xi64>\n";
  }
  return text + "%y = arith.addi %w" + std::to_string(rounds) + ", %q" + std::to_string(rounds) +
         " : vector<16xi64>\n";
}

std::string kernelOf(int rounds, const std::string &mask) {
  return test::elementwiseKernel("i64", "i64", 16, 1, chainOf(rounds, mask));
}

size_t count(const std::string &text, const std::string &part) {
  size_t found = 0;
  for (size_t at = text.find(part); at != std::string::npos; at = text.find(part, at + 1)) {
    ++found;
  }
  return found;
}

constexpr const char *half = "4294967295", *oneBitMore = "8589934591";

TEST(ShortFactors, AreMultipliedByOneInstructionForEachRegister) {
  const std::string wide = test::assemblyOf(kernelOf(12, half), "x86-64-v4");
  EXPECT_EQ(count(wide, "vpmuludq"), 24u) << wide;
  EXPECT_EQ(count(wide, "vpmullq"), 0u);
  EXPECT_EQ(count(wide, "#APP"), 24u);
  EXPECT_LE(count(wide, "vpand"), 2u) << "masks in front of what reads the lower half alone";
  const std::string narrow = test::assemblyOf(kernelOf(12, half), "x86-64-v3");
  EXPECT_EQ(count(narrow, "#APP"), 48u) << narrow;
}

TEST(ShortFactors, OneBitMoreIsNoShortFactor) {
  EXPECT_EQ(count(test::assemblyOf(kernelOf(12, oneBitMore), "x86-64-v4"), "#APP"), 0u);
}

TEST(ShortFactors, FewAreLeftToTheCodeGenerator) {
  EXPECT_EQ(count(test::assemblyOf(kernelOf(7, half), "x86-64-v4"), "#APP"), 0u);
}

TEST(ShortFactors, RegistersOf16BytesHaveNoSuchInstruction) {
  EXPECT_EQ(count(test::assemblyOf(kernelOf(12, half), "x86-64-v2"), "#APP"), 0u);
}

TEST(ShortFactors, GiveTheNumbersOfPlainArithmetic) {
  const test::CompiledLoops kernel = test::compileLoops(kernelOf(12, half));
  ASSERT_EQ(kernel.error, "");
  std::vector<uint64_t> in(64), out(64);
  for (size_t i = 0; i < in.size(); ++i) {
    in[i] = i * 0x9e3779b97f4a7c15 + (i % 3 == 0 ? ~uint64_t{0} << i : 0);
  }
  kernel.call({test::slot(in.data()), test::slot(out.data()), in.size()});
  for (size_t i = 0; i < in.size(); ++i) {
    uint64_t word = in[i] & 0xffffffff, product = 0;
    for (int round = 0; round < 12; ++round) {
      product = word * factor;
      word = (product >> 32) ^ (product & 0xffffffff) ^ key;
    }
    EXPECT_EQ(out[i], word + product) << i;
  }
}

} // namespace
} // namespace nereid::cpu
