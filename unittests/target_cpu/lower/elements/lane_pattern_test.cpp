// SPDX-License-Identifier: Apache-2.0
// Loads whose lanes stand at places that the program's text decides: against the interpreter on
// every vector width, against sums written out here, and beside pages that must not be touched.
#include "unittests/target_cpu/LowerHarness.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <sys/mman.h>

using namespace nereid;
using namespace nereid::cpu::test;
using runtime::Tensor;

namespace {

/// y[i] = x[INDEX of i] for i below n, else other.
std::string sourceFor(const std::string &index) {
  return fmt::format(R"(
@triton.jit
def kernel(x, y, n, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    v = tl.load(x + {}, mask=i < n, other=-3.0)
    tl.store(y + i, v)
)",
                     index);
}

struct Pattern {
  const char *index;
  int64_t (*at)(int64_t);
};

const Pattern patterns[] = {
    {"2 * i + 1", [](int64_t i) { return 2 * i + 1; }},
    {"3 * i", [](int64_t i) { return 3 * i; }}, // too far apart for two vectors
    {"i // 2", [](int64_t i) { return i / 2; }},
    {"i // 4 * 4 + 3", [](int64_t i) { return i / 4 * 4 + 3; }},
    {"i // 8 * 4", [](int64_t i) { return i / 8 * 4; }},
    {"i // 4 + i % 4", [](int64_t i) { return i / 4 + i % 4; }},
    {"i % 4", [](int64_t i) { return i % 4; }},
    {"(i + 1) // 4", [](int64_t i) { return (i + 1) / 4; }}, // groups that no vector starts with
    {"i // 3", [](int64_t i) { return i / 3; }},
    {"(i - 64) // 4 + 16", [](int64_t i) { return (i - 64) / 4 + 16; }}, // rounds towards zero
};

TEST(LanePattern, EveryLaneReadsItsElement) {
  for (const Pattern &pattern : patterns) {
    for (int64_t n : {0, 33, 128}) {
      Tensor x = randomTensor({500}, DType::F32, 1), y = randomTensor({128}, DType::F32, 2);
      Arguments arguments = {&x, &y, n};
      std::vector<Tensor> results;
      ASSERT_EQ(compareWithOracle(sourceFor(pattern.index), "x=*fp32, y=*fp32, n=i32, BLOCK=64",
                                  {2, 1, 1}, arguments, 0, &results),
                "")
          << pattern.index << " n " << n;
      for (int64_t i = 0; i < 128; ++i) {
        ASSERT_EQ(results[1].at(i), i < n ? x.at(pattern.at(i)) : -3.0) << pattern.index << i;
      }
    }
  }
}

TEST(LanePattern, OtherTypesToo) {
  for (const char *type : {"fp64", "i32", "i64", "fp16", "i8"}) {
    DType dtype = *parseDType(type);
    Tensor x = randomTensor({500}, dtype, 1), y = randomTensor({128}, dtype, 2);
    Arguments arguments = {&x, &y, int64_t{77}};
    for (const char *index : {"2 * i + 1", "i // 4 * 4 + 3"}) {
      EXPECT_EQ(compareWithOracle(sourceFor(index),
                                  fmt::format("x=*{0}, y=*{0}, n=i32, BLOCK=64", type), {2, 1, 1},
                                  arguments, 0),
                "")
          << type << " " << index;
    }
  }
}

TEST(LanePattern, NothingElseIsTouched) {
  constexpr size_t page = 4096;
  auto *pages =
      static_cast<char *>(mmap(nullptr, 3 * page, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0));
  ASSERT_NE(pages, MAP_FAILED);
  ASSERT_EQ(mprotect(pages + page, page, PROT_READ | PROT_WRITE), 0);
  auto *floats = reinterpret_cast<float *>(pages + page);
  for (size_t i = 0; i < page / 4; ++i) {
    floats[i] = static_cast<float>(i);
  }
  std::vector<float> y(64);
  for (const std::string &architecture : runnableArchitectures()) {
    for (const Pattern &pattern : patterns) {
      LoweredKernel kernel =
          lowerSource(sourceFor(pattern.index), "x=*fp32, y=*fp32, n=i32, BLOCK=64", architecture);
      ASSERT_EQ(kernel.error, "");
      for (int64_t n : {1, 7, 16, 40, 64}) {
        int64_t last = 0;
        for (int64_t i = 0; i < n; ++i) {
          last = std::max(last, pattern.at(i));
        }
        const float *x = floats + page / 4 - 1 - last; // its last element ends the page
        ASSERT_TRUE(kernel.launch({1, 1, 1}, {address(x), address(y.data()), number(n)}));
        for (int64_t i = 0; i < 64; ++i) {
          ASSERT_EQ(y[i], i < n ? x[pattern.at(i)] : -3.0F) << pattern.index << " " << i;
        }
      }
    }
  }
  munmap(pages, 3 * page);
}

TEST(LanePattern, NeighboursTakeThePlaceOfGathers) {
  for (const char *index : {"2 * i + 1", "i // 4 * 4 + 3", "i // 2"}) {
    LoweredKernel kernel =
        lowerSource(sourceFor(index), "x=*fp32, y=*fp32, n=i32, BLOCK=64", "x86-64-v4");
    ASSERT_EQ(kernel.error, "");
    EXPECT_EQ(kernel.loops.find("gather"), std::string::npos) << index << kernel.loops;
    EXPECT_NE(kernel.loops.find("vector.shuffle"), std::string::npos) << index;
  }
}

/// Rows that a mask turns off as a whole may lie where no memory is: masked loads from there are
/// slow on some processors, so that they read somewhere else.
TEST(LanePattern, RowsThatAreOffHaveAnAddressThatExists) {
  const char *source = R"(
@triton.jit
def kernel(x, y, row, n, BLOCK: tl.constexpr):
    i = tl.arange(0, BLOCK)
    v = tl.load(x + row * n + i, mask=(row >= 0) & (i < n), other=0.0)
    tl.store(y + i, v, mask=i < n)
)";
  LoweredKernel kernel =
      lowerSource(source, "x=*fp32, y=*fp32, row=i32, n=i32, BLOCK=64", "x86-64-v4");
  ASSERT_EQ(kernel.error, "");
  EXPECT_NE(kernel.loops.find("!llvm.ptr"), std::string::npos);
  EXPECT_NE(kernel.loops.find("arith.select"), std::string::npos) << kernel.loops;
  std::vector<float> x(64, 5.0F), y(64, 1.0F);
  ASSERT_TRUE(kernel.launch(
      {1, 1, 1}, {address(x.data()), address(y.data()), number(-1000000000), number(40)}));
  EXPECT_EQ(y[0], 0.0F);
  EXPECT_EQ(y[39], 0.0F);
  EXPECT_EQ(y[40], 1.0F);
}

} // namespace
