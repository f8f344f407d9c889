// SPDX-License-Identifier: Apache-2.0
// Elements that change places by number: join, split, gather and histogram; and inline assembly,
// which the interpreter refuses.
#include "RunKernel.h"

namespace nereid::test {
namespace {

TEST(JoinSplit, ElementsAlternate) {
  const std::vector<int32_t> x{1, 2, 3, 4, 5, 6}, y{7, 8, 9, 10, 11, 12};
  auto joined =
      valuesOf<int32_t>(evaluate(R"(
      %l = tile.reshape %a : TA -> tensor<2x3xi32>
      %s = tile.reshape %b : TB -> tensor<2x3xi32>
      %j = tile.join %l, %s : tensor<2x3xi32> -> tensor<2x3x2xi32>
      %t = tile.trans %j, [2, 1, 0] : tensor<2x3x2xi32> -> tensor<2x3x2xi32>
      %p, %q = tile.split %t : tensor<2x3x2xi32> -> tensor<2x3xi32>, tensor<2x3xi32>
      %c = arith.constant dense<10> : tensor<2x3xi32>
      %m = arith.muli %p, %c : tensor<2x3xi32>
      %u = arith.subi %m, %q : tensor<2x3xi32>
      %r = tile.reshape %u : tensor<2x3xi32> -> TR)",
                                 {tensorOf(DType::I32, x), tensorOf(DType::I32, y)}, DType::I32));
  // j[i][k][s] is x or y at (i, k); its transpose holds at (s, k, i), split over i.
  std::vector<int32_t> expected;
  for (const std::vector<int32_t> &side : {x, y}) {
    for (int k = 0; k < 3; ++k) {
      expected.push_back(10 * side[k] - side[3 + k]);
    }
  }
  EXPECT_EQ(joined, expected);
}

TEST(JoinSplit, InterleavesAndTakesPairsApart) {
  const std::vector<int32_t> x{1, 2, 3, 4, 5, 6};
  auto result = valuesOf<int32_t>(evaluate(R"(
      %t = tile.reshape %a : TA -> tensor<3x2xi32>
      %p, %q = tile.split %t : tensor<3x2xi32> -> tensor<3xi32>, tensor<3xi32>
      %j = tile.join %q, %p : tensor<3xi32> -> tensor<3x2xi32>
      %r = tile.reshape %j : tensor<3x2xi32> -> TR)",
                                           {tensorOf(DType::I32, x)}, DType::I32));
  EXPECT_EQ(result, (std::vector<int32_t>{2, 1, 4, 3, 6, 5}));
}

TEST(Gather, PicksAlongEveryAxis) {
  std::vector<int32_t> x(24), index(24);
  for (int i = 0; i < 24; ++i) {
    x[i] = 100 + i;
    index[i] = i * 5 % 7;
  }
  const int shape[3] = {2, 3, 4};
  for (int axis = 0; axis < 3; ++axis) {
    const std::string limit = std::to_string(shape[axis]);
    auto result = valuesOf<int32_t>(
        evaluate("%n = arith.constant dense<" + limit +
                     "> : TB\n%m = arith.remui %b, %n : TB\n"
                     "%s = tile.reshape %a : TA -> tensor<2x3x4xi32>\n"
                     "%i = tile.reshape %m : TB -> tensor<2x3x4xi32>\n"
                     "%g = tile.gather %s[%i] axis " +
                     std::to_string(axis) +
                     " : tensor<2x3x4xi32>, tensor<2x3x4xi32> -> tensor<2x3x4xi32>\n"
                     "%r = tile.reshape %g : tensor<2x3x4xi32> -> TR",
                 {tensorOf(DType::I32, x), tensorOf(DType::I32, index)}, DType::I32));
    std::vector<int32_t> expected;
    for (int i = 0; i < 24; ++i) {
      int at[3] = {i / 12, i / 4 % 3, i % 4};
      at[axis] = index[i] % shape[axis];
      expected.push_back(x[(at[0] * 3 + at[1]) * 4 + at[2]]);
    }
    EXPECT_EQ(result, expected) << "axis " << axis;
  }
}

const char *shortGather = R"(
  func.func @k(%p: !tile.ptr<f32>, %at: i64) attributes {tile.kernel} {
    %s = arith.constant dense<[[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]]> : tensor<2x3xf32>
    %i = tile.splat %at : i64 -> tensor<2x1xi64>
    %g = tile.gather %s[%i] axis 1 : tensor<2x3xf32>, tensor<2x1xi64> -> tensor<2x1xf32>
    %o = tile.make_range 0 to 2 : tensor<2xi32>
    %b = tile.splat %p : !tile.ptr<f32> -> tensor<2x!tile.ptr<f32>>
    %q = tile.addptr %b, %o : tensor<2x!tile.ptr<f32>>, tensor<2xi32>
    %f = tile.reshape %g : tensor<2x1xf32> -> tensor<2xf32>
    tile.store %q, %f : tensor<2x!tile.ptr<f32>>, tensor<2xf32>
    return
  })";

TEST(Gather, TheIndexMayHaveAnotherLengthAndWidth) {
  auto out = tensorOf<float>(DType::F32, {0, 0});
  mustRun(shortGather, {1, 1, 1}, {&out, int64_t(2)});
  EXPECT_EQ(valuesOf<float>(out), (std::vector<float>{3, 6}));
}

TEST(Gather, IndicesOutsideAreReported) {
  auto out = tensorOf<float>(DType::F32, {0, 0});
  for (int64_t at : {int64_t(3), int64_t(-1), int64_t(1) << 40}) {
    Diagnostics diags;
    EXPECT_FALSE(runText(shortGather, {1, 1, 1}, {&out, at}, diags));
    ASSERT_EQ(diags.all().size(), 1u);
    EXPECT_EQ(diags.all()[0].code, "E0412");
    EXPECT_EQ(diags.all()[0].message,
              "gather expects indices from 0 to 2 along axis 1, but got " + std::to_string(at));
    EXPECT_EQ(diags.all()[0].notes.back(), "at element [0, 0] of the index");
  }
}

TEST(Histogram, CountsWhatLiesInsideAndIsNotMasked) {
  const std::vector<int32_t> x{0, 3, 1, 3, 4, -1, 3, 2147483647};
  auto result = [&](const std::string &body) {
    return valuesOf<int32_t>(evaluate(body, {tensorOf(DType::I32, x)}, DType::I32));
  };
  EXPECT_EQ(result("%h = tile.histogram %a : TA -> tensor<4xi32>\n"
                   "%j = tile.join %h, %h : tensor<4xi32> -> tensor<4x2xi32>\n"
                   "%r = tile.reshape %j : tensor<4x2xi32> -> TR"),
            (std::vector<int32_t>{1, 1, 1, 1, 0, 0, 3, 3}));
  EXPECT_EQ(result("%m = arith.constant dense<[1, 0, 1, 1, 1, 1, 1, 1]> : TI1\n"
                   "%r = tile.histogram %a mask %m : TI1 : TA -> TR"),
            (std::vector<int32_t>{1, 1, 0, 2, 1, 0, 0, 0}));
}

TEST(InlineAssembly, IsRefusedWithItsFirstLine) {
  Diagnostics diags;
  EXPECT_FALSE(runText(R"(
    func.func @k(%x: i32) attributes {tile.kernel} {
      %y = tile.inline_asm "\n  mov.u32 $0, $1;\n  ret;" "=r,r" pack 1(%x) : (i32) -> i32
      return
    })",
                       {1, 1, 1}, {int64_t(7)}, diags));
  ASSERT_EQ(diags.all().size(), 1u);
  EXPECT_EQ(diags.all()[0].code, "E0304");
  EXPECT_NE(diags.all()[0].file, "") << "names the line";
  EXPECT_EQ(diags.all()[0].range.line, 3);
  EXPECT_NE(diags.render().find("'mov.u32 $0, $1;'"), std::string::npos) << diags.render();
}

} // namespace
} // namespace nereid::test
