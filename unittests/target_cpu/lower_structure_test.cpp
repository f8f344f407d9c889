// SPDX-License-Identifier: Apache-2.0
// Tile sizes that are no powers of two (only tile IR can have them), effects, and the errors of
// lower/. What loops look like is in test/targets/cpu/.
#include "unittests/target_cpu/LowerHarness.h"

#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <numeric>

using namespace nereid;
using namespace nereid::cpu::test;
using runtime::Tensor;

namespace {

TEST(LowerStructure, NonTemporalStoresPassTheCaches) {
  const char *source = R"(
@triton.jit
def kernel(x, out, BLOCK: tl.constexpr):
    o = tl.arange(0, BLOCK)
    tl.store(out + o, tl.load(x + o) + 1, cache_modifier=".cs")
)";
  LoweredKernel kernel = lowerSource(source, "*fp32, *fp32, 1024");
  ASSERT_EQ(kernel.error, "");
  EXPECT_NE(kernel.assembly.find("vmovntps"), std::string::npos);
}

TEST(LowerStructure, AccumulatorOfADotStaysInRegistersOverTheLoop) {
  const char *source = R"(
@triton.jit
def kernel(a, b, c, n, B: tl.constexpr):
    i = tl.arange(0, B)
    acc = tl.zeros((B, B), tl.float32)
    p = i[:, None] * B + i[None, :]
    for k in range(n):
        acc = tl.dot(tl.load(a + p), tl.load(b + p), acc)
    tl.store(c + p, acc)
)";
  LoweredKernel kernel = lowerSource(source, "*fp32, *fp32, *fp32, i32, 64");
  ASSERT_EQ(kernel.error, "");
  // The sum with 8 rows of padding, 80 row addresses, a panel of b for 128 k, and 8 rows of zeros;
  // no tile of a.
  EXPECT_EQ(kernel.scratchBytes, 72u * 64 * 4 + 80 * 8 + 128 * 64 * 4 + 8 * 64 * 4);
  // One block of 4 rows and 4 vectors; whether it packs b is decided while it runs.
  EXPECT_EQ(countOf(kernel.loops, "math.fma"), 16u);
}

/// Lanes that take nothing in have a number, which LLVM cannot replace by one that is slow.
TEST(LowerStructure, ScansSelectNoLanesWhereAValueIsNeutral) {
  const std::string source = R"(
@triton.jit
def join(a, b):
    return OF
@triton.jit
def kernel(a):
    r = tl.arange(0, 64)
    tl.store(a + r, tl.associative_scan(tl.load(a + r), 0, join))
)";
  auto selectsOf = [&](const std::string &joined) {
    std::string own = source;
    LoweredKernel kernel = lowerSource(own.replace(own.find("OF"), 2, joined), "*fp32");
    EXPECT_EQ(kernel.error, "");
    return countOf(kernel.loops, "arith.select");
  };
  EXPECT_EQ(selectsOf("a * b"), 0u);
  EXPECT_EQ(selectsOf("tl.maximum(a, b)"), 0u);
  EXPECT_GT(selectsOf("a + b + 1"), 0u) << "nothing is neutral";
}

/// sum along both axes and an elementwise result of an M by N tile, masked to `n` columns.
std::string oddKernel(int m, int n) {
  std::string M = std::to_string(m), N = std::to_string(n), MN = M + "x" + N;
  std::string ptr = "!tile.ptr<f32>";
  std::string sum = R"({
  ^bb0(%a: f32, %b: f32):
    %q = arith.addf %a, %b : f32
    tile.combine_return %q : f32
  } : )";
  return "func.func @odd(%x: " + ptr + ", %o: " + ptr + ", %s: " + ptr + ", %t: " + ptr +
         ", %n: i32) attributes {tile.kernel} {\n"
         "  %r0 = tile.make_range 0 to " +
         M + " : tensor<" + M +
         "xi32>\n"
         "  %r1 = tile.expand_dims %r0, 1 : tensor<" +
         M + "xi32> -> tensor<" + M +
         "x1xi32>\n"
         "  %w = arith.constant dense<" +
         N + "> : tensor<" + M +
         "x1xi32>\n"
         "  %r2 = arith.muli %r1, %w : tensor<" +
         M +
         "x1xi32>\n"
         "  %r = tile.broadcast %r2 : tensor<" +
         M + "x1xi32> -> tensor<" + MN +
         "xi32>\n"
         "  %c0 = tile.make_range 0 to " +
         N + " : tensor<" + N +
         "xi32>\n"
         "  %c1 = tile.expand_dims %c0, 0 : tensor<" +
         N + "xi32> -> tensor<1x" + N +
         "xi32>\n"
         "  %c = tile.broadcast %c1 : tensor<1x" +
         N + "xi32> -> tensor<" + MN +
         "xi32>\n"
         "  %off = arith.addi %r, %c : tensor<" +
         MN +
         "xi32>\n"
         "  %ns = tile.splat %n : i32 -> tensor<" +
         MN +
         "xi32>\n"
         "  %m = arith.cmpi slt, %c, %ns : tensor<" +
         MN +
         "xi32>\n"
         "  %zero = arith.constant dense<2.0> : tensor<" +
         MN +
         "xf32>\n"
         "  %px = tile.splat %x : " +
         ptr + " -> tensor<" + MN + "x" + ptr +
         ">\n"
         "  %ax = tile.addptr %px, %off : tensor<" +
         MN + "x" + ptr + ">, tensor<" + MN +
         "xi32>\n"
         "  %v = tile.load %ax mask %m : tensor<" +
         MN + "xi1> other %zero : tensor<" + MN + "xf32> : tensor<" + MN + "x" + ptr +
         "> -> tensor<" + MN +
         "xf32>\n"
         "  %po = tile.splat %o : " +
         ptr + " -> tensor<" + MN + "x" + ptr +
         ">\n"
         "  %ao = tile.addptr %po, %off : tensor<" +
         MN + "x" + ptr + ">, tensor<" + MN +
         "xi32>\n"
         "  tile.store %ao, %v mask %m : tensor<" +
         MN + "xi1> : tensor<" + MN + "x" + ptr + ">, tensor<" + MN +
         "xf32>\n"
         "  %sv = tile.reduce %v axis 1 " +
         sum + "(tensor<" + MN + "xf32>) -> tensor<" + M +
         "xf32>\n"
         "  %ps = tile.splat %s : " +
         ptr + " -> tensor<" + M + "x" + ptr +
         ">\n"
         "  %as = tile.addptr %ps, %r0 : tensor<" +
         M + "x" + ptr + ">, tensor<" + M +
         "xi32>\n"
         "  tile.store %as, %sv : tensor<" +
         M + "x" + ptr + ">, tensor<" + M +
         "xf32>\n"
         "  %tv = tile.reduce %v axis 0 " +
         sum + "(tensor<" + MN + "xf32>) -> tensor<" + N +
         "xf32>\n"
         "  %pt = tile.splat %t : " +
         ptr + " -> tensor<" + N + "x" + ptr +
         ">\n"
         "  %at = tile.addptr %pt, %c0 : tensor<" +
         N + "x" + ptr + ">, tensor<" + N +
         "xi32>\n"
         "  tile.store %at, %tv : tensor<" +
         N + "x" + ptr + ">, tensor<" + N +
         "xf32>\n"
         "  func.return\n}\n";
}

TEST(LowerStructure, AnyTileSize) {
  for (int m : {1, 2, 3, 5, 33}) {
    for (int n : {1, 2, 3, 5, 20, 100}) {
      for (const std::string &architecture : runnableArchitectures()) {
        LoweredKernel kernel = lowerKernel(oddKernel(m, n), architecture);
        ASSERT_EQ(kernel.error, "") << m << "x" << n;
        for (int columns : {0, 1, n / 2, n}) {
          std::vector<float> x(m * n), out(m * n, -1), rows(m), cols(n);
          std::iota(x.begin(), x.end(), 1.0f);
          ASSERT_TRUE(kernel.launch({1, 1, 1},
                                    {address(x.data()), address(out.data()), address(rows.data()),
                                     address(cols.data()), number(columns)}))
              << m << "x" << n;
          std::vector<float> rowSums(m), columnSums(n);
          for (int i = 0; i < m; ++i) {
            for (int j = 0; j < n; ++j) {
              float value = j < columns ? x[i * n + j] : 2.0f;
              rowSums[i] += value;
              columnSums[j] += value;
              ASSERT_EQ(out[i * n + j], j < columns ? value : -1) << m << "x" << n;
            }
          }
          ASSERT_EQ(rows, rowSums) << architecture << " " << m << "x" << n << " " << columns;
          ASSERT_EQ(cols, columnSums) << architecture << " " << m << "x" << n << " " << columns;
        }
      }
    }
  }
}

TEST(LowerEffects, AssertsAndPrintsReachTheRuntime) {
  const char *source = R"(
@triton.jit
def kernel(x, n, BLOCK: tl.constexpr):
    o = tl.arange(0, BLOCK)
    v = tl.load(x + o)
    tl.device_print("value", v)
    tl.device_print("count", n)
    wide = tl.arange(0, 2)[:, None] * 16 + tl.arange(0, 16)[None, :] - 1
    tl.device_print("", wide.to(tl.uint8), n.to(tl.uint32))
    tl.device_print("hex: ", (n - 43).to(tl.int16), hex=True)
    tl.device_print("text alone")
    tl.device_print("true ", n == 42)
    tl.device_assert(v < 3, "too large")
)";
  LoweredKernel kernel = lowerSource(source, "*fp32, i32, 4");
  ASSERT_EQ(kernel.error, "");
  std::vector<float> x{0.5f, 1, 2, 7};
  testing::internal::CaptureStdout();
  testing::internal::CaptureStderr();
  EXPECT_TRUE(kernel.launch({1, 1, 1}, {address(x.data()), number(42)}));
  fflush(stdout);
  std::string printed = testing::internal::GetCapturedStdout();
  std::string failed = testing::internal::GetCapturedStderr();
  // Upstream's lines, of its tests and of the printf formats its compiler writes.
  EXPECT_EQ(countOf(printed, "\n"), 4u + 1 + 33 + 1 + 1 + 1) << printed;
  for (const char *line :
       {"pid (0, 0, 0) idx (0) value: 0.500000\n", "pid (0, 0, 0) idx (3) value: 7.000000\n",
        "pid (0, 0, 0) idx () count: 42\n", "pid (0, 0, 0) idx (0,  0): (operand 0) 255\n",
        "pid (0, 0, 0) idx (1, 15): (operand 0) 30\n", "pid (0, 0, 0) idx (): (operand 1) 42\n",
        "pid (0, 0, 0) idx () hex: 0xffff\n", "pid (0, 0, 0) text alone\n",
        "pid (0, 0, 0) idx () true: 1\n"}) {
    EXPECT_EQ(countOf(printed, line), 1u) << line << printed;
  }
  EXPECT_EQ(countOf(failed, "too large"), 1u) << failed;
}

TEST(LowerErrors, TooMuchScratchIsE0501) {
  const char *source = R"(
@triton.jit
def kernel(a, c, B: tl.constexpr):
    i = tl.arange(0, B)
    p = i[:, None] * B + i[None, :]
    x = tl.load(a + p)
    tl.store(c + p, tl.dot(x, x))
)";
  LoweredKernel kernel = lowerSource(source, "*fp32, *fp32, 128", "", {1000});
  EXPECT_NE(kernel.error.find("E0501"), std::string::npos) << kernel.error;
  EXPECT_NE(kernel.error.find("131072 bytes"), std::string::npos) << kernel.error;
  EXPECT_NE(kernel.error.find("128x128"), std::string::npos) << kernel.error;
}

/// All numbers behind "takes " or "take " in the notes.
static int64_t sumOfNotes(const std::string &text) {
  int64_t sum = 0;
  for (const char *word : {" takes ", " take "}) {
    for (size_t at = text.find(word); at != std::string::npos; at = text.find(word, at + 1)) {
      sum += std::stoll(text.substr(at + strlen(word)));
    }
  }
  return sum;
}

TEST(LowerErrors, TheNotesOfE0501AddUpToWhatIsNeeded) {
  // Scans of six lengths: each keeps its tile until the store behind all of them.
  const char *source = R"(
@triton.jit
def kernel(a):
    p = tl.cumsum(tl.load(a + tl.arange(0, 512)), 0)
    q = tl.cumsum(tl.load(a + tl.arange(0, 256)), 0)
    r = tl.cumsum(tl.load(a + tl.arange(0, 128)), 0)
    s = tl.cumsum(tl.load(a + tl.arange(0, 64)), 0)
    t = tl.cumsum(tl.load(a + tl.arange(0, 4)), 0)
    if tl.load(a) > 0:
        u = tl.cumsum(tl.load(a + tl.arange(0, 1024)), 0)
        tl.store(a + tl.arange(0, 1024), u)
    tl.store(a + tl.arange(0, 512), p)
    tl.store(a + tl.arange(0, 256), q)
    tl.store(a + tl.arange(0, 128), r)
    tl.store(a + tl.arange(0, 64), s)
    tl.store(a + tl.arange(0, 4), t)
)";
  LoweredKernel kernel = lowerSource(source, "*fp32", "", {1000});
  EXPECT_NE(kernel.error.find("a tile of 1024 elements takes 4096 bytes"), std::string::npos)
      << kernel.error;
  EXPECT_NE(kernel.error.find("the other "), std::string::npos) << kernel.error;
  const size_t need = kernel.error.find(" need ");
  ASSERT_NE(need, std::string::npos) << kernel.error;
  const int64_t needed = std::stoll(kernel.error.substr(need + 6));
  EXPECT_GE(needed, 4 * (512 + 256 + 128 + 64 + 1024) + 64);
  EXPECT_EQ(sumOfNotes(kernel.error), needed) << kernel.error;
}

TEST(LowerErrors, UnknownTypesAreE0301) {
  LoweredKernel kernel = lowerKernel(R"(
func.func @kernel(%x: i32) attributes {tile.kernel} {
  %0 = arith.trunci %x : i32 to i4
  func.return
})");
  EXPECT_NE(kernel.error.find("E0301"), std::string::npos) << kernel.error;
  EXPECT_NE(kernel.error.find("'arith.trunci'"), std::string::npos) << kernel.error;
  kernel = lowerKernel("func.func @nothing() { func.return }");
  EXPECT_NE(kernel.error.find("E0301"), std::string::npos) << kernel.error;
}

TEST(LowerErrors, TilesOfTooManyDimensionsNameTheirLine) {
  LoweredKernel kernel = lowerSource(R"(
@triton.jit
def kernel(x):
    o = tl.arange(0, 8)
    v = tl.load(x + o)
    w = tl.reshape(v, (2, 2, 2, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1)) + 1
    tl.store(x + o, tl.reshape(w, (8,)))
)",
                                     "*fp32");
  EXPECT_NE(kernel.error.find("at most 20 dimensions, but got 21"), std::string::npos)
      << kernel.error;
  EXPECT_NE(kernel.error.find(":6:"), std::string::npos) << kernel.error;
}

TEST(LowerRobust, LongChainsDoNotExhaustTheStack) {
  std::string text = "func.func @kernel(%p: !tile.ptr<f32>) attributes {tile.kernel} {\n"
                     "  %r = tile.make_range 0 to 64 : tensor<64xi32>\n"
                     "  %s = tile.splat %p : !tile.ptr<f32> -> tensor<64x!tile.ptr<f32>>\n"
                     "  %a = tile.addptr %s, %r : tensor<64x!tile.ptr<f32>>, tensor<64xi32>\n"
                     "  %v0 = tile.load %a : tensor<64x!tile.ptr<f32>> -> tensor<64xf32>\n";
  const int steps = 5000;
  for (int i = 0; i < steps; ++i) {
    text += "  %v" + std::to_string(i + 1) + " = arith.addf %v" + std::to_string(i) + ", %v" +
            std::to_string(i) + " : tensor<64xf32>\n";
  }
  text += "  tile.store %a, %v" + std::to_string(steps) +
          " : tensor<64x!tile.ptr<f32>>, tensor<64xf32>\n  func.return\n}\n";
  LoweredKernel kernel = lowerKernel(text);
  ASSERT_EQ(kernel.error, "");
  std::vector<float> x(64, 0.0f);
  x[3] = -1;
  EXPECT_TRUE(kernel.launch({1, 1, 1}, {address(x.data())}));
  EXPECT_EQ(x[0], 0.0f);
  EXPECT_TRUE(std::isinf(x[3]));
}

} // namespace
