// SPDX-License-Identifier: Apache-2.0
// Loops, branches and calls, and what stops those that never end.
#include "RunKernel.h"

namespace nereid::test {
namespace {

/// Runs a kernel that stores one i32 computed from %n, as written and after the phase tile-opt.
int32_t compute(const std::string &body, int64_t n, const std::string &functions = "") {
  const std::string text =
      functions + "func.func @k(%p: !tile.ptr<i32>, %n: i32) attributes {tile.kernel} {\n" + body +
      "\n  tile.store %p, %r : !tile.ptr<i32>, i32\n  return\n}";
  auto output = tensorOf<int32_t>(DType::I32, {-1}), again = tensorOf<int32_t>(DType::I32, {-1});
  mustRun(text, {1, 1, 1}, {&output, n});
  mustRun(optimised(text), {1, 1, 1}, {&again, n});
  EXPECT_EQ(output.as<int32_t>()[0], again.as<int32_t>()[0]) << optimised(text);
  return output.as<int32_t>()[0];
}

TEST(ControlFlow, ForCarriesValues) {
  const char *body = R"(
    %zero = arith.constant 0 : i32
    %three = arith.constant 3 : i32
    %count, %r = scf.for %i = %zero to %n step %three iter_args(%c = %zero, %s = %zero) -> (i32, i32) : i32 {
      %t = arith.addi %s, %i : i32
      %d = arith.addi %c, %three : i32
      scf.yield %d, %t : i32, i32
    })";
  for (int n : {-5, 0, 1, 3, 4, 10}) {
    int expected = 0;
    for (int i = 0; i < n; i += 3) {
      expected += i;
    }
    EXPECT_EQ(compute(body, n), expected) << n;
  }
}

TEST(ControlFlow, ForOverTheWholeRangeDoesNotOverflow) {
  EXPECT_EQ(compute(R"(
    %low = arith.constant -2147483648 : i32
    %high = arith.constant 2147483647 : i32
    %step = arith.constant 2147483647 : i32
    %r = scf.for %i = %low to %high step %step iter_args(%s = %n) -> (i32) : i32 {
      %one = arith.constant 1 : i32
      %t = arith.addi %s, %one : i32
      scf.yield %t : i32
    })",
                    0),
            3);
}

TEST(ControlFlow, ForCarriesTilesAndIndexes) {
  EXPECT_EQ(compute(R"(
    %low = arith.constant 1 : index
    %high = arith.constant 5 : index
    %step = arith.constant 1 : index
    %start = arith.constant dense<[[1, 2, 3]]> : tensor<1x3xi32>
    %tile = scf.for %i = %low to %high step %step iter_args(%t = %start) -> (tensor<1x3xi32>) {
      %j = arith.index_cast %i : index to i32
      %js = tile.splat %j : i32 -> tensor<1x3xi32>
      %u = arith.muli %t, %js : tensor<1x3xi32>
      scf.yield %u : tensor<1x3xi32>
    }
    %row = tile.reduce %tile axis 0 {
    ^bb0(%a: i32, %b: i32):
      %s = arith.addi %a, %b : i32
      tile.combine_return %s : i32
    } : (tensor<1x3xi32>) -> tensor<3xi32>
    %r = tile.reduce %row axis 0 {
    ^bb0(%a: i32, %b: i32):
      %s = arith.addi %a, %b : i32
      tile.combine_return %s : i32
    } : (tensor<3xi32>) -> i32)",
                    0),
            6 * 24);
}

TEST(ControlFlow, WhileCountsCollatzSteps) {
  const char *body = R"(
    %zero = arith.constant 0 : i32
    %one = arith.constant 1 : i32
    %two = arith.constant 2 : i32
    %three = arith.constant 3 : i32
    %last, %r = scf.while (%x = %n, %c = %zero) : (i32, i32) -> (i32, i32) {
      %more = arith.cmpi ne, %x, %one : i32
      scf.condition(%more) %x, %c : i32, i32
    } do {
    ^bb0(%x: i32, %c: i32):
      %low = arith.andi %x, %one : i32
      %odd = arith.cmpi eq, %low, %one : i32
      %y = scf.if %odd -> (i32) {
        %t = arith.muli %x, %three : i32
        %u = arith.addi %t, %one : i32
        scf.yield %u : i32
      } else {
        %h = arith.divsi %x, %two : i32
        scf.yield %h : i32
      }
      %d = arith.addi %c, %one : i32
      scf.yield %y, %d : i32, i32
    })";
  EXPECT_EQ(compute(body, 1), 0);
  EXPECT_EQ(compute(body, 27), 111);
}

TEST(ControlFlow, WhileMayForwardOtherTypes) {
  EXPECT_EQ(compute(R"(
    %limit = arith.constant 100 : i64
    %start = arith.extsi %n : i32 to i64
    %r = scf.while (%x = %start) : (i64) -> i32 {
      %less = arith.cmpi slt, %x, %limit : i64
      %y = arith.trunci %x : i64 to i32
      scf.condition(%less) %y : i32
    } do {
    ^bb0(%y: i32):
      %z = arith.addi %y, %y : i32
      %w = arith.extsi %z : i32 to i64
      scf.yield %w : i64
    })",
                    3),
            192);
}

TEST(ControlFlow, CallsReturnSeveralValues) {
  EXPECT_EQ(compute("%a, %r = func.call @both(%n) : (i32) -> (i32, i32)", 7, R"(
    func.func private @both(%x: i32) -> (i32, i32) {
      %y = func.call @square(%x) : (i32) -> i32
      return %x, %y : i32, i32
    }
    func.func private @square(%x: i32) -> i32 {
      %y = arith.muli %x, %x : i32
      return %y : i32
    }
  )"),
            49);
}

void expectCode(const std::string &text, const std::string &code,
                const std::vector<runtime::ArgumentValue> &arguments = {},
                const InterpretOptions &options = {}) {
  Diagnostics diags;
  EXPECT_FALSE(runText(text, {1, 1, 1}, arguments, diags, options));
  ASSERT_EQ(diags.all().size(), 1u);
  EXPECT_EQ(diags.all()[0].code, code) << diags.render();
}

TEST(Budget, EndlessWhileStops) {
  InterpretOptions options;
  options.operationBudget = 100000;
  expectCode(R"(
    func.func @k() attributes {tile.kernel} {
      %yes = arith.constant true
      scf.while : () -> () {
        scf.condition(%yes)
      } do {
        scf.yield
      }
      return
    })",
             "E0404", {}, options);
}

TEST(Budget, StepThatIsNotPositiveStops) {
  for (const char *step : {"0", "-1"}) {
    expectCode("func.func @k() attributes {tile.kernel} {\n  %a = arith.constant 0 : i32\n"
               "  %b = arith.constant 5 : i32\n  %c = arith.constant " +
                   std::string(step) +
                   " : i32\n  scf.for %i = %a to %b step %c : i32 {\n  }\n  return\n}",
               "E0404");
  }
}

TEST(Budget, DotsCountTheirProducts) {
  InterpretOptions options;
  options.operationBudget = 30000;
  const std::string text = R"(
    func.func @k() attributes {tile.kernel} {
      %a = arith.constant dense<1.0> : tensor<32x32xf32>
      %d = tile.dot %a, %a, %a : tensor<32x32xf32>, tensor<32x32xf32> -> tensor<32x32xf32>
      return
    })";
  expectCode(text, "E0404", {}, options);
  mustRun(text, {1, 1, 1}, {});
}

TEST(Unsupported, IsNamedAndNeverCrashes) {
  // Recursion, a declared function, an oversized tile, a type without elements, several blocks.
  expectCode("func.func @k() attributes {tile.kernel} {\n  func.call @k() : () -> ()\n  return\n}",
             "E0302");
  expectCode("func.func private @f()\nfunc.func @k() attributes {tile.kernel} {\n"
             "  func.call @f() : () -> ()\n  return\n}",
             "E0302");
  expectCode("func.func @k() attributes {tile.kernel} {\n"
             "  %0 = tile.make_range 0 to 2147483647 : tensor<2147483647xi32>\n  return\n}",
             "E0302");
  expectCode("func.func @k() attributes {tile.kernel} {\n"
             "  %0 = arith.constant 1 : i128\n  return\n}",
             "E0302");
  expectCode("func.func @k() attributes {tile.kernel} {\n"
             "  %0 = arith.constant dense<[1, 2]> : vector<2xi32>\n  return\n}",
             "E0302");
  expectCode("func.func @k() {\n  return\n}", "E0408");
  expectCode("func.func @k(%x: tensor<4xf32>) attributes {tile.kernel} {\n  return\n}", "E0302",
             {int64_t(1)});
}

} // namespace
} // namespace nereid::test
