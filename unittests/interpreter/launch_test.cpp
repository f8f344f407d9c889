// SPDX-License-Identifier: Apache-2.0
// Binding of arguments, prints and assertions.
#include "RunKernel.h"

#include <cmath>

namespace nereid::test {
namespace {

std::string codeOf(const std::string &parameters, runtime::Grid grid,
                   const std::vector<runtime::ArgumentValue> &arguments) {
  Diagnostics diags;
  const bool isDone =
      runText("func.func @k(" + parameters + ") attributes {tile.kernel} {\n  return\n}", grid,
              arguments, diags);
  EXPECT_EQ(isDone, diags.all().empty());
  return isDone ? "" : diags.all()[0].code;
}

TEST(Arguments, AreCheckedAgainstTheirParameters) {
  auto floats = tensorOf<float>(DType::F32, {1});
  auto brains = tensorOf<uint16_t>(DType::BF16, {0});
  auto bools = tensorOf<uint8_t>(DType::Bool, {1});
  const runtime::Grid one{1, 1, 1};
  EXPECT_EQ(codeOf("%x: !tile.ptr<f32>, %n: i32", one, {&floats}), "E0401");
  EXPECT_EQ(codeOf("%x: !tile.ptr<f32>", one, {int64_t(5)}), "E0409");
  EXPECT_EQ(codeOf("%x: !tile.ptr<f32>", one, {5.0}), "E0409");
  EXPECT_EQ(codeOf("%n: i32", one, {&floats}), "E0409");
  EXPECT_EQ(codeOf("%x: !tile.ptr<f32>", one, {static_cast<const runtime::Tensor *>(nullptr)}),
            "E0409");
  EXPECT_EQ(codeOf("%x: !tile.ptr<f64>", one, {&floats}), "E0410");
  EXPECT_EQ(codeOf("%x: !tile.ptr<i32>", one, {&floats}), "E0410");
  EXPECT_EQ(codeOf("%x: !tile.ptr<f16>", one, {&brains}), "E0410");
  EXPECT_EQ(codeOf("%x: !tile.ptr<bf16>", one, {&brains}), "");
  EXPECT_EQ(codeOf("%x: !tile.ptr<i8>", one, {&bools}), "");
  EXPECT_EQ(codeOf("%n: i32", one, {int64_t(1) << 33}), "E0406");
  EXPECT_EQ(codeOf("%n: i32", one, {int64_t(0xffffffff)}), "");
  EXPECT_EQ(codeOf("%n: i8", one, {int64_t(-129)}), "E0406");
  EXPECT_EQ(codeOf("%n: i32", one, {2.5}), "E0409");
  EXPECT_EQ(codeOf("%n: i32", one, {std::nan("")}), "E0409");
  EXPECT_EQ(codeOf("%n: i32", one, {2.0}), "");
  EXPECT_EQ(codeOf("%n: f32", one, {int64_t(2)}), "");
  EXPECT_EQ(codeOf("", {-1, 1, 1}, {}), "E0405");
  EXPECT_EQ(codeOf("", {1, 1, int64_t(1) << 40}, {}), "E0405");
}

TEST(Arguments, ScalarsRoundToTheirType) {
  auto output = tensorOf<uint16_t>(DType::BF16, {0});
  mustRun("func.func @k(%p: !tile.ptr<bf16>, %x: bf16) attributes {tile.kernel} {\n"
          "  tile.store %p, %x : !tile.ptr<bf16>, bf16\n  return\n}",
          {1, 1, 1}, {&output, 1.00390625}); // 1 + 2^-8, a tie: to even
  EXPECT_EQ(output.as<uint16_t>()[0], 0x3f80);
}

TEST(Arguments, TheKernelIsChosenByName) {
  const std::string text = "func.func @a() attributes {tile.kernel} {\n  return\n}\n"
                           "func.func @b() attributes {tile.kernel} {\n  return\n}\n";
  Diagnostics diags;
  EXPECT_FALSE(runText(text, {1, 1, 1}, {}, diags));
  InterpretOptions options;
  options.kernel = "b";
  Diagnostics none;
  EXPECT_TRUE(runText(text, {1, 1, 1}, {}, none, options)) << none.render();
}

TEST(Output, PrintsOneLinePerElement) {
  std::string printed;
  InterpretOptions options;
  options.print = [&](std::string_view line) { printed += line; };
  Diagnostics diags;
  EXPECT_TRUE(runText(R"(
    func.func @k(%n: i32) attributes {tile.kernel} {
      %x = arith.constant dense<[1.5, -2.0]> : tensor<2xf32>
      tile.print " x: " false %x : tensor<2xf32>
      tile.print ": " false %x, %n : tensor<2xf32>, i32 {tile.unsigned = array<i64: 1>}
      tile.print " hex: " true %n : i32
      tile.print " here" false
      return
    })",
                      {2, 1, 1}, {int64_t(-7)}, diags, options));
  const std::string second =
      "pid (1, 0, 0) idx (0) x: 1.500000\npid (1, 0, 0) idx (1) x: -2.000000\n"
      "pid (1, 0, 0) idx (0): (operand 0) 1.500000\n"
      "pid (1, 0, 0) idx (1): (operand 0) -2.000000\n"
      "pid (1, 0, 0) idx (): (operand 1) 4294967289\n"
      "pid (1, 0, 0) idx () hex: 0xfffffff9\npid (1, 0, 0) here\n";
  EXPECT_EQ(printed.substr(printed.size() / 2), second);
}

TEST(Output, AssertionsStopWithTheirMessage) {
  Diagnostics diags;
  EXPECT_FALSE(runText(R"(
    func.func @k() attributes {tile.kernel} {
      %m = arith.constant dense<[[true, true], [false, true]]> : tensor<2x2xi1>
      tile.assert %m, "x is small" : tensor<2x2xi1>
      return
    })",
                       {1, 1, 1}, {}, diags));
  ASSERT_EQ(diags.all().size(), 1u);
  EXPECT_EQ(diags.all()[0].code, "E0407");
  EXPECT_EQ(diags.all()[0].message, "device assertion failed: x is small");
  EXPECT_EQ(diags.all()[0].notes.back(), "first at element [1, 0]");
  mustRun("func.func @k() attributes {tile.kernel} {\n  %y = arith.constant true\n"
          "  tile.assert %y, \"fine\" : i1\n  return\n}",
          {1, 1, 1}, {});
}

} // namespace
} // namespace nereid::test
