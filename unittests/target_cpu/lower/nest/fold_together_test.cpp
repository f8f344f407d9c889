// SPDX-License-Identifier: Apache-2.0
// Several reductions of one loop: their lanes folded together, and logarithms of their results in
// one vector; against sequential computations in plain C++.
#include "unittests/target_cpu/LowerHarness.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>

using namespace nereid;
using namespace nereid::cpu::test;

namespace {

LoweredKernel lower(const std::string &body, const std::string &architecture = "x86-64-v4",
                    const std::string &signature = "*fp32, *fp32, i32, 64") {
  return lowerSource("\n@triton.jit\ndef kernel(out, x, n, BLOCK: tl.constexpr):\n"
                     "    o = tl.arange(0, BLOCK)\n" +
                         body,
                     signature, architecture);
}

/// `count` rows of 64, each reduced by the operation, stored one behind the other.
std::string rowsOf(int count, const std::string &operation) {
  std::string body;
  for (int row = 0; row < count; ++row) {
    const std::string number = std::to_string(row);
    body += "    r" + number + " = " + operation + "(tl.load(x + " + number +
            " * BLOCK + o), axis=0)\n";
  }
  for (int row = 0; row < count; ++row) {
    const std::string number = std::to_string(row);
    body += "    tl.store(out + " + number + ", r" + number + ")\n";
  }
  return body;
}

TEST(FoldTogether, RowsOfEveryNumberOnEveryMachine) {
  for (const std::string &architecture : runnableArchitectures()) {
    for (int count : {1, 2, 3, 4, 5, 7, 8}) {
      std::vector<float> x(static_cast<size_t>(count) * 64);
      for (size_t i = 0; i < x.size(); ++i) {
        x[i] = static_cast<float>(i * 37 % 101) - 50; // sums are exact
      }
      for (const char *operation : {"tl.sum", "tl.max", "tl.min"}) {
        LoweredKernel kernel = lower(rowsOf(count, operation), architecture);
        ASSERT_EQ(kernel.error, "");
        std::vector<float> out(static_cast<size_t>(count), -1000);
        ASSERT_TRUE(kernel.launch({1, 1, 1}, {address(out.data()), address(x.data()), number(0)}));
        for (int row = 0; row < count; ++row) {
          const float *first = x.data() + static_cast<ptrdiff_t>(row) * 64, *last = first + 64;
          float sum = 0;
          std::for_each(first, last, [&](float value) { sum += value; });
          const float expected = operation == std::string("tl.sum") ? sum
                                 : operation == std::string("tl.max")
                                     ? *std::max_element(first, last)
                                     : *std::min_element(first, last);
          EXPECT_EQ(out[row], expected)
              << operation << ", row " << row << " of " << count << ", " << architecture;
        }
      }
    }
  }
}

/// Two sums, a maximum between them, and a sum of integers: what differs stays apart.
TEST(FoldTogether, OnlyWhatIsCombinedAlike) {
  const std::string body = "    v = tl.load(x + o)\n"
                           "    a = tl.sum(v, axis=0)\n"
                           "    b = tl.max(v, axis=0)\n"
                           "    c = tl.sum(v * v, axis=0)\n"
                           "    d = tl.sum(v.to(tl.int32) + 1, axis=0)\n"
                           "    tl.store(out, a)\n    tl.store(out + 1, b)\n"
                           "    tl.store(out + 2, c)\n    tl.store(out + 3, d)\n";
  for (const std::string &architecture : runnableArchitectures()) {
    LoweredKernel kernel = lower(body, architecture);
    ASSERT_EQ(kernel.error, "");
    std::vector<float> x(64), out(4);
    float sum = 0, largest = -100, squares = 0;
    for (size_t i = 0; i < 64; ++i) {
      x[i] = static_cast<float>(i * 13 % 37) - 20;
      sum += x[i];
      squares += x[i] * x[i];
      largest = std::max(largest, x[i]);
    }
    ASSERT_TRUE(kernel.launch({1, 1, 1}, {address(out.data()), address(x.data()), number(0)}));
    EXPECT_EQ(out, (std::vector<float>{sum, largest, squares, sum + 64})) << architecture;
  }
}

/// Of four rows: two steps from four vectors to one take two shuffles for each result, two steps
/// within it one.
TEST(FoldTogether, FourRowsShareTheirShuffles) {
  const std::string loops = lower(rowsOf(4, "tl.max")).loops;
  EXPECT_EQ(countOf(loops, "vector.extract"), 4u);
  EXPECT_EQ(countOf(loops, "vector.shuffle"), 2u * 3 + 2);
  EXPECT_EQ(countOf(loops, "vector<8xf32>") + countOf(loops, "vector<4xf32>"), 0u);
}

std::string logarithms(const std::string &second) {
  return "    a = tl.load(x)\n    b = tl.load(x + 1)\n    c = tl.load(x + 2)\n"
         "    d = tl.load(x + 3)\n    e = tl.load(x + 4)\n"
         "    la = tl.log(a)\n    lb = tl.log(" +
         second +
         ")\n    lc = tl.log(c)\n    ld = tl.log(d)\n    le = tl.log(e)\n"
         "    tl.store(out, la)\n    tl.store(out + 1, lb)\n    tl.store(out + 2, lc)\n"
         "    tl.store(out + 3, ld)\n    tl.store(out + 4, le)\n";
}

TEST(PackScalars, ResultsOnEveryMachine) {
  for (const std::string &architecture : runnableArchitectures()) {
    for (const char *second : {"b", "la", "la * la"}) {
      LoweredKernel kernel = lower(logarithms(second), architecture);
      ASSERT_EQ(kernel.error, "");
      const std::vector<float> x{3.5f, 0.25f, 0.0f, 1e-40f, std::numeric_limits<float>::infinity()};
      std::vector<float> out(5);
      ASSERT_TRUE(kernel.launch({1, 1, 1}, {address(out.data()), address(x.data()), number(0)}));
      const double la = std::log(3.5);
      const double of = second == std::string("b")    ? 0.25
                        : second == std::string("la") ? la
                                                      : la * la;
      EXPECT_NEAR(out[0], la, 1e-6);
      EXPECT_NEAR(out[1], std::log(of), 1e-6) << second << ", " << architecture;
      EXPECT_EQ(out[2], -std::numeric_limits<float>::infinity());
      EXPECT_NEAR(out[3], std::log(1e-40), 1e-4);
      EXPECT_EQ(out[4], std::numeric_limits<float>::infinity());
    }
  }
}

} // namespace
