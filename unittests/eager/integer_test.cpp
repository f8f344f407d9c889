// SPDX-License-Identifier: Apache-2.0
// Integers of eager execution and of the reference: exact to 64 bits, wrapping, and the two against
// each other on every type and case of the grid.
#include "unittests/eager/Values.h"

#include "lib/definition/cases/CaseGrid.h"
#include "lib/eager/reference/Reference.h"
#include "runtime/elements/IntegerElements.h"

#include <cmath>

namespace nereid::eager {
namespace {

Tensor integers(DType dtype, const std::vector<int64_t> &values) {
  Tensor tensor = Tensor::empty({static_cast<int64_t>(values.size())}, dtype);
  for (size_t i = 0; i < values.size(); ++i) {
    runtime::storeInteger(tensor, static_cast<int64_t>(i), static_cast<uint64_t>(values[i]));
  }
  return tensor;
}

std::vector<int64_t> integerList(const Tensor &tensor) {
  std::vector<int64_t> values;
  for (int64_t i = 0; i < tensor.elementCount(); ++i) {
    values.push_back(static_cast<int64_t>(runtime::loadInteger(tensor, i)));
  }
  return values;
}

using Integers = std::vector<int64_t>;

TEST(Integers, AreExactTo64Bits) {
  const int64_t large = (int64_t{1} << 60) + 1;
  Tensor x = integers(DType::I64, {large, -large, INT64_MAX});
  EXPECT_EQ(integerList(call("add", {x, x})), (Integers{2 * large, -2 * large, -2}));
  EXPECT_EQ(integerList(call("sub", {x, integers(DType::I64, {1, 1, -1})})),
            (Integers{large - 1, -large - 1, INT64_MIN}));
  EXPECT_EQ(integerList(call("maximum", {x, integers(DType::I64, {large + 1, 0, 0})})),
            (Integers{large + 1, 0, INT64_MAX}));
  EXPECT_EQ(list(call("eq", {x, integers(DType::I64, {large, -large + 1, INT64_MAX - 1})})),
            (std::vector<double>{1, 0, 0}));
  EXPECT_EQ(integerList(call("sum", {integers(DType::I64, {large, 1, 1})}))[0], large + 2);
}

/// Tensors of rank 0 are numbers in a call; a constant of a body is int64 and yields to them.
TEST(Integers, ThatAreChosenKeepTheirTypeWithoutDimensions) {
  const auto scalar = [](DType type, int64_t value) {
    const Tensor tensor = Tensor::empty({}, type);
    runtime::storeInteger(tensor, 0, static_cast<uint64_t>(value));
    return tensor;
  };
  const Tensor isFirst = scalar(DType::Bool, 1), small = scalar(DType::I8, -5);
  const Tensor chosen = call("where", {isFirst, small, scalar(DType::I8, 3)});
  EXPECT_EQ(chosen.dtype(), DType::I8);
  EXPECT_EQ(integerList(chosen), Integers{-5});
  EXPECT_EQ(call("where", {isFirst, small, scalar(DType::I64, 3)}).dtype(), DType::I8);
  EXPECT_EQ(call("where", {isFirst, scalar(DType::I64, 7), scalar(DType::I64, 3)}).dtype(),
            DType::I64);
}

TEST(Integers, WrapInTheirType) {
  EXPECT_EQ(
      integerList(call("mul", {integers(DType::I8, {100, -128}), integers(DType::I8, {3, -1})})),
      (Integers{44, -128}));
  EXPECT_EQ(integerList(call("sub", {integers(DType::U8, {3}), integers(DType::U8, {5})})),
            Integers{254});
  EXPECT_EQ(integerList(call("neg", {integers(DType::U16, {1})})), Integers{65535});
  EXPECT_EQ(integerList(call("pow", {integers(DType::I32, {7}), integers(DType::I32, {20})})),
            Integers{-1199696159}); // 7 ** 20 modulo 2 ** 32
  EXPECT_EQ(integerList(call("bitwise_not", {integers(DType::U8, {1})})), Integers{254});
  EXPECT_EQ(
      integerList(call("bitwise_and", {integers(DType::I32, {-2}), integers(DType::I32, {7})})),
      Integers{6});
}

TEST(Integers, SumsAreInt64) {
  Tensor total = call("sum", {integers(DType::I8, {127, 127, 127})});
  EXPECT_EQ(total.dtype(), DType::I64);
  EXPECT_EQ(integerList(total), Integers{381});
  Tensor largest = call("amax", {integers(DType::U64, {-1, 5})});
  EXPECT_EQ(largest.dtype(), DType::U64);
  EXPECT_EQ(integerList(largest), Integers{-1}); // all bits, the largest of them
}

TEST(Integers, NumbersOfAHigherKindMakeFloats) {
  Tensor x = integers(DType::I32, {1, 3});
  EXPECT_EQ(call("mul", {x, numberTensor(0.5)}).dtype(), DType::F32);
  EXPECT_EQ(list(call("mul", {x, numberTensor(0.5)})), (std::vector<double>{0.5, 1.5}));
  Tensor owner = integers(DType::I64, {2});
  const Tensor two = Tensor::borrow(owner.data(), {}, DType::I64);
  EXPECT_EQ(call("mul", {x, two}).dtype(), DType::I32);
  EXPECT_EQ(call("div", {x, two}).dtype(), DType::F32);
  EXPECT_EQ(call("mul", {x, make({2}, {1, 2}, DType::F16)}).dtype(), DType::F16);
}

definition::Operator operatorOf(const std::string &body, const std::string &types,
                                const std::string &outType) {
  Diagnostics diags;
  auto op = definition::parseOperator(
      "t.toml",
      "[operator]\nname = \"t\"\nsummary = \"s\"\ndtypes = [" + types + "]\nbody = \"\"\"\n" +
          body +
          "\n\"\"\"\n[inputs.x]\nshape = [\"...\", \"D\"]\n[inputs.y]\nshape = [\"D\"]\n"
          "[inputs.k]\nvalue = 3\n[outputs.out]\nshape = [\"...\", \"D\"]\n" +
          outType + "\n[performance]\ncases = [{ \"...\" = [2, 3], D = 4 }]\n",
      diags);
  EXPECT_TRUE(op) << diags.render();
  return *op;
}

constexpr const char *everyInteger =
    R"("int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64")";

struct Body {
  const char *text, *types, *outType;
};

class IntegerGraph : public testing::TestWithParam<Body> {};

TEST_P(IntegerGraph, ReferenceAndExecutionAgree) {
  const Body &body = GetParam();
  Operator op = operatorOf(body.text, body.types, body.outType);
  for (DType dtype : op.dtypes) {
    for (const definition::GridCase &grid : definition::accuracyGrid(op, 1, 8, dtype)) {
      auto made = definition::makeInputs(op, grid, dtype);
      ASSERT_TRUE(made);
      std::vector<Tensor> in;
      for (const definition::LaidOut &each : *made) {
        in.push_back(each.view);
      }
      auto outputs = runGraph(op, in, runtime::defaultPool());
      ASSERT_TRUE(outputs) << render(outputs.error());
      auto agreement =
          checkOutputs(op, in, *outputs, dtype, Rounding::EachOperation, runtime::defaultPool());
      ASSERT_TRUE(agreement) << render(agreement.error());
      EXPECT_EQ(agreement->mismatches, 0)
          << body.text << " " << torchName(dtype) << " " << grid.name << " at "
          << agreement->first.index << ": got " << agreement->first.actualText << " "
          << agreement->first.actual << ", expected " << agreement->first.expectedText << " "
          << agreement->first.expected;
      EXPECT_EQ(agreement->unverifiable, 0) << body.text << grid.name;
    }
  }
}

INSTANTIATE_TEST_SUITE_P(
    Bodies, IntegerGraph,
    testing::Values(Body{"out = x * y + k", everyInteger, ""},
                    Body{"out = -x - y * 2", everyInteger, ""},
                    Body{"out = x ** 7 - torch.abs(y)", everyInteger, ""},
                    Body{"out = torch.clamp(torch.maximum(x, y), 3, 100)", everyInteger, ""},
                    Body{"out = torch.relu(torch.minimum(x, y))", everyInteger, ""},
                    Body{"out = (x & y) | (x ^ ~y)", everyInteger, ""},
                    Body{"out = torch.where(x > y, x, 7)", everyInteger, ""},
                    Body{"out = x <= y", everyInteger, "dtype = \"bool\""},
                    Body{"out = torch.masked_fill(x, y, k)", "\"bool\"", ""},
                    Body{"out = torch.logical_xor(x, y)", everyInteger, "dtype = \"bool\""},
                    Body{"out = y + torch.sum(x, dim=-1, keepdim=True)", "\"int8\", \"int64\"",
                         "dtype = \"int64\""},
                    Body{"out = torch.amin(x, dim=-1, keepdim=True) + y", everyInteger, ""},
                    Body{"out = x * 0.5 + y", everyInteger, "dtype = \"float32\""},
                    Body{"out = torch.sigmoid(x) + k", everyInteger, "dtype = \"float32\""},
                    Body{"out = (x & y) ^ ~x", "\"bool\"", ""},
                    Body{"out = torch.where(x, 1, y)", "\"bool\"", "dtype = \"int64\""}));

TEST(Integers, OneMoreIsAMismatchThatIsSaidExactly) {
  Operator op = operatorOf("out = x + y", "\"int64\"", "");
  Tensor x = integers(DType::I64, {int64_t{1} << 60}), y = integers(DType::I64, {1});
  Tensor k = numberTensor(3);
  Tensor out = integers(DType::I64, {(int64_t{1} << 60) + 2});
  auto agreement = checkOutputs(op, std::vector<Tensor>{x, y, k}, std::vector<Tensor>{out},
                                DType::I64, Rounding::OncePerResult, runtime::defaultPool());
  ASSERT_TRUE(agreement);
  EXPECT_EQ(agreement->mismatches, 1);
  EXPECT_EQ(agreement->first.expectedText, "1152921504606846977");
  EXPECT_EQ(agreement->first.actualText, "1152921504606846978");
}

TEST(Integers, UncertainConditionsLeaveRoom) {
  Operator op = operatorOf("out = (torch.exp(x) > y) * 3", "\"float32\"", "dtype = \"int64\"");
  Tensor x = make({1}, {1}), y = make({1}, {std::exp(1.0)}), k = numberTensor(3);
  for (int64_t value : {0, 3, 7}) {
    Tensor out = integers(DType::I64, {value});
    auto agreement = checkOutputs(op, std::vector<Tensor>{x, y, k}, std::vector<Tensor>{out},
                                  DType::F32, Rounding::OncePerResult, runtime::defaultPool());
    ASSERT_TRUE(agreement);
    EXPECT_EQ(agreement->mismatches, value == 7 ? 1 : 0) << value;
  }
}

/// Of one number in `x`; what float32 makes of it may be on either side of a whole number.
Comparison agreementOfWhole(const std::string &body, const std::string &dtype, double x,
                            double result) {
  Operator op = operatorOf(body, "\"float32\"", "dtype = \"" + dtype + "\"");
  const DType type = op.outputDtypes[0].value_or(DType::F32);
  const Tensor out =
      isFloat(type) ? make({1}, {result}) : integers(type, {static_cast<int64_t>(result)});
  const std::vector<Tensor> in = {make({1}, {x}), make({1}, {3}), numberTensor(3)};
  auto agreement = checkOutputs(op, in, std::vector<Tensor>{out}, DType::F32,
                                Rounding::OncePerResult, runtime::defaultPool());
  EXPECT_TRUE(agreement) << body;
  return agreement ? *agreement : Comparison();
}

/// 128, or 127 where something is rounded downwards.
const std::string nearEnd = "(torch.exp(x) * 128).to(torch.int32)";
constexpr double byALittle = 0x1p-30;

TEST(Integers, ErrorsGoAroundTheEndsOfTheType) {
  const auto mismatches = [](const std::string &text, const std::string &dtype, double result) {
    const Comparison found = agreementOfWhole(text, dtype, byALittle, result);
    EXPECT_EQ(found.unverifiable, 0) << text;
    return found.mismatches;
  };
  const std::string wrapped = "out = " + nearEnd + ".to(torch.int8)";
  for (double right : {-128, 127, -127}) {
    EXPECT_EQ(mismatches(wrapped, "int8", right), 0) << right;
  }
  for (double wrong : {-126, 126, 0, 1, -1}) {
    EXPECT_EQ(mismatches(wrapped, "int8", wrong), 1) << wrong;
  }
  for (double right : {-123, -126}) { // 128 * 3 + 5, 127 * 3 + 5
    EXPECT_EQ(mismatches(wrapped + " * 3 + 5", "int8", right), 0) << right;
  }
  for (double wrong : {-127, -119, 0, 5}) {
    EXPECT_EQ(mismatches(wrapped + " * 3 + 5", "int8", wrong), 1) << wrong;
  }
  // Both sides of the condition are far from the other one.
  const std::string chosen = "out = torch.where(y > 0, " + nearEnd + ".to(torch.int8), 5)";
  EXPECT_EQ(mismatches(chosen, "int8", 127), 0);
  EXPECT_EQ(mismatches(chosen, "int8", 5), 1);
  // A sum that goes beyond the ends by itself.
  const std::string added = "out = (torch.exp(x) * 100).to(torch.int8) + 28";
  EXPECT_EQ(mismatches(added, "int8", 127), 0);
  EXPECT_EQ(mismatches(added, "int8", -128), 0);
  EXPECT_EQ(mismatches(added, "int8", 0), 1);
}

TEST(Integers, WhatMayBeAtEitherEndIsOpenBeyondTheType) {
  const std::string wrapped = nearEnd + ".to(torch.int8)";
  const auto agreement = [](const std::string &text, const std::string &dtype, double x,
                            double result) {
    return agreementOfWhole("out = " + text, dtype, x, result);
  };
  for (double any : {-128, 127}) {
    EXPECT_EQ(agreement(wrapped + ".to(torch.int32)", "int32", byALittle, any).unverifiable, 1);
    EXPECT_EQ(agreement(wrapped + ".to(torch.float32) * 2", "float32", byALittle, any).unverifiable,
              1);
    EXPECT_EQ(agreement("torch.abs(" + wrapped + ")", "int8", byALittle, any).unverifiable, 1);
  }
  // A condition is one of two, whatever is compared.
  const std::string condition = "(" + wrapped + " > y) * 1";
  EXPECT_EQ(agreement(condition, "int64", byALittle, 0).mismatches, 0);
  EXPECT_EQ(agreement(condition, "int64", byALittle, 1).mismatches, 0);
  EXPECT_EQ(agreement(condition, "int64", byALittle, 2).mismatches, 1);
  // 256 or 255 is 0 or -1, with no end between them.
  const double twice = std::log(2.0F);
  EXPECT_EQ(agreement(wrapped + ".to(torch.int32)", "int32", twice, -1).mismatches, 0);
  EXPECT_EQ(agreement(wrapped + ".to(torch.int32)", "int32", twice, 255).mismatches, 1);
  EXPECT_EQ(agreement(wrapped + ".to(torch.float32) * 2", "float32", twice, -2).mismatches, 0);
  EXPECT_EQ(agreement(wrapped + ".to(torch.float32) * 2", "float32", twice, 16).mismatches, 1);
  // Nothing is known of a number whose error is as large as half of all numbers.
  const std::string rough = "((torch.exp(x) * 1e9).to(torch.int32)).to(torch.int8)";
  EXPECT_EQ(agreement(rough, "int8", byALittle, 0).unverifiable, 1);
}

} // namespace
} // namespace nereid::eager
