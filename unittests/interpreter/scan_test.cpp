// SPDX-License-Identifier: Apache-2.0
// Scans: along every axis and backwards, with regions that do not commute, with several values and
// with branches.
#include "RunKernel.h"

#include <algorithm>

namespace nereid::test {
namespace {

std::vector<int32_t> numbers(int count) {
  std::vector<int32_t> values;
  for (int i = 0; i < count; ++i) {
    values.push_back(i * i % 101 - 37);
  }
  return values;
}

const char *sumRegion = "{\n^bb0(%l: i32, %s: i32):\n  %t = arith.addi %l, %s : i32\n"
                        "  tile.combine_return %t : i32\n} ";

TEST(Scan, RunningSumsOfEveryLength) {
  for (int n : {1, 2, 3, 8, 31}) {
    for (bool reverse : {false, true}) {
      const std::vector<int32_t> x = numbers(n);
      auto result =
          valuesOf<int32_t>(evaluate(std::string("%r = tile.scan %a axis 0 ") +
                                         (reverse ? "reverse " : "") + sumRegion + ": (TA) -> TR",
                                     {tensorOf(DType::I32, x)}, DType::I32));
      std::vector<int32_t> expected(x.size());
      int32_t sum = 0;
      for (int i = 0; i < n; ++i) {
        const int at = reverse ? n - 1 - i : i;
        sum += x[at];
        expected[at] = sum;
      }
      EXPECT_EQ(result, expected) << n << (reverse ? " reverse" : "");
    }
  }
}

// The linear recurrence h = p * h + q over pairs (p, q), which is associative and not commutative.
const char *recurrence = R"({
  ^bb0(%lp: i32, %lq: i32, %rp: i32, %rq: i32):
    %p = arith.muli %lp, %rp : i32
    %m = arith.muli %rp, %lq : i32
    %q = arith.addi %m, %rq : i32
    tile.combine_return %p, %q : i32, i32
  } )";

TEST(Scan, RecurrenceAlongEveryAxisOfThree) {
  const int shape[3] = {2, 3, 5};
  const std::vector<int32_t> p = numbers(30);
  std::vector<int32_t> q = p;
  std::reverse(q.begin(), q.end());
  for (int axis = 0; axis < 3; ++axis) {
    for (bool reverse : {false, true}) {
      auto result = valuesOf<int32_t>(
          evaluate("%x = tile.reshape %a : TA -> tensor<2x3x5xi32>\n"
                   "%y = tile.reshape %b : TB -> tensor<2x3x5xi32>\n%v:2 = tile.scan %x, %y axis " +
                       std::to_string(axis) + (reverse ? " reverse " : " ") + recurrence +
                       ": (tensor<2x3x5xi32>, tensor<2x3x5xi32>) -> (tensor<2x3x5xi32>, "
                       "tensor<2x3x5xi32>)\n%r = tile.reshape %v#1 : tensor<2x3x5xi32> -> TR",
                   {tensorOf(DType::I32, p), tensorOf(DType::I32, q)}, DType::I32));
      std::vector<int32_t> expected(30);
      int stride = 1;
      for (int i = 2; i > axis; --i) {
        stride *= shape[i];
      }
      for (int i = 0; i < 30; ++i) {
        if (i / stride % shape[axis] != 0) {
          continue; // not the first of its line
        }
        // With h = 0 before the first element the second value of the pair is h itself.
        uint32_t h = 0;
        for (int k = 0; k < shape[axis]; ++k) {
          const int at = i + (reverse ? shape[axis] - 1 - k : k) * stride;
          h = static_cast<uint32_t>(p[at]) * h + static_cast<uint32_t>(q[at]);
          expected[at] = static_cast<int32_t>(h);
        }
      }
      EXPECT_EQ(result, expected) << "axis " << axis << (reverse ? " reverse" : "");
    }
  }
}

TEST(Scan, TheEarlierElementsStandOnTheLeft) {
  // A region that keeps its left side gives the first element, one that keeps its right the last.
  const std::vector<int32_t> x{3, 1, 4, 1, 5};
  auto scanned = [&](const char *kept, const char *direction) {
    return valuesOf<int32_t>(
        evaluate(std::string("%r = tile.scan %a axis 0 ") + direction +
                     " {\n^bb0(%left: i32, %right: i32):\n  tile.combine_return %" + kept +
                     " : i32\n} : (TA) -> TR",
                 {tensorOf(DType::I32, x)}, DType::I32));
  };
  EXPECT_EQ(scanned("left", ""), (std::vector<int32_t>{3, 3, 3, 3, 3}));
  EXPECT_EQ(scanned("right", ""), x);
  EXPECT_EQ(scanned("left", "reverse"), (std::vector<int32_t>{5, 5, 5, 5, 5}));
  EXPECT_EQ(scanned("right", "reverse"), x);
}

TEST(Scan, RegionsMayBranch) {
  // Sums start again above 20.
  const std::vector<int32_t> x{4, 8, 15, 16, 2, 1, 42};
  auto result = valuesOf<int32_t>(evaluate(R"(
      %limit = arith.constant 20 : i32
      %r = tile.scan %a axis 0 {
      ^bb0(%l: i32, %s: i32):
        %big = arith.cmpi sgt, %l, %limit : i32
        %u = scf.if %big -> i32 {
          scf.yield %s : i32
        } else {
          %t = arith.addi %l, %s : i32
          scf.yield %t : i32
        }
        tile.combine_return %u : i32
      } : (TA) -> TR)",
                                           {tensorOf(DType::I32, x)}, DType::I32));
  EXPECT_EQ(result, (std::vector<int32_t>{4, 12, 27, 16, 18, 19, 61}));
}

TEST(Scan, ValuesOfDifferentTypes) {
  // Running maximum and where it stands; the later of equal ones.
  const std::vector<float> x{1, 9, 3, 9, -4};
  auto result = valuesOf<int32_t>(evaluate(R"(
      %i = tile.make_range 0 to 5 : tensor<5xi32>
      %v:2 = tile.scan %a, %i axis 0 {
      ^bb0(%lx: f32, %li: i32, %rx: f32, %ri: i32):
        %keep = arith.cmpf ogt, %lx, %rx : f32
        %vx = arith.select %keep, %lx, %rx : f32
        %vi = arith.select %keep, %li, %ri : i32
        tile.combine_return %vx, %vi : f32, i32
      } : (TA, tensor<5xi32>) -> (TA, tensor<5xi32>)
      %r = arith.addi %v#1, %i : TR)",
                                           {tensorOf(DType::F32, x)}, DType::I32));
  EXPECT_EQ(result, (std::vector<int32_t>{0, 2, 3, 6, 7}));
}

} // namespace
} // namespace nereid::test
