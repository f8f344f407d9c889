// SPDX-License-Identifier: Apache-2.0
// Reductions along every axis, with several results and with a branching region, and matrix
// products.
#include "RunKernel.h"

#include <algorithm>
#include <cmath>
#include <limits>

namespace nereid::test {
namespace {

const char *sumRegion = "{\n^bb0(%l: i32, %s: i32):\n  %t = arith.addi %l, %s : i32\n"
                        "  tile.combine_return %t : i32\n} ";

std::vector<int32_t> numbers(int count) {
  std::vector<int32_t> values;
  for (int i = 0; i < count; ++i) {
    values.push_back(i * i % 101 - 37);
  }
  return values;
}

TEST(Reduce, EveryLengthGivesItsSum) {
  for (int n : {1, 2, 3, 5, 8, 31, 100}) {
    const std::vector<int32_t> x = numbers(n);
    auto result =
        valuesOf<int32_t>(evaluate(std::string("%v = tile.reduce %a axis 0 ") + sumRegion +
                                       ": (TA) -> i32\n%r = tile.splat %v : i32 -> TR",
                                   {tensorOf(DType::I32, x)}, DType::I32));
    int32_t expected = 0;
    for (int32_t value : x) {
      expected += value;
    }
    EXPECT_EQ(result[0], expected) << n;
  }
}

TEST(Reduce, EveryAxisOfThree) {
  const int shape[3] = {2, 3, 5};
  const std::vector<int32_t> x = numbers(30);
  const char *results[3] = {"tensor<3x5xi32>", "tensor<2x5xi32>", "tensor<2x3xi32>"};
  for (int axis = 0; axis < 3; ++axis) {
    const int count = 30 / shape[axis];
    // The result is padded to the input's size by a broadcast of copies.
    auto result = valuesOf<int32_t>(
        evaluate("%c = tile.reshape %a : TA -> tensor<2x3x5xi32>\n%v = tile.reduce %c axis " +
                     std::to_string(axis) + " " + sumRegion + ": (tensor<2x3x5xi32>) -> " +
                     results[axis] + "\n%e = tile.reshape %v : " + results[axis] + " -> tensor<1x" +
                     std::to_string(count) + "xi32>\n%f = tile.broadcast %e : tensor<1x" +
                     std::to_string(count) + "xi32> -> tensor<" + std::to_string(shape[axis]) +
                     "x" + std::to_string(count) + "xi32>\n%r = tile.reshape %f : tensor<" +
                     std::to_string(shape[axis]) + "x" + std::to_string(count) + "xi32> -> TR",
                 {tensorOf(DType::I32, x)}, DType::I32));
    std::vector<int32_t> expected;
    int index[3];
    const int outer[2] = {axis == 0 ? 1 : 0, axis == 2 ? 1 : 2};
    for (index[outer[0]] = 0; index[outer[0]] < shape[outer[0]]; ++index[outer[0]]) {
      for (index[outer[1]] = 0; index[outer[1]] < shape[outer[1]]; ++index[outer[1]]) {
        int32_t sum = 0;
        for (index[axis] = 0; index[axis] < shape[axis]; ++index[axis]) {
          sum += x[(index[0] * 3 + index[1]) * 5 + index[2]];
        }
        expected.push_back(sum);
      }
    }
    result.resize(expected.size());
    EXPECT_EQ(result, expected) << "axis " << axis;
  }
}

const char *argmaxRegion = R"({
  ^bb0(%lx: f32, %li: i32, %rx: f32, %ri: i32):
    %gt = arith.cmpf ogt, %lx, %rx : f32
    %eq = arith.cmpf oeq, %lx, %rx : f32
    %lt = arith.cmpi slt, %li, %ri : i32
    %tie = arith.andi %eq, %lt : i1
    %take = arith.ori %gt, %tie : i1
    %vx = arith.select %take, %lx, %rx : f32
    %vi = arith.select %take, %li, %ri : i32
    tile.combine_return %vx, %vi : f32, i32
  } )";

TEST(Reduce, ArgmaxTakesTheFirstOfEqualOnes) {
  const std::vector<float> x{1, 9, 3, 9, -4, 9, 0};
  auto result = valuesOf<int32_t>(evaluate(
      std::string("%i = tile.make_range 0 to 7 : tensor<7xi32>\n"
                  "%v:2 = tile.reduce %a, %i axis 0 ") +
          argmaxRegion + ": (TA, tensor<7xi32>) -> (f32, i32)\n%r = tile.splat %v#1 : i32 -> TR",
      {tensorOf(DType::F32, x)}, DType::I32));
  EXPECT_EQ(result[0], 1);
}

TEST(Reduce, MaximumPassesNaNOnlyWhenTheRegionDoes) {
  const std::vector<float> x{1, std::nanf(""), 3};
  for (bool propagates : {false, true}) {
    const std::string op = propagates ? "arith.maximumf" : "arith.maxnumf";
    auto result = valuesOf<float>(evaluate("%v = tile.reduce %a axis 0 {\n^bb0(%l: f32, %s: f32):\n"
                                           "  %t = " +
                                               op +
                                               " %l, %s : f32\n"
                                               "  tile.combine_return %t : f32\n} : (TA) -> f32\n"
                                               "%r = tile.splat %v : f32 -> TR",
                                           {tensorOf(DType::F32, x)}, DType::F32));
    EXPECT_EQ(std::isnan(result[0]), propagates);
    EXPECT_TRUE(propagates || result[0] == 3);
  }
}

TEST(Reduce, RegionsMayBranchAndUseConstantsAndOuterValues) {
  const std::vector<int32_t> x{4, 8, 15, 16, 23, 42};
  auto result = valuesOf<int32_t>(evaluate(R"(
      %limit = arith.constant 30 : i32
      %v = tile.reduce %a axis 0 {
      ^bb0(%l: i32, %s: i32):
        %t = arith.addi %l, %s : i32
        %big = arith.cmpi sgt, %t, %limit : i32
        %u = scf.if %big -> i32 {
          scf.yield %limit : i32
        } else {
          scf.yield %t : i32
        }
        tile.combine_return %u : i32
      } : (TA) -> i32
      %w = tile.reduce %a axis 0 {
      ^bb0(%l: i32, %s: i32):
        %t = arith.maxsi %l, %s : i32
        %u = arith.minsi %t, %limit : i32
        tile.combine_return %u : i32
      } : (TA) -> i32
      %sum = arith.addi %v, %w : i32
      %r = tile.splat %sum : i32 -> TR)",
                                           {tensorOf(DType::I32, x)}, DType::I32));
  EXPECT_EQ(result[0], 60);
}

struct DotShape {
  int batch, m, n, k;
};

/// Runs a dot on a and b with accumulator c, all flat, and returns the flat result.
template <class In, class Out>
std::vector<Out> runDot(DotShape s, DType in, DType out, const std::vector<In> &a,
                        const std::vector<In> &b, const std::vector<Out> &c) {
  auto tile = [&](int rows, int columns, DType dtype) {
    return "tensor<" + (s.batch > 0 ? std::to_string(s.batch) + "x" : std::string()) +
           std::to_string(rows) + "x" + std::to_string(columns) + "x" + typeName(dtype) + ">";
  };
  auto flat = [&](size_t count, DType dtype) {
    return "tensor<" + std::to_string(count) + "x" + typeName(dtype) + ">";
  };
  auto pointer = [](DType dtype) { return "!tile.ptr<" + typeName(dtype) + ">"; };
  auto pointers = [&](size_t count, DType dtype) {
    return "tensor<" + std::to_string(count) + "x" + pointer(dtype) + ">";
  };
  auto address = [&](const std::string &name, size_t count, DType dtype) {
    const std::string range = "tensor<" + std::to_string(count) + "xi32>";
    return "  %r" + name + " = tile.make_range 0 to " + std::to_string(count) + " : " + range +
           "\n  %s" + name + " = tile.splat %p" + name + " : " + pointer(dtype) + " -> " +
           pointers(count, dtype) + "\n  %q" + name + " = tile.addptr %s" + name + ", %r" + name +
           " : " + pointers(count, dtype) + ", " + range + "\n";
  };
  auto load = [&](const std::string &name, size_t count, DType dtype, const std::string &type) {
    return address(name, count, dtype) + "  %f" + name + " = tile.load %q" + name + " : " +
           pointers(count, dtype) + " -> " + flat(count, dtype) + "\n  %" + name +
           " = tile.reshape %f" + name + " : " + flat(count, dtype) + " -> " + type + "\n";
  };
  const std::string ta = tile(s.m, s.k, in), tb = tile(s.k, s.n, in), tc = tile(s.m, s.n, out);
  auto ta_ = tensorOf(in, a), tb_ = tensorOf(in, b), tc_ = tensorOf(out, c);
  mustRun("func.func @k(%pa: " + pointer(in) + ", %pb: " + pointer(in) + ", %pc: " + pointer(out) +
              ") attributes {tile.kernel} {\n" + load("a", a.size(), in, ta) +
              load("b", b.size(), in, tb) + load("c", c.size(), out, tc) +
              "  %d = tile.dot %a, %b, %c : " + ta + ", " + tb + " -> " + tc +
              "\n  %e = tile.reshape %d : " + tc + " -> " + flat(c.size(), out) +
              "\n  tile.store %qc, %e : " + pointers(c.size(), out) + ", " + flat(c.size(), out) +
              "\n  return\n}",
          {1, 1, 1}, {&ta_, &tb_, &tc_});
  return valuesOf<Out>(tc_);
}

template <class In, class Out> void checkDot(DotShape s, DType in, DType out) {
  const int batches = std::max(s.batch, 1);
  std::vector<In> a, b;
  std::vector<Out> c;
  for (int i = 0; i < batches * s.m * s.k; ++i) {
    a.push_back(static_cast<In>(i * 7 % 23 - 11));
  }
  for (int i = 0; i < batches * s.k * s.n; ++i) {
    b.push_back(static_cast<In>(i * 5 % 19 - 9));
  }
  for (int i = 0; i < batches * s.m * s.n; ++i) {
    c.push_back(static_cast<Out>(i - 4));
  }
  const std::vector<Out> got = runDot(s, in, out, a, b, c);
  for (int z = 0; z < batches; ++z) {
    for (int i = 0; i < s.m; ++i) {
      for (int j = 0; j < s.n; ++j) {
        int64_t sum = static_cast<int64_t>(c[(z * s.m + i) * s.n + j]);
        for (int k = 0; k < s.k; ++k) {
          sum += int64_t(a[(z * s.m + i) * s.k + k]) * int64_t(b[(z * s.k + k) * s.n + j]);
        }
        EXPECT_EQ(got[(z * s.m + i) * s.n + j], static_cast<Out>(sum)) << z << " " << i << " " << j;
      }
    }
  }
}

TEST(Dot, SmallIntegersAreExactInEveryType) {
  for (DotShape shape : {DotShape{0, 1, 1, 1}, DotShape{0, 3, 5, 7}, DotShape{3, 2, 4, 3}}) {
    checkDot<float, float>(shape, DType::F32, DType::F32);
    checkDot<double, double>(shape, DType::F64, DType::F64);
    checkDot<int8_t, int32_t>(shape, DType::I8, DType::I32);
    checkDot<int32_t, int32_t>(shape, DType::I32, DType::I32);
  }
}

TEST(Dot, RoundsOnceAtTheEnd) {
  // 2^24 + 1 - 2^24: summing in float32 would lose the one.
  auto got = runDot<float, float>({0, 1, 1, 3}, DType::F32, DType::F32,
                                  {16777216.f, 1.f, -16777216.f}, {1, 1, 1}, {0});
  EXPECT_EQ(got[0], 1.f);
}

TEST(Dot, HalfOperandsWithFloatAccumulator) {
  // 0x3e00 is 1.5 and 0x3c01 is 1 + 2^-10 in float16; the product keeps all its bits.
  auto got = runDot<uint16_t, float>({0, 1, 1, 1}, DType::F16, DType::F32, {0x3c01}, {0x3c01}, {0});
  EXPECT_EQ(got[0], (1 + 0x1p-10f) * (1 + 0x1p-10f));
  auto brain = runDot<uint16_t, float>({0, 1, 1, 2}, DType::BF16, DType::F32, {0x3fc0, 0x4000},
                                       {0x3fc0, 0x4040}, {0.25f});
  EXPECT_EQ(brain[0], 1.5f * 1.5f + 2 * 3 + 0.25f);
}

TEST(Dot, IntegersWrapInTheAccumulator) {
  auto got = runDot<int32_t, int32_t>({0, 1, 1, 2}, DType::I32, DType::I32, {2147483647, 2},
                                      {2, 2147483647}, {5});
  EXPECT_EQ(got[0], -4 + 5);
}

} // namespace
} // namespace nereid::test
