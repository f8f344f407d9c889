// SPDX-License-Identifier: Apache-2.0
// Tiles of every kind that live through loops and branches, operations with two results, tiles
// without dimensions, and scratch memory that serves one tile after another.
#include "unittests/target_cpu/LowerHarness.h"

#include <gtest/gtest.h>

#include <bit>
#include <functional>
#include <random>

using namespace nereid;
using namespace nereid::cpu::test;

namespace {

void runEverywhere(const std::string &text, const std::vector<uint64_t> &slots,
                   const std::function<void()> &check) {
  for (const std::string &architecture : runnableArchitectures()) {
    LoweredKernel kernel = lowerKernel(text, architecture);
    ASSERT_EQ(kernel.error, "");
    ASSERT_TRUE(kernel.launch({1, 1, 1}, slots));
    check();
  }
}

/// %x and %o: 32 addresses each, %v the numbers at %x.
const std::string head = R"(
func.func @kernel(%xp: !tile.ptr<i32>, %op: !tile.ptr<i32>, %n: i32) attributes {tile.kernel} {
  %r = tile.make_range 0 to 32 : tensor<32xi32>
  %xs = tile.splat %xp : !tile.ptr<i32> -> tensor<32x!tile.ptr<i32>>
  %x = tile.addptr %xs, %r : tensor<32x!tile.ptr<i32>>, tensor<32xi32>
  %os = tile.splat %op : !tile.ptr<i32> -> tensor<32x!tile.ptr<i32>>
  %o = tile.addptr %os, %r : tensor<32x!tile.ptr<i32>>, tensor<32xi32>
  %v = tile.load %x : tensor<32x!tile.ptr<i32>> -> tensor<32xi32>
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %c3 = arith.constant 3 : i32
  %zeros = arith.constant dense<0> : tensor<32xi32>
  %ones = arith.constant dense<1> : tensor<32xi32>
)";
const std::string tail = R"(
  tile.store %o, %result : tensor<32x!tile.ptr<i32>>, tensor<32xi32>
  func.return
})";

std::vector<int32_t> counting() {
  std::vector<int32_t> x(256);
  for (int i = 0; i < 256; ++i) {
    x[i] = (i * 37) % 101 - 50;
  }
  return x;
}

TEST(LowerState, AnInnerLoopStartsFromTheSameTileEveryTime) {
  std::vector<int32_t> x = counting(), out(32), want(32);
  // for i < n: a = v; for j < 3: a += v + i; sum += a
  runEverywhere(head + R"(
  %result = scf.for %i = %c0 to %n step %c1 iter_args(%sum = %zeros) -> (tensor<32xi32>) : i32 {
    %is = tile.splat %i : i32 -> tensor<32xi32>
    %a = scf.for %j = %c0 to %c3 step %c1 iter_args(%a0 = %v) -> (tensor<32xi32>) : i32 {
      %double = arith.muli %a0, %ones : tensor<32xi32>
      %t = arith.addi %double, %is : tensor<32xi32>
      %u = arith.muli %t, %t : tensor<32xi32>
      scf.yield %u : tensor<32xi32>
    }
    %next = arith.addi %sum, %a : tensor<32xi32>
    scf.yield %next : tensor<32xi32>
  }
)" + tail,
                {address(x.data()), address(out.data()), number(4)}, [&] {
                  for (int k = 0; k < 32; ++k) {
                    uint32_t sum = 0;
                    for (uint32_t i = 0; i < 4; ++i) {
                      auto a = static_cast<uint32_t>(x[k]);
                      for (int j = 0; j < 3; ++j) {
                        a = (a + i) * (a + i);
                      }
                      sum += a;
                    }
                    want[k] = static_cast<int32_t>(sum);
                  }
                  ASSERT_EQ(out, want);
                });
}

TEST(LowerState, AddressesThroughABranchAndALoop) {
  std::vector<int32_t> x = counting(), out(32), want(32);
  for (int64_t n : {0, 1, 5}) {
    runEverywhere(head + R"(
  %odd = arith.cmpi eq, %n, %c1 : i32
  %start = scf.if %odd -> (tensor<32x!tile.ptr<i32>>) {
    %shifted = tile.addptr %x, %ones : tensor<32x!tile.ptr<i32>>, tensor<32xi32>
    scf.yield %shifted : tensor<32x!tile.ptr<i32>>
  } else {
    scf.yield %x : tensor<32x!tile.ptr<i32>>
  }
  %p, %result = scf.for %i = %c0 to %n step %c1 iter_args(%q = %start, %s = %v)
      -> (tensor<32x!tile.ptr<i32>>, tensor<32xi32>) : i32 {
    %e = tile.load %q : tensor<32x!tile.ptr<i32>> -> tensor<32xi32>
    %t = arith.addi %s, %e : tensor<32xi32>
    %even = arith.andi %r, %ones : tensor<32xi32>
    %next = tile.addptr %q, %even : tensor<32x!tile.ptr<i32>>, tensor<32xi32>
    scf.yield %next, %t : tensor<32x!tile.ptr<i32>>, tensor<32xi32>
  }
)" + tail,
                  {address(x.data()), address(out.data()), number(n)}, [&] {
                    for (int k = 0; k < 32; ++k) {
                      int at = k + (n == 1 ? 1 : 0);
                      want[k] = x[k];
                      for (int i = 0; i < n; ++i) {
                        want[k] += x[at];
                        at += k & 1;
                      }
                    }
                    ASSERT_EQ(out, want) << n;
                  });
  }
}

TEST(LowerState, BooleansThroughAWhileLoop) {
  // Halves what is larger than n until nothing is; remembers which ever were.
  std::vector<int32_t> x = counting(), out(32), want(32);
  for (int32_t n : {3, 40, 100}) {
    runEverywhere(head + R"(
  %ns = tile.splat %n : i32 -> tensor<32xi32>
  %none = arith.constant dense<false> : tensor<32xi1>
  %last, %ever = scf.while (%a = %v, %m = %none)
      : (tensor<32xi32>, tensor<32xi1>) -> (tensor<32xi32>, tensor<32xi1>) {
    %over = arith.cmpi sgt, %a, %ns : tensor<32xi32>
    %number = arith.extui %over : tensor<32xi1> to tensor<32xi32>
    %any = tile.reduce %number axis 0 {
    ^bb0(%p: i32, %q: i32):
      %t = arith.ori %p, %q : i32
      tile.combine_return %t : i32
    } : (tensor<32xi32>) -> i32
    %more = arith.cmpi ne, %any, %c0 : i32
    scf.condition(%more) %a, %m : tensor<32xi32>, tensor<32xi1>
  } do {
  ^bb0(%a: tensor<32xi32>, %m: tensor<32xi1>):
    %over = arith.cmpi sgt, %a, %ns : tensor<32xi32>
    %half = arith.shrsi %a, %ones : tensor<32xi32>
    %next = arith.select %over, %half, %a : tensor<32xi1>, tensor<32xi32>
    %seen = arith.ori %m, %over : tensor<32xi1>
    scf.yield %next, %seen : tensor<32xi32>, tensor<32xi1>
  }
  %flag = arith.extui %ever : tensor<32xi1> to tensor<32xi32>
  %twice = arith.addi %last, %last : tensor<32xi32>
  %result = arith.addi %twice, %flag : tensor<32xi32>
)" + tail,
                  {address(x.data()), address(out.data()), number(n)}, [&] {
                    for (int k = 0; k < 32; ++k) {
                      int32_t a = x[k];
                      while (a > n) {
                        a >>= 1;
                      }
                      want[k] = 2 * a + (x[k] > n ? 1 : 0);
                    }
                    ASSERT_EQ(out, want) << n;
                  });
  }
}

TEST(LowerState, ShapesOfRankFive) {
  // x[a,b,c] over 2x4x4 -> permuted to [c,a,b], repeated over two new dimensions, summed over them.
  std::vector<int32_t> x = counting(), out(32), want(32);
  runEverywhere(head + R"(
  %cube = tile.reshape %v : tensor<32xi32> -> tensor<2x4x4xi32>
  %turned = tile.trans %cube, [2, 0, 1] : tensor<2x4x4xi32> -> tensor<4x2x4xi32>
  %four = tile.expand_dims %turned, 1 : tensor<4x2x4xi32> -> tensor<4x1x2x4xi32>
  %five = tile.expand_dims %four, 4 : tensor<4x1x2x4xi32> -> tensor<4x1x2x4x1xi32>
  %wide = tile.broadcast %five : tensor<4x1x2x4x1xi32> -> tensor<4x3x2x4x2xi32>
  %back = tile.trans %wide, [4, 2, 0, 3, 1] : tensor<4x3x2x4x2xi32> -> tensor<2x2x4x4x3xi32>
  %less = tile.reduce %back axis 0 {
  ^bb0(%p: i32, %q: i32):
    %t = arith.addi %p, %q : i32
    tile.combine_return %t : i32
  } : (tensor<2x2x4x4x3xi32>) -> tensor<2x4x4x3xi32>
  %least = tile.reduce %less axis 3 {
  ^bb0(%p: i32, %q: i32):
    %t = arith.addi %p, %q : i32
    tile.combine_return %t : i32
  } : (tensor<2x4x4x3xi32>) -> tensor<2x4x4xi32>
  %result = tile.reshape %least : tensor<2x4x4xi32> -> tensor<32xi32>
)" + tail,
                {address(x.data()), address(out.data()), number(0)}, [&] {
                  for (int a = 0; a < 2; ++a) {
                    for (int c = 0; c < 4; ++c) {
                      for (int b = 0; b < 4; ++b) {
                        want[a * 16 + c * 4 + b] = 6 * x[a * 16 + b * 4 + c];
                      }
                    }
                  }
                  ASSERT_EQ(out, want);
                });
}

TEST(LowerState, TilesWithoutDimensions) {
  std::vector<int32_t> x = counting(), out(32);
  runEverywhere(head + R"(
  %p = tile.splat %xp : !tile.ptr<i32> -> tensor<!tile.ptr<i32>>
  %a = tile.load %p : tensor<!tile.ptr<i32>> -> tensor<i32>
  %start = tile.splat %n : i32 -> tensor<i32>
  %sum = scf.for %i = %c0 to %c3 step %c1 iter_args(%s = %start) -> (tensor<i32>) : i32 {
    %t = arith.addi %s, %a : tensor<i32>
    scf.yield %t : tensor<i32>
  }
  %one = tile.expand_dims %sum, 0 : tensor<i32> -> tensor<1xi32>
  %all = tile.broadcast %one : tensor<1xi32> -> tensor<32xi32>
  %scalar = tile.unsplat %sum : tensor<i32> -> i32
  %again = tile.splat %scalar : i32 -> tensor<32xi32>
  %result = arith.addi %all, %again : tensor<32xi32>
)" + tail,
                {address(x.data()), address(out.data()), number(1000)},
                [&] { ASSERT_EQ(out, std::vector<int32_t>(32, 2 * (1000 + 3 * x[0]))); });
}

TEST(LowerState, OperationsWithTwoResults) {
  std::mt19937_64 random(3);
  std::vector<int64_t> x(64), y(64), low(64), signedHigh(64), high(64), bits(64);
  for (int i = 0; i < 64; ++i) {
    x[i] = static_cast<int64_t>(random());
    y[i] = static_cast<int64_t>(random() >> (i % 64));
  }
  x[0] = y[0] = INT64_MIN;
  x[1] = 0;
  runEverywhere(R"(
func.func @kernel(%xp: !tile.ptr<i64>, %yp: !tile.ptr<i64>, %lp: !tile.ptr<i64>,
                  %sp: !tile.ptr<i64>, %up: !tile.ptr<i64>, %bp: !tile.ptr<i64>)
    attributes {tile.kernel} {
  %r = tile.make_range 0 to 64 : tensor<64xi32>
  %xs = tile.splat %xp : !tile.ptr<i64> -> tensor<64x!tile.ptr<i64>>
  %ys = tile.splat %yp : !tile.ptr<i64> -> tensor<64x!tile.ptr<i64>>
  %ls = tile.splat %lp : !tile.ptr<i64> -> tensor<64x!tile.ptr<i64>>
  %ss = tile.splat %sp : !tile.ptr<i64> -> tensor<64x!tile.ptr<i64>>
  %us = tile.splat %up : !tile.ptr<i64> -> tensor<64x!tile.ptr<i64>>
  %bs = tile.splat %bp : !tile.ptr<i64> -> tensor<64x!tile.ptr<i64>>
  %xa = tile.addptr %xs, %r : tensor<64x!tile.ptr<i64>>, tensor<64xi32>
  %ya = tile.addptr %ys, %r : tensor<64x!tile.ptr<i64>>, tensor<64xi32>
  %la = tile.addptr %ls, %r : tensor<64x!tile.ptr<i64>>, tensor<64xi32>
  %sa = tile.addptr %ss, %r : tensor<64x!tile.ptr<i64>>, tensor<64xi32>
  %ua = tile.addptr %us, %r : tensor<64x!tile.ptr<i64>>, tensor<64xi32>
  %ba = tile.addptr %bs, %r : tensor<64x!tile.ptr<i64>>, tensor<64xi32>
  %x = tile.load %xa : tensor<64x!tile.ptr<i64>> -> tensor<64xi64>
  %y = tile.load %ya : tensor<64x!tile.ptr<i64>> -> tensor<64xi64>
  %l, %s = arith.mulsi_extended %x, %y : tensor<64xi64>
  %m, %u = arith.mului_extended %x, %y : tensor<64xi64>
  tile.store %la, %l : tensor<64x!tile.ptr<i64>>, tensor<64xi64>
  tile.store %sa, %s : tensor<64x!tile.ptr<i64>>, tensor<64xi64>
  tile.store %ua, %u : tensor<64x!tile.ptr<i64>>, tensor<64xi64>
  %set = math.ctpop %y : tensor<64xi64>
  %leading = math.ctlz %y : tensor<64xi64>
  %trailing = math.cttz %y : tensor<64xi64>
  %hundred = arith.constant dense<100> : tensor<64xi64>
  %b1 = arith.muli %set, %hundred : tensor<64xi64>
  %b2 = arith.addi %b1, %leading : tensor<64xi64>
  %b3 = arith.muli %b2, %hundred : tensor<64xi64>
  %b4 = arith.addi %b3, %trailing : tensor<64xi64>
  tile.store %ba, %b4 : tensor<64x!tile.ptr<i64>>, tensor<64xi64>
  func.return
})",
                {address(x.data()), address(y.data()), address(low.data()),
                 address(signedHigh.data()), address(high.data()), address(bits.data())},
                [&] {
                  for (int i = 0; i < 64; ++i) {
                    auto a = static_cast<uint64_t>(x[i]), b = static_cast<uint64_t>(y[i]);
                    ASSERT_EQ(low[i], static_cast<int64_t>(a * b));
                    ASSERT_EQ(signedHigh[i],
                              static_cast<int64_t>((static_cast<__int128>(x[i]) * y[i]) >> 64));
                    ASSERT_EQ(high[i],
                              static_cast<int64_t>((static_cast<unsigned __int128>(a) * b) >> 64));
                    ASSERT_EQ(bits[i], (std::popcount(b) * 100 + std::countl_zero(b)) * 100 +
                                           std::countr_zero(b));
                  }
                });
}

TEST(LowerState, ReleasedScratchServesTheNextTile) {
  // Every step reads the one before it only: two tiles are enough for any number of steps.
  auto program = [](int steps) {
    std::string text = head;
    for (int i = 0; i < steps; ++i) {
      std::string from = i == 0 ? "%v" : "%g" + std::to_string(i - 1), to = std::to_string(i);
      text += "  %h" + to + " = tile.gather " + from +
              "[%turned] axis 0 : tensor<32xi32>, tensor<32xi32> -> tensor<32xi32>\n  %g" + to +
              " = arith.addi %h" + to + ", " + from + " : tensor<32xi32>\n";
    }
    size_t at = text.find("  %h0");
    text.insert(at, "  %last = arith.constant dense<31> : tensor<32xi32>\n"
                    "  %turned = arith.subi %last, %r : tensor<32xi32>\n");
    text += "  %result = arith.addi %g" + std::to_string(steps - 1) + ", %zeros : tensor<32xi32>\n";
    return text + tail;
  };
  std::vector<int32_t> x = counting(), out(32), want(x.begin(), x.begin() + 32);
  for (int i = 0; i < 10; ++i) {
    std::vector<int32_t> before = want;
    for (int k = 0; k < 32; ++k) {
      want[k] = before[31 - k] + before[k];
    }
  }
  runEverywhere(program(10), {address(x.data()), address(out.data()), number(0)},
                [&] { ASSERT_EQ(out, want); });
  EXPECT_EQ(lowerKernel(program(4)).scratchBytes, lowerKernel(program(20)).scratchBytes);
}

TEST(LowerErrors, InlineAssemblyIsE0304) {
  LoweredKernel kernel = lowerKernel(R"(
func.func @kernel(%n: i32) attributes {tile.kernel} {
  %0 = tile.inline_asm "mov.u32 $0, %laneid;" "=r,r" pack 1 (%n) : (i32) -> i32
  func.return
})");
  EXPECT_NE(kernel.error.find("E0304"), std::string::npos) << kernel.error;
  EXPECT_NE(kernel.error.find("mov.u32"), std::string::npos) << kernel.error;
}

} // namespace
