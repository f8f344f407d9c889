// SPDX-License-Identifier: Apache-2.0
// Rows prefetched while the row before them is computed: which, beside what, and how far ahead.
#include "unittests/target_cpu/LowerHarness.h"

#include <gtest/gtest.h>

using namespace nereid;
using namespace nereid::cpu::test;

namespace {

/// The exponentials of a row around its maximum, and what `last` does with them.
std::string rowsOfExponentials(const std::string &last) {
  return R"(
@triton.jit
def kernel(out, x, first, last, stride, BLOCK: tl.constexpr):
    o = tl.arange(0, BLOCK)
    for row in range(first, last):
        v = tl.load(x + row * stride + o)
        e = tl.exp(v - tl.max(v, axis=0))
        )" +
         last + "\n";
}

constexpr const char *softmax = "tl.store(out + row * stride + o, e / tl.sum(e, axis=0))";

TEST(PrefetchNext, NextRowIsPrefetchedWhileThisOneComputes) {
  LoweredKernel kernel =
      lowerSource(rowsOfExponentials(softmax), "*fp32, *fp32, i32, i32, i32, 1024");
  ASSERT_EQ(kernel.error, "");
  // A quarter of the lines in the loop with the exponentials, the others in the loop that stores.
  EXPECT_GE(countOf(kernel.loops, "llvm.intr.prefetch"), 2u);
  size_t exponentials = kernel.loops.find("math.exp");
  size_t first = kernel.loops.find("llvm.intr.prefetch");
  EXPECT_GT(first, kernel.loops.find("maxnumf"));
  EXPECT_LT(first, exponentials);
  size_t last = kernel.loops.rfind("llvm.intr.prefetch");
  EXPECT_GT(last, exponentials);
  EXPECT_LT(last, kernel.loops.rfind("llvm.store"));
}

TEST(PrefetchNext, NothingIsPrefetchedWithoutASecondLoopOrWithoutARow) {
  const char *oneLoop = R"(
@triton.jit
def kernel(out, x, first, last, stride, BLOCK: tl.constexpr):
    o = tl.arange(0, BLOCK)
    for row in range(first, last):
        tl.store(out + row * stride + o, tl.exp(tl.load(x + row * stride + o)))
)";
  EXPECT_EQ(countOf(lowerSource(oneLoop, "*fp32, *fp32, i32, i32, i32, 1024").loops, "prefetch"),
            0u);
  const char *sameRow = R"(
@triton.jit
def kernel(out, x, first, last, stride, BLOCK: tl.constexpr):
    o = tl.arange(0, BLOCK)
    for row in range(first, last):
        v = tl.load(x + o)
        e = tl.exp(v - tl.max(v, axis=0))
        tl.store(out + row * stride + o, e / tl.sum(e, axis=0))
)";
  EXPECT_EQ(countOf(lowerSource(sameRow, "*fp32, *fp32, i32, i32, i32, 1024").loops, "prefetch"),
            0u);
}

/// Rows of 512 bytes, four at a time: the four streams are prefetched four steps ahead, a line of
/// each beside a vector's exponentials.
TEST(PrefetchNext, ShortRowsArePrefetchedFarAhead) {
  const char *source = R"(
@triton.jit
def kernel(out, x, stride, n, BLOCK: tl.constexpr):
    row = tl.program_id(0)
    o = tl.arange(0, BLOCK)
    v = tl.load(x + row * stride + o, mask=o < n, other=-float('inf'))
    top = tl.max(v, axis=0)
    tl.store(out + row, top + tl.log(tl.sum(tl.exp(v - top), axis=0)))
)";
  const std::string loops = lowerSource(source, "*fp32, *fp32, i32, i32, 128", "x86-64-v4").loops;
  const size_t prefetch = loops.find("prefetch"), exponentials = loops.find("math.exp");
  EXPECT_LT(prefetch, exponentials);
  EXPECT_GT(prefetch, loops.rfind("scf.for", exponentials));
  EXPECT_EQ(countOf(loops.substr(0, exponentials), "prefetch"), 4u);
  EXPECT_LT(loops.find("constant 4 : i32"), prefetch);
}

/// Rows that are only read and fit twice are prefetched 4 KiB ahead of the same place in the next
/// row, and the beginning of the row behind it at the end; others at the same place.
TEST(PrefetchNext, EndsOfRowsThatAreOnlyReadArePrefetchedSooner) {
  auto prefetched = [](const std::string &last, const std::string &columns) {
    LoweredKernel kernel = lowerSource(rowsOfExponentials(last),
                                       "*fp32, *fp32, i32, i32, i32, " + columns, "x86-64-v4");
    EXPECT_EQ(kernel.error, "");
    const size_t at = kernel.loops.find("llvm.intr.prefetch");
    EXPECT_NE(at, std::string::npos);
    const size_t loop = kernel.loops.rfind("scf.for", at);
    return kernel.loops.substr(loop, at - loop);
  };
  const std::string lead = "arith.constant 1024 : i64", wraps = "arith.cmpi sge";
  const std::string onlyRead = prefetched("tl.store(out + row, tl.sum(e, axis=0))", "4096");
  EXPECT_EQ(countOf(onlyRead, lead), 1u);
  EXPECT_EQ(countOf(onlyRead, wraps), 1u);
  const std::string stored = prefetched(softmax, "4096");
  EXPECT_EQ(countOf(stored, lead), 0u);
  EXPECT_EQ(countOf(stored, wraps), 0u);
  const std::string tooLong = prefetched("tl.store(out + row, tl.sum(e, axis=0))", "8192");
  EXPECT_EQ(countOf(tooLong, lead), 0u);
}

/// A row walked in blocks twice: the next row's blocks are prefetched beside the second walk, a
/// line for each vector. A walk in other blocks takes none.
TEST(PrefetchNext, BlocksOfTheNextRowArePrefetched) {
  auto prefetches = [](const std::string &step) {
    const std::string source = R"(
@triton.jit
def kernel(out, x, stride, n, BLOCK: tl.constexpr):
    row = tl.program_id(0)
    o = tl.arange(0, BLOCK)
    total = tl.zeros((BLOCK,), dtype=tl.float32)
    for at in range(0, n, BLOCK):
        total += tl.load(x + row * stride + at + o, mask=at + o < n, other=0)
    mean = tl.sum(total, axis=0)
    for at in range(0, n, )" + step +
                               R"():
        v = tl.load(x + row * stride + at + o, mask=at + o < n, other=0)
        tl.store(out + row * stride + at + o, v - mean, mask=at + o < n)
)";
    LoweredKernel kernel = lowerSource(source, "*fp32, *fp32, i32, i32, 512", "x86-64-v4");
    EXPECT_EQ(kernel.error, "");
    return countOf(kernel.loops, "prefetch");
  };
  EXPECT_EQ(prefetches("BLOCK"), 4u);
  EXPECT_EQ(prefetches("BLOCK * 2"), 0u);
}

} // namespace
