// SPDX-License-Identifier: Apache-2.0
// Types of integer and bool operators after PyTorch's rules, what is refused, and their test data.
#include "unittests/definition/Loading.h"

#include "lib/definition/cases/CaseGrid.h"
#include "lib/definition/operations/Promotion.h"
#include "runtime/elements/IntegerElements.h"

#include <set>

namespace nereid::definition {
namespace {

/// withBody for other types; y has `other`, when given.
std::string typed(const std::string &body, const std::string &types,
                  const std::string &outMore = "", const std::string &other = "") {
  std::string text = withBody(body, "\"...\", \"D\"", outMore);
  const std::string floats = "\"float32\", \"float16\"";
  text.replace(text.find(floats), floats.size(), types);
  if (!other.empty()) {
    text.insert(text.find("shape = [\"D\"]"), "dtype = \"" + other + "\"\n");
  }
  return text;
}

/// Type of 'out' for int32, or the code of the error.
std::string outType(const std::string &body, const std::string &type = "int32",
                    const std::string &other = "") {
  for (DType declared : {DType::Bool, DType::I8, DType::I16, DType::I32, DType::I64, DType::U8,
                         DType::F16, DType::F32, DType::F64}) {
    std::string name(torchName(declared));
    Loaded loaded = load(typed(body, "\"" + type + "\"", "dtype = \"" + name + "\"", other));
    if (loaded.op) {
      return name;
    }
    if (loaded.code() != "E0605") {
      return loaded.code();
    }
  }
  return "none";
}

TEST(Integers, TypesFollowPyTorch) {
  EXPECT_EQ(outType("out = x + y"), "int32");
  EXPECT_EQ(outType("out = x * 2 - 1"), "int32");
  EXPECT_EQ(outType("out = x * 0.5"), "float32");
  EXPECT_EQ(outType("out = x * 2.0"), "float32");
  EXPECT_EQ(outType("out = x * s + y"), "float32"); // s = 2.5
  EXPECT_EQ(outType("out = x / y"), "float32");
  EXPECT_EQ(outType("out = torch.exp(x)"), "float32");
  EXPECT_EQ(outType("out = x > y"), "bool");
  EXPECT_EQ(outType("out = (x > y) & (x != 0)"), "bool");
  EXPECT_EQ(outType("out = x & y | 1"), "int32");
  EXPECT_EQ(outType("out = ~x ^ y"), "int32");
  EXPECT_EQ(outType("out = x ** 5"), "int32");
  EXPECT_EQ(outType("out = x ** 2.0"), "float32");
  EXPECT_EQ(outType("out = x + torch.sum(x, dim=-1, keepdim=True)"), "int64");
  EXPECT_EQ(outType("out = x + torch.amax(x, dim=-1, keepdim=True)"), "int32");
  EXPECT_EQ(outType("out = torch.where(x > y, x, 0)"), "int32");
  EXPECT_EQ(outType("out = torch.where(x > y, 1, 0)"), "int64");
  EXPECT_EQ(outType("out = torch.where(x > y, x, 0.5)"), "float32");
  EXPECT_EQ(outType("out = torch.clamp(x, 0, 10)"), "int32");
  EXPECT_EQ(outType("out = torch.clamp(x, max=10)"), "int32");
  EXPECT_EQ(outType("out = torch.relu(x)"), "int32");
  EXPECT_EQ(outType("out = x + y", "int8", "uint8"), "int16");
  EXPECT_EQ(outType("out = x + y", "int8", "bool"), "int8");
  EXPECT_EQ(outType("out = x + y", "bool", "uint8"), "uint8");
  EXPECT_EQ(outType("out = x & y", "bool", "bool"), "bool");
  EXPECT_EQ(outType("out = x + y", "float16", "int32"), "float16");
  // Integer times float is PyTorch's default type, whatever else the operator computes in.
  EXPECT_EQ(outType("out = x + y * 0.5", "float16", "int32"), "float32");
  EXPECT_EQ(outType("out = x + y * 0.5", "float64", "int32"), "float64");
  // Numbers that are chosen between are no operator's.
  EXPECT_EQ(outType("out = torch.where(x > y, 1.0, 0.5)", "float16", "float16"), "float32");
  EXPECT_EQ(outType("out = torch.where(x > y, 1, 0.5)", "float64", "float64"), "float64");
  EXPECT_EQ(outType("out = torch.where(x > y, 1, 0)", "float16", "float16"), "int64");
  EXPECT_EQ(outType("out = x * torch.where(x > y, 1, 0)", "float16", "float16"), "float16");
}

TEST(Integers, WhatHasNoMeaningIsRefused) {
  for (const char *body :
       {"out = torch.mean(x, dim=-1, keepdim=True) + x", "out = F.gelu(x)",
        "out = torch.softmax(x, dim=-1)", "out = x ** y", "out = x ** -1", "out = x ** 100",
        "out = x + 3000000000", "out = x > -3000000000", "out = -(x > y)",
        "out = torch.amax(x > y, dim=-1, keepdim=True) + x", "out = x.masked_fill(x > y, 0.5)",
        "out = torch.where(x, x, y)", "out = x + 99999999999999999999"}) {
    EXPECT_TRUE(outType(body) == "E0608" || outType(body) == "E0106") << body << outType(body);
  }
  EXPECT_EQ(outType("out = x & 1", "float32"), "E0608");
  EXPECT_EQ(outType("out = ~x", "float32"), "E0608");
}

TEST(Integers, AnOutputHasOneTypeOrTheOperators) {
  Loaded loaded =
      load(typed("out = x + torch.sum(x, dim=-1, keepdim=True)", "\"float32\", \"int32\""));
  ASSERT_EQ(loaded.code(), "E0605");
  EXPECT_NE(loaded.first().help.find("give int32 a definition of its own"), std::string::npos)
      << loaded.diags.render();
  EXPECT_TRUE(load(typed("out = x * y", "\"float32\", \"int32\", \"bool\", \"uint8\"")).code() ==
              "E0608"); // of bools there is no product
  EXPECT_TRUE(load(typed("out = x * y", "\"float32\", \"int32\", \"uint8\"")).op);
}

TEST(Integers, NumbersAreFoldedExactly) {
  Loaded loaded = load(typed("out = x + (2 ** 62 + 1)", "\"int64\""));
  ASSERT_TRUE(loaded.op) << loaded.diags.render();
  const Node &sum = loaded.op->nodes.back();
  const Node &number = loaded.op->nodes[static_cast<size_t>(sum.inputs[1])];
  EXPECT_EQ(integerAttribute(number, "integer", 0), (int64_t{1} << 62) + 1);
}

TEST(Integers, RangesOfTypes) {
  EXPECT_EQ(lowestInteger(DType::I8), -128);
  EXPECT_EQ(lowestInteger(DType::I64), INT64_MIN);
  EXPECT_EQ(lowestInteger(DType::U32), 0);
  EXPECT_EQ(highestInteger(DType::I16), 32767u);
  EXPECT_EQ(highestInteger(DType::U64), UINT64_MAX);
  EXPECT_EQ(highestInteger(DType::Bool), 1u);
  EXPECT_TRUE(fitsInteger(-128, DType::I8) && !fitsInteger(-129, DType::I8));
  EXPECT_TRUE(fitsInteger(255, DType::U8) && !fitsInteger(256, DType::U8));
  EXPECT_FALSE(fitsInteger(-1, DType::U64));
}

TEST(Integers, DataReachTheEndsOfTheType) {
  for (DType dtype : {DType::I8, DType::I16, DType::I32, DType::I64, DType::U8, DType::U16,
                      DType::U32, DType::U64}) {
    Operator op = *load(typed("out = x + y", "\"" + std::string(torchName(dtype)) + "\"")).op;
    std::set<uint64_t> seen;
    for (const GridCase &one : accuracyGrid(op, 1, 8, dtype)) {
      auto inputs = makeInputs(op, one, dtype), again = makeInputs(op, one, dtype);
      ASSERT_TRUE(inputs && again);
      const runtime::Tensor &x = (*inputs)[0].view;
      for (int64_t i = 0; i < x.elementCount(); ++i) {
        seen.insert(runtime::loadInteger(x, i));
        ASSERT_EQ(runtime::loadInteger(x, i), runtime::loadInteger((*again)[0].view, i));
      }
    }
    EXPECT_TRUE(seen.contains(highestInteger(dtype))) << torchName(dtype);
    EXPECT_TRUE(seen.contains(static_cast<uint64_t>(lowestInteger(dtype)))) << torchName(dtype);
    EXPECT_TRUE(seen.contains(0) && seen.contains(1)) << torchName(dtype);
    EXPECT_TRUE(!isSignedInteger(dtype) || seen.contains(~uint64_t{0}));
    EXPECT_GT(seen.size(), 200u) << torchName(dtype);
  }
}

TEST(Integers, DataKeepConstraints) {
  std::string text = typed("out = x + y", "\"int8\", \"uint8\", \"int64\"");
  text.insert(text.find("dtypes"), "constraints = [\"x > 0 and y != 0\"]\n");
  Loaded loaded = load(text);
  ASSERT_TRUE(loaded.op) << loaded.diags.render();
  for (DType dtype : loaded.op->dtypes) {
    for (const GridCase &one : accuracyGrid(*loaded.op, 1, 4, dtype)) {
      auto inputs = makeInputs(*loaded.op, one, dtype);
      ASSERT_TRUE(inputs);
      for (int64_t i = 0; i < (*inputs)[0].view.elementCount(); ++i) {
        ASSERT_GT((*inputs)[0].view.at(i), 0) << one.name;
      }
      for (int64_t i = 0; i < (*inputs)[1].view.elementCount(); ++i) {
        ASSERT_NE((*inputs)[1].view.at(i), 0) << one.name;
      }
    }
  }
}

TEST(IntegerTypes, SizesAreComparedBeyondTheOperatorsType) {
  const TypedOperand size{DType::I8, OperandKind::Whole},
      fraction{DType::I8, OperandKind::Fraction};
  const TypedOperand tensor{DType::I8, OperandKind::Tensor};
  auto computed = [](const TypedOperand &a, const TypedOperand &b, DType own) {
    return computedDtype(*findOperation("lt"), std::vector{a, b}, own);
  };
  EXPECT_EQ(computed(size, size, DType::I8), DType::I64); // 166 < 0 holds in int8
  EXPECT_EQ(computed(size, size, DType::F16), DType::I64);
  EXPECT_EQ(computed(tensor, size, DType::I8), DType::I8);
  EXPECT_EQ(computed(fraction, size, DType::I8), DType::F32);
}

} // namespace
} // namespace nereid::definition
