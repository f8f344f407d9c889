// SPDX-License-Identifier: Apache-2.0
// Gathers whose elements stand side by side in the source: with flipped bits, shifted, reversed,
// and along a dimension that the lanes do not run along. Every vector width, against loops written
// here.
#include "unittests/target_cpu/LowerHarness.h"

#include <gtest/gtest.h>

using namespace nereid;
using namespace nereid::cpu::test;

namespace {

LoweredKernel compileSource(const std::string &body, const std::string &signature,
                            const std::string &architecture) {
  const std::string source = "import triton\nimport triton.language as tl\n\n@triton.jit\n" + body;
  LoweredKernel kernel = lowerSource(source, signature, architecture);
  EXPECT_EQ(kernel.error, "");
  return kernel;
}

bool hasGather(const LoweredKernel &kernel) {
  return kernel.loops.find("masked.gather") != std::string::npos;
}

template <class T> std::vector<T> counting(int64_t count) {
  std::vector<T> values(static_cast<size_t>(count));
  for (int64_t i = 0; i < count; ++i) {
    values[static_cast<size_t>(i)] = static_cast<T>(i + 1);
  }
  return values;
}

template <class T> void expectFlippedBits(const std::string &type) {
  const std::string body = R"(def kernel(x, out, bits, N: tl.constexpr):
    i = tl.arange(0, N)
    tl.store(out + i, tl.gather(tl.load(x + i), i ^ bits, 0))
)";
  for (const std::string &architecture : runnableArchitectures()) {
    for (int64_t count : {2, 8, 16, 32, 64, 128}) {
      SCOPED_TRACE(type + " " + std::to_string(count) + " " + architecture);
      const std::string pointer = "*" + type;
      const LoweredKernel kernel = compileSource(
          body, pointer + ", " + pointer + ", i32, " + std::to_string(count), architecture);
      const std::vector<T> x = counting<T>(count);
      for (int64_t bits : {int64_t{0}, int64_t{1}, int64_t{2}, int64_t{5}, count / 4, count / 2,
                           count - 1, count, 2 * count + 1, int64_t{-1}}) {
        std::vector<T> out(x.size(), T{0});
        ASSERT_TRUE(
            kernel.launch({1, 1, 1}, {address(x.data()), address(out.data()), number(bits)}));
        for (int64_t i = 0; i < count; ++i) {
          const int64_t from = i ^ bits;
          if (from >= 0 && from < count) { // others are undefined
            ASSERT_EQ(out[static_cast<size_t>(i)], x[static_cast<size_t>(from)])
                << i << " with bits " << bits;
          }
        }
      }
    }
  }
}

TEST(GatherNeighbours, FlippedBitsOfEveryElementType) {
  expectFlippedBits<float>("fp32");
  expectFlippedBits<double>("fp64");
  expectFlippedBits<int16_t>("i16");
  expectFlippedBits<int32_t>("i32");
  expectFlippedBits<int64_t>("i64");
  expectFlippedBits<uint8_t>("u8");
}

TEST(GatherNeighbours, FlippedBitsOfHalves) {
  const std::string body = R"(def kernel(x, out, bits, N: tl.constexpr):
    i = tl.arange(0, N)
    v = tl.load(x + i).to(tl.float16)
    tl.store(out + i, tl.gather(v, i ^ bits, 0).to(tl.float32))
)";
  for (const std::string &architecture : runnableArchitectures()) {
    const LoweredKernel kernel = compileSource(body, "*fp32, *fp32, i32, 64", architecture);
    const std::vector<float> x = counting<float>(64);
    for (int64_t bits : {1, 6, 8, 16, 40}) {
      std::vector<float> out(64);
      ASSERT_TRUE(kernel.launch({1, 1, 1}, {address(x.data()), address(out.data()), number(bits)}));
      for (int64_t i = 0; i < 64; ++i) {
        ASSERT_EQ(out[static_cast<size_t>(i)], static_cast<float>((i ^ bits) + 1)) << i;
      }
    }
  }
}

TEST(GatherNeighbours, ConstantBitsAreAShuffleOnEveryMachine) {
  const std::string body = R"(def kernel(x, out, N: tl.constexpr, BITS: tl.constexpr):
    i = tl.arange(0, N)
    tl.store(out + i, tl.gather(tl.load(x + i), i ^ BITS, 0))
)";
  for (const std::string &architecture : runnableArchitectures()) {
    for (int64_t bits : {1, 3, 8, 21, 32}) {
      const LoweredKernel kernel =
          compileSource(body, "*fp32, *fp32, 64, " + std::to_string(bits), architecture);
      EXPECT_FALSE(hasGather(kernel)) << kernel.loops;
      const std::vector<float> x = counting<float>(64);
      std::vector<float> out(64);
      ASSERT_TRUE(kernel.launch({1, 1, 1}, {address(x.data()), address(out.data())}));
      for (int64_t i = 0; i < 64; ++i) {
        ASSERT_EQ(out[static_cast<size_t>(i)], static_cast<float>((i ^ bits) + 1)) << i;
      }
    }
  }
}

TEST(GatherNeighbours, FlippedBitsNeedNoGatherWhereLanesCanBeMoved) {
  const std::string body = R"(def kernel(x, out, bits, N: tl.constexpr):
    i = tl.arange(0, N)
    tl.store(out + i, tl.gather(tl.load(x + i), i ^ bits, 0))
)";
  for (const char *architecture : {"x86-64-v3", "x86-64-v4"}) {
    EXPECT_FALSE(hasGather(compileSource(body, "*fp32, *fp32, i32, 64", architecture)));
  }
}

template <class T>
void expectBits(const std::string &type, int64_t count, int64_t bits, bool isAnd) {
  const std::string body = "def kernel(x, out, N: tl.constexpr):\n"
                           "    i = tl.arange(0, N)\n"
                           "    tl.store(out + i, tl.gather(tl.load(x + i), i " +
                           std::string(isAnd ? "& " : "| ") + std::to_string(bits) + ", 0))\n";
  for (const std::string &architecture : runnableArchitectures()) {
    SCOPED_TRACE(body + type + " " + std::to_string(count) + " " + architecture);
    const LoweredKernel kernel =
        compileSource(body, "*" + type + ", *" + type + ", " + std::to_string(count), architecture);
    if (count >= 64) {
      EXPECT_FALSE(hasGather(kernel)) << kernel.loops;
    }
    const std::vector<T> x = counting<T>(count);
    std::vector<T> out(x.size());
    ASSERT_TRUE(kernel.launch({1, 1, 1}, {address(x.data()), address(out.data())}));
    for (int64_t i = 0; i < count; ++i) {
      const int64_t from = isAnd ? i & bits : i | bits;
      if (from >= 0 && from < count) { // others are undefined
        ASSERT_EQ(out[static_cast<size_t>(i)], x[static_cast<size_t>(from)]) << i;
      }
    }
  }
}

TEST(GatherNeighbours, BitsThatAreSetOrCleared) {
  for (int64_t count : {4, 32, 64, 128}) {
    for (int64_t bits : {0, 1, 2, 4, 5, 16, 31, 32, 48, 63, 64, -1, -2, -5, -17, -33}) {
      for (bool isAnd : {false, true}) {
        expectBits<float>("fp32", count, bits, isAnd);
        expectBits<int64_t>("i64", count, bits, isAnd);
      }
      expectBits<int8_t>("i8", count, bits, true);
    }
  }
}

/// What out[i] = x[first + step * i] gives, undefined ones left out.
void expectLine(const std::string &index, int64_t count, int64_t first, int64_t step,
                bool isWholeInside) {
  const std::string body = "def kernel(x, out, N: tl.constexpr, M: tl.constexpr):\n"
                           "    i = tl.arange(0, M)\n"
                           "    v = tl.load(x + tl.arange(0, N))\n"
                           "    tl.store(out + i, tl.gather(v, " +
                           index + ", 0))\n";
  for (const std::string &architecture : runnableArchitectures()) {
    SCOPED_TRACE(index + " " + architecture);
    const LoweredKernel kernel =
        compileSource(body, "*fp32, *fp32, 64, " + std::to_string(count), architecture);
    if (isWholeInside) {
      EXPECT_FALSE(hasGather(kernel)) << kernel.loops;
    } else if (architecture == "x86-64-v4") {
      EXPECT_TRUE(hasGather(kernel)) << kernel.loops;
    }
    const std::vector<float> x = counting<float>(64);
    std::vector<float> out(static_cast<size_t>(count));
    ASSERT_TRUE(kernel.launch({1, 1, 1}, {address(x.data()), address(out.data())}));
    for (int64_t i = 0; i < count; ++i) {
      const int64_t from = first + step * i;
      if (from >= 0 && from < 64) {
        ASSERT_EQ(out[static_cast<size_t>(i)], static_cast<float>(from + 1)) << i;
      }
    }
  }
}

TEST(GatherNeighbours, LinesUpAndDown) {
  expectLine("i", 64, 0, 1, true);
  expectLine("i + 16", 32, 16, 1, true);
  expectLine("i + 33", 16, 33, 1, true);
  expectLine("63 - i", 64, 63, -1, true);
  expectLine("40 - i", 32, 40, -1, true);
  // Partly outside: what is inside must still be right.
  expectLine("i + 33", 32, 33, 1, false);
  expectLine("i - 5", 64, -5, 1, false);
  expectLine("20 - i", 64, 20, -1, false);
  expectLine("i", 128, 0, 1, false);
  expectLine("2 * i", 32, 0, 2, false);
}

TEST(GatherNeighbours, RowsAreLoadedWhole) {
  const std::string body = R"(def kernel(x, out, bits, R: tl.constexpr, C: tl.constexpr):
    r = tl.arange(0, R)[:, None]
    c = tl.arange(0, C)[None, :]
    v = tl.load(x + r * C + c)
    rows = tl.broadcast_to(r ^ bits, (R, C))
    tl.store(out + r * C + c, tl.gather(v, rows, 0))
)";
  for (const std::string &architecture : runnableArchitectures()) {
    const LoweredKernel kernel = compileSource(body, "*fp32, *fp32, i32, 8, 64", architecture);
    EXPECT_FALSE(hasGather(kernel)) << kernel.loops;
    const std::vector<float> x = counting<float>(512);
    for (int64_t bits : {0, 1, 6}) {
      std::vector<float> out(512);
      ASSERT_TRUE(kernel.launch({1, 1, 1}, {address(x.data()), address(out.data()), number(bits)}));
      for (int64_t i = 0; i < 512; ++i) {
        ASSERT_EQ(out[static_cast<size_t>(i)],
                  static_cast<float>(((i / 64) ^ bits) * 64 + i % 64 + 1));
      }
    }
  }
}

TEST(GatherNeighbours, FlippedBitsAlongTheLastOfTwoDimensions) {
  const std::string body = R"(def kernel(x, out, bits, R: tl.constexpr, C: tl.constexpr):
    r = tl.arange(0, R)[:, None]
    c = tl.arange(0, C)[None, :]
    v = tl.load(x + r * C + c)
    columns = tl.broadcast_to(c, (R, C)) ^ bits
    tl.store(out + r * C + c, tl.gather(v, columns, 1))
)";
  for (const std::string &architecture : runnableArchitectures()) {
    const LoweredKernel kernel = compileSource(body, "*fp32, *fp32, i32, 8, 64", architecture);
    const std::vector<float> x = counting<float>(512);
    for (int64_t bits : {0, 1, 6, 48}) {
      std::vector<float> out(512);
      ASSERT_TRUE(kernel.launch({1, 1, 1}, {address(x.data()), address(out.data()), number(bits)}));
      for (int64_t i = 0; i < 512; ++i) {
        ASSERT_EQ(out[static_cast<size_t>(i)],
                  static_cast<float>(i / 64 * 64 + ((i % 64) ^ bits) + 1));
      }
    }
  }
}

} // namespace
