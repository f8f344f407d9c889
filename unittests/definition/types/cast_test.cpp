// SPDX-License-Identifier: Apache-2.0
// Conversions in bodies, 8-bit floats as types of inputs and outputs, and what is refused.
#include "unittests/definition/Loading.h"

#include "lib/definition/operations/Operations.h"
#include "lib/definition/operations/Promotion.h"

namespace nereid::definition {
namespace {

/// withBody, whose output has the type, and whose y another one.
Loaded cast(const std::string &body, const std::string &outType = "",
            const std::string &other = "") {
  std::string text =
      withBody(body, "\"...\", \"D\"", outType.empty() ? "" : "dtype = \"" + outType + "\"");
  if (!other.empty()) {
    text.insert(text.find("shape = [\"D\"]"), "dtype = \"" + other + "\"\n");
  }
  return load(text);
}

TEST(Casts, EverySpellingGivesItsType) {
  for (const char *type : {"bool", "uint8", "uint16", "uint32", "uint64", "int8", "int16", "int32",
                           "int64", "bfloat16", "float64", "float8_e4m3fn", "float8_e5m2"}) {
    const std::string name = std::string("torch.") + type;
    EXPECT_TRUE(cast("out = x.to(" + name + ")", type).op) << type;
    EXPECT_TRUE(cast("out = x.to(dtype=" + name + ")", type).op) << type;
    EXPECT_TRUE(cast("out = x.type(" + name + ")", type).op) << type;
  }
  for (auto [method, type] : {std::pair("double", "float64"),
                              {"int", "int32"},
                              {"long", "int64"},
                              {"short", "int16"},
                              {"char", "int8"},
                              {"byte", "uint8"},
                              {"bool", "bool"},
                              {"bfloat16", "bfloat16"}}) {
    EXPECT_TRUE(cast(std::string("out = (x + 1).") + method + "()", type).op) << method;
  }
  EXPECT_TRUE(cast("out = (x + 1).to(torch.half) + (x + 1).to(torch.float)", "float32").op);
}

TEST(Casts, TakeTheTypeOfAnotherTensor) {
  EXPECT_TRUE(cast("out = (x.float() + 1).to(x.dtype)").op);
  EXPECT_TRUE(cast("out = (x.float() + 1).type_as(x)").op);
  EXPECT_TRUE(cast("out = x.to(y.dtype)", "int8", "int8").op);
  EXPECT_EQ(cast("out = x.to((x.float() + x).dtype)").code(), "E0605"); // float32 of both
}

TEST(Casts, OfTheSameTypeAreNoOperation) {
  const Loaded same = cast("out = x.to(x.dtype) + y.to(torch.int8)", "", "int8");
  ASSERT_TRUE(same.op) << same.diags.render();
  for (const Node &node : same.op->nodes) {
    EXPECT_FALSE(isCast(node)) << node.op;
  }
  EXPECT_EQ(cast("out = x.to(x.dtype)").code(), "E0608"); // an output that is its input
}

TEST(Casts, WhatIsNoConversionIsRefused) {
  EXPECT_EQ(cast("out = x.to(torch.float17)").code(), "E0605");
  EXPECT_EQ(cast("out = x.to(torch.float8_e4m3fnuz)").code(), "E0605");
  EXPECT_EQ(cast("out = x.to(torch.char)").code(), "E0605"); // PyTorch has the method alone
  EXPECT_EQ(cast("out = x.to(y)").code(), "E0608");
  EXPECT_EQ(cast("out = x.to()").code(), "E0608");
  EXPECT_EQ(cast("out = x.float(1)").code(), "E0608");
  EXPECT_EQ(cast("out = x.to(torch.int8, copy=True)").code(), "E0608");
  EXPECT_EQ(cast("out = x + (1.5).to(torch.int8)").code(), "E0608");
  EXPECT_EQ(cast("out = to_int8(x)").code(), "E0603"); // no function of PyTorch's
  EXPECT_EQ(cast("out = torch.to_int8(x)").code(), "E0603");
}

TEST(Casts, EightBitFloatsAreStoredAndNotComputed) {
  EXPECT_TRUE(cast("out = x + y.float()", "float32", "float8_e5m2").op);
  EXPECT_TRUE(cast("out = y.unsqueeze(0).expand(2, D)[0].to(x.dtype) + x", "", "float8_e4m3fn").op);
  for (const char *body : {"out = x + y", "out = x * (y == y)", "out = x + torch.abs(y)",
                           "out = x + torch.sum(y)", "out = torch.where(x > 0, x, y)",
                           "out = x + torch.softmax(y, dim=-1)", "out = x + torch.argmax(y)"}) {
    const Loaded refused = cast(body, "", "float8_e4m3fn");
    EXPECT_EQ(refused.code(), "E0608") << body;
    EXPECT_NE(refused.diags.render().find("convert them first"), std::string::npos) << body;
  }
  const Loaded unknown = cast("out = x.to(torch.int8)", "float8_e4m3b11");
  EXPECT_EQ(unknown.code(), "E0605");
  EXPECT_NE(unknown.diags.render().find("float8_e5m2"), std::string::npos);
}

TEST(Casts, ATypeHoldsAnotherWhenNothingIsRounded) {
  EXPECT_TRUE(holdsAll(DType::F32, DType::F16));
  EXPECT_TRUE(holdsAll(DType::F16, DType::F8E4M3FN));
  EXPECT_TRUE(holdsAll(DType::BF16, DType::F8E5M2));
  EXPECT_TRUE(holdsAll(DType::F16, DType::U8));
  EXPECT_TRUE(holdsAll(DType::F32, DType::I16));
  EXPECT_TRUE(holdsAll(DType::F64, DType::I32));
  EXPECT_TRUE(holdsAll(DType::I16, DType::U8));
  EXPECT_TRUE(holdsAll(DType::I8, DType::Bool));
  EXPECT_TRUE(holdsAll(DType::BF16, DType::U8)); // eight digits
  EXPECT_FALSE(holdsAll(DType::BF16, DType::F16));
  EXPECT_FALSE(holdsAll(DType::F16, DType::BF16));
  EXPECT_FALSE(holdsAll(DType::F8E5M2, DType::F8E4M3FN));
  EXPECT_FALSE(holdsAll(DType::F8E4M3FN, DType::F8E5M2));
  EXPECT_FALSE(holdsAll(DType::F32, DType::I32));
  EXPECT_FALSE(holdsAll(DType::F16, DType::I16));
  EXPECT_FALSE(holdsAll(DType::U8, DType::I8));
  EXPECT_FALSE(holdsAll(DType::I8, DType::U8));
  EXPECT_FALSE(holdsAll(DType::I64, DType::F32));
  EXPECT_FALSE(holdsAll(DType::Bool, DType::U8));
}

TEST(Casts, ProductsHaveOneType) {
  std::string text = "[operator]\nname = \"t\"\nsummary = \"s\"\ndtypes = [\"int8\"]\nbody = "
                     "\"\"\"\nout = BODY\n\"\"\"\n[inputs.a]\nshape = [\"M\", \"K\"]\n[inputs.b]\n"
                     "shape = [\"K\", \"N\"]\nOTHER\n[outputs.out]\nshape = [\"M\", \"N\"]\nOUT\n"
                     "[performance]\ncases = [{ M = 2, K = 2, N = 2 }]\n";
  auto product = [&](const std::string &body, const std::string &other, const std::string &out) {
    std::string made = text;
    made.replace(made.find("BODY"), 4, body);
    made.replace(made.find("OTHER"), 5, other);
    made.replace(made.find("OUT"), 3, out);
    return load(made).code();
  };
  EXPECT_EQ(product("a @ b", "", ""), "");
  EXPECT_EQ(product("torch._int_mm(a, b)", "", "dtype = \"int32\""), "");
  EXPECT_EQ(product("a.int() @ b.int()", "", "dtype = \"int32\""), "");
  EXPECT_EQ(product("a @ b", "dtype = \"int16\"", "dtype = \"int16\""), "E0605");
  EXPECT_EQ(product("a.float() @ b", "dtype = \"float16\"", "dtype = \"float32\""), "E0605");
  EXPECT_EQ(product("F.linear(a.float(), b.t())", "dtype = \"float64\"", "dtype = \"float64\""),
            "E0605");
  EXPECT_EQ(product("(a > 0) @ (b > 0)", "", "dtype = \"bool\""), "E0608");
  EXPECT_EQ(product("a @ b", "dtype = \"float8_e5m2\"", ""), "E0608");
}

/// Code of the error in `out = BODY`, or "": x, y and a mask of these types.
std::string codeOf(const std::string &body, const std::string &x, const std::string &y,
                   const std::string &out) {
  const auto input = [](const std::string &name, const std::string &type) {
    return "[inputs." + name + "]\nshape = [\"N\", \"N\"]\ndtype = \"" + type + "\"\n";
  };
  return load("[operator]\nname = \"t\"\nsummary = \"s\"\ndtypes = [\"float32\"]\nbody = "
              "\"\"\"\nout = " +
              body + "\n\"\"\"\n" + input("x", x) + input("y", y) + input("mask", "bool") +
              "[outputs.out]\nshape = [\"N\", \"N\"]\ndtype = \"" + out +
              "\"\n[performance]\ncases = [{ N = 2 }]\n")
      .code();
}

TEST(Casts, MixturesThatPyTorchRefuses) {
  EXPECT_EQ(codeOf("x + y * mask", "float32", "float16", "float32"), "");
  for (const char *body : {"x @ y", "torch.lerp(x, y, 0.5)", "torch.heaviside(x, y)",
                           "torch.einsum('ij,jk->ik', x, y)", "torch.addmm(x, x, y)"}) {
    EXPECT_EQ(codeOf(std::string(body) + " * mask", "float32", "float32", "float32"), "") << body;
    EXPECT_EQ(codeOf(std::string(body) + " * mask", "float32", "float16", "float32"), "E0605")
        << body;
  }
  EXPECT_EQ(codeOf("x - mask * y", "float32", "float32", "float32"), "");
  EXPECT_EQ(codeOf("x * y - mask", "float32", "float32", "float32"), "E0608");
  EXPECT_EQ(codeOf("(1 - mask) * x * y", "float32", "float32", "float32"), "E0608");
  EXPECT_EQ(codeOf("torch.where(mask, x, y)", "float32", "float32", "float32"), "");
  EXPECT_EQ(codeOf("torch.where(x, y, mask)", "float32", "float32", "float32"), "E0608");
  EXPECT_EQ(codeOf("y.masked_fill(x, 1) * mask", "float32", "float32", "float32"), "E0608");
}

TEST(Casts, FunctionsWithATypeConvertTheirOperand) {
  const auto code = [](const std::string &body, const std::string &x, const std::string &out) {
    return codeOf(body + " * y * mask", x, out, out);
  };
  EXPECT_EQ(code("F.softmax(x, dim=-1, dtype=torch.float32)", "float16", "float32"), "");
  EXPECT_EQ(code("x.log_softmax(0, dtype=None)", "float16", "float16"), "");
  EXPECT_EQ(code("x.mean(dtype=torch.float32)", "int8", "float32"), "");
  EXPECT_EQ(code("torch.sum(x, -1, dtype=torch.int32)", "int32", "int32"), "");
  EXPECT_EQ(code("x.cumsum(0, dtype=y.dtype)", "bool", "int16"), "");
  EXPECT_EQ(code("x.mean(dtype=torch.int32)", "float32", "int32"), "E0608");
  EXPECT_EQ(code("x.sum(dtype=torch.complex64)", "float32", "float32"), "E0605");
  EXPECT_EQ(code("torch.amax(x, dtype=torch.float32)", "float32", "float32"), "E0608");
}

} // namespace
} // namespace nereid::definition
