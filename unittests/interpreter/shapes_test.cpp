// SPDX-License-Identifier: Apache-2.0
// Ranges, splats, shape changes and program ids against index arithmetic written out here.
#include "RunKernel.h"

namespace nereid::test {
namespace {

std::vector<int32_t> iota(int32_t count) {
  std::vector<int32_t> values;
  for (int32_t i = 0; i < count; ++i) {
    values.push_back(100 + i);
  }
  return values;
}

std::vector<int32_t> shaped(const std::string &body, int32_t count) {
  return valuesOf<int32_t>(evaluate(body, {tensorOf(DType::I32, iota(count))}, DType::I32));
}

TEST(Shapes, RangeStartsAnywhere) {
  EXPECT_EQ(shaped("%r = tile.make_range -2 to 3 : TR", 5),
            (std::vector<int32_t>{-2, -1, 0, 1, 2}));
  EXPECT_EQ(shaped("%r = tile.make_range 2147483645 to 2147483647 : TR", 2),
            (std::vector<int32_t>{2147483645, 2147483646}));
}

TEST(Shapes, SplatOfAnUnsplat) {
  EXPECT_EQ(shaped("%one = arith.constant dense<7> : tensor<1x1xi32>\n"
                   "%s = tile.unsplat %one : tensor<1x1xi32> -> i32\n"
                   "%r = tile.splat %s : i32 -> TR",
                   3),
            (std::vector<int32_t>{7, 7, 7}));
}

TEST(Shapes, TransposeOfThreeDimensions) {
  // Result dimension i is operand dimension order[i]: out[j,k,i] = in[i,j,k] for [1, 2, 0].
  auto result = shaped("%0 = tile.reshape %a : TA -> tensor<2x3x5xi32>\n"
                       "%1 = tile.trans %0, [1, 2, 0] : tensor<2x3x5xi32> -> tensor<3x5x2xi32>\n"
                       "%r = tile.reshape %1 : tensor<3x5x2xi32> -> TR",
                       30);
  for (int i = 0; i < 2; ++i) {
    for (int j = 0; j < 3; ++j) {
      for (int k = 0; k < 5; ++k) {
        EXPECT_EQ(result[(j * 5 + k) * 2 + i], 100 + (i * 3 + j) * 5 + k);
      }
    }
  }
}

TEST(Shapes, BroadcastOfRowsAndColumns) {
  // r[i, j] = 10 * i + j for a 3x7 tile, from a column and a row.
  auto result = shaped("%rows = tile.make_range 0 to 3 : tensor<3xi32>\n"
                       "%cols = tile.make_range 0 to 7 : tensor<7xi32>\n"
                       "%c = tile.expand_dims %rows, 1 : tensor<3xi32> -> tensor<3x1xi32>\n"
                       "%d = tile.expand_dims %cols, 0 : tensor<7xi32> -> tensor<1x7xi32>\n"
                       "%e = tile.broadcast %c : tensor<3x1xi32> -> tensor<3x7xi32>\n"
                       "%f = tile.broadcast %d : tensor<1x7xi32> -> tensor<3x7xi32>\n"
                       "%ten = arith.constant dense<10> : tensor<3x7xi32>\n"
                       "%g = arith.muli %e, %ten : tensor<3x7xi32>\n"
                       "%h = arith.addi %g, %f : tensor<3x7xi32>\n"
                       "%r = tile.reshape %h : tensor<3x7xi32> -> TR",
                       21);
  for (int i = 0; i < 21; ++i) {
    EXPECT_EQ(result[i], 10 * (i / 7) + i % 7);
  }
}

TEST(Shapes, BroadcastOfTheMiddleDimension) {
  auto result = shaped("%0 = tile.make_range 0 to 6 : tensor<6xi32>\n"
                       "%1 = tile.reshape %0 : tensor<6xi32> -> tensor<2x1x3xi32>\n"
                       "%2 = tile.broadcast %1 : tensor<2x1x3xi32> -> tensor<2x4x3xi32>\n"
                       "%r = tile.reshape %2 : tensor<2x4x3xi32> -> TR",
                       24);
  for (int i = 0; i < 24; ++i) {
    EXPECT_EQ(result[i], i / 12 * 3 + i % 3);
  }
}

TEST(Shapes, DenseConstants) {
  EXPECT_EQ(shaped("%r = arith.constant dense<[1, -2, 3]> : TR", 3),
            (std::vector<int32_t>{1, -2, 3}));
  auto halves = evaluate("%r = arith.constant dense<[1.5, -0.25]> : TR",
                         {tensorOf(DType::I32, iota(2))}, DType::F16);
  EXPECT_EQ(valuesOf<uint16_t>(halves), (std::vector<uint16_t>{0x3e00, 0xb400}));
}

TEST(Shapes, EveryProgramOfAThreeDimensionalGrid) {
  auto output = runtime::Tensor::empty({2 * 3 * 4}, DType::I32);
  output.poison();
  mustRun("func.func @k(%p: !tile.ptr<i32>) attributes {tile.kernel} {\n"
          "  %x = tile.program_id 0\n  %y = tile.program_id 1\n  %z = tile.program_id 2\n"
          "  %nx = tile.num_programs 0\n  %ny = tile.num_programs 1\n"
          "  %nz = tile.num_programs 2\n"
          "  %0 = arith.muli %z, %ny : i32\n  %1 = arith.addi %0, %y : i32\n"
          "  %2 = arith.muli %1, %nx : i32\n  %3 = arith.addi %2, %x : i32\n"
          "  %4 = arith.muli %3, %nz : i32\n"
          "  %q = tile.addptr %p, %3 : !tile.ptr<i32>, i32\n"
          "  tile.store %q, %4 : !tile.ptr<i32>, i32\n  return\n}",
          {2, 3, 4}, {&output});
  for (int i = 0; i < 24; ++i) {
    EXPECT_EQ(output.as<int32_t>()[i], 4 * i);
  }
}

TEST(Shapes, EmptyGridRunsNothing) {
  auto output = tensorOf<int32_t>(DType::I32, {5});
  mustRun("func.func @k(%p: !tile.ptr<i32>) attributes {tile.kernel} {\n"
          "  %0 = arith.constant 1 : i32\n  tile.store %p, %0 : !tile.ptr<i32>, i32\n  return\n}",
          {4, 0, 1}, {&output});
  EXPECT_EQ(output.as<int32_t>()[0], 5);
}

} // namespace
} // namespace nereid::test
