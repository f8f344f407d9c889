// SPDX-License-Identifier: Apache-2.0
// cpu-split-products: chains of products in even and odd lanes give the same bits as one lane after
// the other, beside other uses of their values, in unrolled bodies and where it must not fire.
#include "unittests/target_cpu/CodegenHarness.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <random>

namespace nereid::cpu::test {
namespace {

constexpr uint32_t factorA = 0xD2511F53, factorB = 0xCD9E8D57;

std::string constant(const std::string &name, uint64_t number, int lanes, int bits) {
  const std::string value = bits == 32 ? std::to_string(static_cast<int32_t>(number))
                                       : std::to_string(static_cast<int64_t>(number));
  return "    %" + name + " = arith.constant dense<" + value + "> : vector<" +
         std::to_string(lanes) + "xi" + std::to_string(bits) + ">\n";
}

/// %NAME_h and %NAME_l: the halves of %value times a constant.
std::string product(const std::string &name, const std::string &value, const std::string &factor,
                    int lanes) {
  const std::string narrow = "vector<" + std::to_string(lanes) + "xi32>",
                    wide = "vector<" + std::to_string(lanes) + "xi64>";
  return "    %" + name + "_w = arith.extui %" + value + " : " + narrow + " to " + wide + "\n" +
         "    %" + name + "_m = arith.muli %" + name + "_w, %" + factor + "w : " + wide + "\n" +
         "    %" + name + "_s = arith.shrui %" + name + "_m, %c32 : " + wide + "\n" + "    %" +
         name + "_h = arith.trunci %" + name + "_s : " + wide + " to " + narrow + "\n" + "    %" +
         name + "_l = arith.muli %" + value + ", %" + factor + "n : " + narrow + "\n";
}

/// `rounds` rounds on the lanes of %`input`; leaves %`prefix`a, %`prefix`b.
std::string chain(const std::string &prefix, const std::string &input, int rounds, int lanes) {
  const std::string type = " : vector<" + std::to_string(lanes) + "xi32>\n";
  std::string text = "    %" + prefix + "a0 = arith.addi %" + input + ", %key" + type + "    %" +
                     prefix + "b0 = arith.xori %" + input + ", %key" + type;
  for (int i = 0; i < rounds; ++i) {
    const std::string a = prefix + "a" + std::to_string(i), b = prefix + "b" + std::to_string(i),
                      next = std::to_string(i + 1);
    text += product(a, a, "fa", lanes) + product(b, b, "fb", lanes);
    text += "    %" + a + "_x = arith.xori %" + b + "_h, %" + a + "_l" + type;
    text += "    %" + prefix + "a" + next + " = arith.xori %" + a + "_x, %key" + type;
    text += "    %" + prefix + "b" + next + " = arith.subi %" + a + "_h, %" + b + "_l" + type;
  }
  return text;
}

void roundsByHand(uint32_t &a, uint32_t &b, uint32_t key, int rounds) {
  for (int i = 0; i < rounds; ++i) {
    const uint64_t wideA = uint64_t(a) * factorA, wideB = uint64_t(b) * factorB;
    a = static_cast<uint32_t>(wideB >> 32) ^ static_cast<uint32_t>(wideA) ^ key;
    b = static_cast<uint32_t>(wideA >> 32) - static_cast<uint32_t>(wideB);
  }
}

constexpr uint32_t key = 0x9E3779B9;

std::string constants(int lanes) {
  return constant("faw", factorA, lanes, 64) + constant("fbw", factorB, lanes, 64) +
         constant("fan", factorA, lanes, 32) + constant("fbn", factorB, lanes, 32) +
         constant("c32", 32, lanes, 64) + constant("key", key, lanes, 32);
}

std::vector<uint32_t> randomWords(size_t count) {
  std::mt19937 random(7);
  std::vector<uint32_t> words = {0, 1, 0x7FFFFFFF, 0x80000000, 0xFFFFFFFF};
  while (words.size() < count) {
    words.push_back(random());
  }
  return words;
}

struct Level {
  const char *architecture;
  int lanes;
};
const Level levels[] = {{"x86-64-v2", 4}, {"x86-64-v3", 8}, {"x86-64-v4", 16}};

bool runsHere(const std::string &architecture) {
  Result<CpuMachine> machine = parseMachine(architecture), host = parseMachine("");
  return machine && host && machine->vectorBytes <= host->vectorBytes;
}

TEST(SplitProducts, SameBitsAsLaneByLane) {
  for (const Level &level : levels) {
    for (int rounds : {2, 3, 5, 10}) {
      const std::string type = "vector<" + std::to_string(level.lanes) + "xi32>";
      // A value from the middle of the chain and a shifted one of the end are used beside it.
      const std::string last = "%pa" + std::to_string(rounds), of = " : " + type + "\n";
      const std::string text =
          elementwiseKernel("i32", "i32", level.lanes, 1,
                            constants(level.lanes) + constant("seven", 7, level.lanes, 32) +
                                chain("p", "x0", rounds, level.lanes) + "    %mix = arith.addi " +
                                last + ", %pb1" + of + "    %shifted = arith.shrui " + last +
                                ", %seven" + of + "    %y = arith.xori %mix, %shifted" + of);
      if (!runsHere(level.architecture)) {
        continue;
      }
      CompiledLoops kernel = compileLoops(text, level.architecture);
      ASSERT_EQ(kernel.error, "") << text;
      const std::vector<uint32_t> x = randomWords(1024);
      std::vector<uint32_t> y(x.size());
      kernel.call({slot(x.data()), slot(y.data()), x.size()});
      for (size_t i = 0; i < x.size(); ++i) {
        uint32_t a = x[i] + key, b = x[i] ^ key, firstA = a, firstB = b;
        roundsByHand(a, b, key, rounds);
        roundsByHand(firstA, firstB, key, 1);
        const uint32_t expected = (a + firstB) ^ (a >> 7);
        ASSERT_EQ(y[i], expected) << level.architecture << " " << rounds << " rounds of " << x[i];
      }
    }
  }
}

TEST(SplitProducts, TwoChainsSideBySide) {
  if (!runsHere("x86-64-v4")) {
    GTEST_SKIP() << "this machine has no AVX-512";
  }
  const int lanes = 16, rounds = 6;
  const std::string type = " : vector<16xi32>\n";
  // The second one begins behind the first one's end.
  const std::string body =
      constants(lanes) + chain("p", "x0", rounds, lanes) + "    %late = arith.xori %x0, %x1" +
      type + chain("q", "late", rounds, lanes) + "    %y = arith.addi %pa6, %qb6" + type;
  CompiledLoops kernel = compileLoops(elementwiseKernel("i32", "i32", lanes, 2, body), "x86-64-v4");
  ASSERT_EQ(kernel.error, "");
  std::vector<uint32_t> x = randomWords(512), z = randomWords(512), y(512);
  std::reverse(z.begin(), z.end());
  kernel.call({slot(x.data()), slot(z.data()), slot(y.data()), x.size()});
  for (size_t i = 0; i < x.size(); ++i) {
    uint32_t a = x[i] + key, b = x[i] ^ key, late = x[i] ^ z[i], c = late + key, d = late ^ key;
    roundsByHand(a, b, key, rounds);
    roundsByHand(c, d, key, rounds);
    ASSERT_EQ(y[i], a + d);
  }
}

TEST(SplitProducts, TwoChainsWhereOneNeedsTheOther) {
  if (!runsHere("x86-64-v4")) {
    GTEST_SKIP() << "this machine has no AVX-512";
  }
  const int lanes = 16, rounds = 4;
  const std::string type = " : vector<16xi32>\n";
  const std::string body = constants(lanes) + chain("p", "x0", rounds, lanes) +
                           "    %seven = arith.constant dense<7> : vector<16xi32>\n" +
                           "    %late = arith.shrui %pa4, %seven" + type +
                           chain("q", "late", rounds, lanes) + "    %y = arith.addi %pa4, %qb4" +
                           type;
  CompiledLoops kernel = compileLoops(elementwiseKernel("i32", "i32", lanes, 1, body), "x86-64-v4");
  ASSERT_EQ(kernel.error, "");
  std::vector<uint32_t> x = randomWords(512), y(512);
  kernel.call({slot(x.data()), slot(y.data()), x.size()});
  for (size_t i = 0; i < x.size(); ++i) {
    uint32_t a = x[i] + key, b = x[i] ^ key;
    roundsByHand(a, b, key, rounds);
    uint32_t c = (a >> 7) + key, d = (a >> 7) ^ key;
    roundsByHand(c, d, key, rounds);
    ASSERT_EQ(y[i], a + d);
  }
}

/// Philox's rounds: the lower halves of a round go into the next one, and each has keys of its own,
/// scalars or constants. Leaves %c0 … of the last round, or what `unused` leaves of it.
std::string philoxRounds(int rounds, int lanes, bool constantKeys) {
  const std::string narrow = "vector<" + std::to_string(lanes) + "xi32>",
                    type = " : " + narrow + "\n";
  std::string text = "    %low = arith.trunci %p3 : i64 to i32\n";
  std::string c[4] = {"x0", "none", "x1", "none"};
  for (int i = 0; i < rounds; ++i) {
    const std::string at = std::to_string(i);
    for (const char *name : {"k", "m"}) {
      const int32_t number = static_cast<int32_t>((name[0] == 'k' ? 0x9E3779B9u : 0xBB67AE85u) * i);
      if (constantKeys) {
        text += constant(name + at, static_cast<uint32_t>(number), lanes, 32);
        continue;
      }
      text += std::string("    %") + name + at + "c = arith.constant " + std::to_string(number) +
              " : i32\n    %" + name + at + "s = arith.addi %low, %" + name + at +
              "c : i32\n    %" + name + at + " = vector.broadcast %" + name + at + "s : i32 to " +
              narrow + "\n";
    }
    text += product("a" + at, c[0], "fa", lanes) + product("b" + at, c[2], "fb", lanes);
    text += "    %e" + at + " = arith.xori %b" + at + "_h, %" + c[1] + type;
    text += "    %c0_" + at + " = arith.xori %e" + at + ", %k" + at + type;
    text += "    %g" + at + " = arith.xori %a" + at + "_h, %" + c[3] + type;
    text += "    %c2_" + at + " = arith.xori %g" + at + ", %m" + at + type;
    c[0] = "c0_" + at, c[1] = "b" + at + "_l", c[2] = "c2_" + at, c[3] = "a" + at + "_l";
  }
  return text;
}

TEST(SplitProducts, RoundsWithKeysOfTheirOwn) {
  for (const Level &level : levels) {
    if (!runsHere(level.architecture)) {
      continue;
    }
    for (int rounds : {4, 6, 7, 10}) {
      for (bool constantKeys : {false, true}) {
        // Three words of the last round, or a value from the middle beside one of them.
        for (bool fromTheMiddle : {false, true}) {
          const std::string type = " : vector<" + std::to_string(level.lanes) + "xi32>\n",
                            last = std::to_string(rounds - 1),
                            other =
                                fromTheMiddle ? "c2_" + std::to_string(rounds / 2) : "c2_" + last;
          const std::string text = elementwiseKernel(
              "i32", "i32", level.lanes, 2,
              constants(level.lanes) + constant("none", 0, level.lanes, 32) +
                  philoxRounds(rounds, level.lanes, constantKeys) + "    %u = arith.addi %c0_" +
                  last + ", %" + other + type + "    %y = arith.xori %u, %a" + last + "_l" + type);
          CompiledLoops kernel = compileLoops(text, level.architecture);
          ASSERT_EQ(kernel.error, "") << text;
          const std::vector<uint32_t> x = randomWords(512), z(x.rbegin(), x.rend());
          std::vector<uint32_t> y(x.size());
          kernel.call({slot(x.data()), slot(z.data()), slot(y.data()), x.size()});
          for (size_t i = 0; i < x.size(); ++i) {
            const uint32_t seed = constantKeys ? 0 : static_cast<uint32_t>(x.size());
            uint32_t c0 = x[i], c1 = 0, c2 = z[i], c3 = 0, middle = 0;
            for (uint32_t round = 0; round < static_cast<uint32_t>(rounds); ++round) {
              const uint64_t a = uint64_t(c0) * factorA, b = uint64_t(c2) * factorB;
              c0 = static_cast<uint32_t>(b >> 32) ^ c1 ^ (seed + round * 0x9E3779B9u);
              c2 = static_cast<uint32_t>(a >> 32) ^ c3 ^ (seed + round * 0xBB67AE85u);
              c1 = static_cast<uint32_t>(b);
              c3 = static_cast<uint32_t>(a);
              middle = static_cast<int>(round) == rounds / 2 ? c2 : middle;
            }
            ASSERT_EQ(y[i], (c0 + (fromTheMiddle ? middle : c2)) ^ c3)
                << level.architecture << " " << rounds << " rounds of " << x[i];
          }
        }
      }
    }
  }
}

size_t count(const std::string &text, const std::string &word) {
  size_t found = 0;
  for (size_t at = text.find(word); at != std::string::npos; at = text.find(word, at + 1)) {
    ++found;
  }
  return found;
}

TEST(SplitProducts, NeedsNoShufflesInsideTheChain) {
  const std::string type = " : vector<16xi32>";
  auto assembly = [&](int rounds) {
    return assemblyOf(elementwiseKernel("i32", "i32", 16, 1,
                                        constants(16) + chain("p", "x0", rounds, 16) +
                                            "    %y = arith.addi %pa" + std::to_string(rounds) +
                                            ", %pb" + std::to_string(rounds) + type),
                      "x86-64-v4");
  };
  const std::string six = assembly(6), ten = assembly(10);
  // Two products of 8 lanes for each of two values in a round, and none for the lower halves.
  EXPECT_EQ(count(ten, "vpmuludq") - count(six, "vpmuludq"), 4u * 4u) << ten;
  EXPECT_EQ(count(ten, "vpmulld"), 0u) << ten;
  EXPECT_EQ(count(ten, "vpermt2d") + count(ten, "vpermi2d"),
            count(six, "vpermt2d") + count(six, "vpermi2d"));
  EXPECT_LE(count(ten, "vpermt2d") + count(ten, "vpermi2d"), 2u) << ten;
  // Few products are not worth it.
  EXPECT_NE(count(assembly(2), "vpmulld"), 0u);
}

} // namespace
} // namespace nereid::cpu::test
