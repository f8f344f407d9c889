// SPDX-License-Identifier: Apache-2.0
// What bodies make of sizes and numbers: shapes and types, size inputs, and what is refused.
#include "unittests/definition/Loading.h"

#include "lib/definition/operations/Infer.h"

namespace nereid::definition {
namespace {

/// One expression beside x, reduced, so that its shape need not be declared.
Loaded made(const std::string &expression) {
  return load("[operator]\nname = \"t\"\nsummary = \"s\"\ndtypes = [\"float32\", \"float16\"]\n"
              "body = '''\ny = " +
              expression +
              "\nout = x.sum() + torch.where(y != 0, x.sum(), 0).sum()\n'''\n"
              "[inputs.x]\nshape = [\"M\", \"N\"]\n[inputs.i]\nshape = [\"N\"]\n"
              "dtype = \"int64\"\n[inputs.p]\nvalue = 0.5\n[inputs.seed]\nvalue = 1\n"
              "[outputs.out]\nshape = []\n[performance]\ncases = [{ M = 9, N = 9 }]\n");
}

/// "[M, N] int64" of the node named y.
std::string made(const std::string &expression, DType dtype) {
  const Loaded loaded = made(expression);
  EXPECT_TRUE(loaded.op) << expression << "\n" << loaded.diags.render();
  const std::vector<DType> types = loaded.op ? nodeDtypes(*loaded.op, dtype) : std::vector<DType>();
  for (size_t i = 0; i < types.size(); ++i) {
    if (loaded.op->nodes[i].name == "y") {
      return text(loaded.op->nodes[i].shape) + " " + std::string(torchName(types[i]));
    }
  }
  return "";
}

TEST(Creation, ShapesAndTypesArePyTorchs) {
  EXPECT_EQ(made("torch.arange(N)", DType::F16), "[N] int64");
  EXPECT_EQ(made("torch.arange(1, N)", DType::F16), "[N - 1] int64");
  EXPECT_EQ(made("torch.arange(0, N, 2)", DType::F16), "[(N + 1) // 2] int64");
  EXPECT_EQ(made("torch.arange(N, 0, -1)", DType::F16), "[N] int64");
  EXPECT_EQ(made("torch.arange(0.0, 1.0, 0.25)", DType::F16), "[4] float32");
  EXPECT_EQ(made("torch.arange(N, dtype=torch.int32)", DType::F16), "[N] int32");
  EXPECT_EQ(made("torch.arange(N, dtype=x.dtype)", DType::F16), "[N] float16");
  EXPECT_EQ(made("torch.full((M, N), 2)", DType::F16), "[M, N] int64");
  EXPECT_EQ(made("torch.full((M, N), 2.0)", DType::F16), "[M, N] float32");
  EXPECT_EQ(made("torch.full((M, N), p, dtype=x.dtype)", DType::F16), "[M, N] float16");
  EXPECT_EQ(made("torch.full((), True)", DType::F16), "[] bool");
  EXPECT_EQ(made("torch.zeros(M, 3)", DType::F16), "[M, 3] float32");
  EXPECT_EQ(made("torch.ones([N], dtype=torch.uint8)", DType::F16), "[N] uint8");
  EXPECT_EQ(made("x.new_zeros(N, N)", DType::F16), "[N, N] float16");
  EXPECT_EQ(made("i.new_full((M,), 7)", DType::F16), "[M] int64");
  EXPECT_EQ(made("torch.zeros(x.shape)", DType::F16), "[M, N] float32");
  EXPECT_EQ(made("torch.eye(M, N, dtype=x.dtype)", DType::F16), "[M, N] float16");
  EXPECT_EQ(made("torch.linspace(0, 1, N)", DType::F16), "[N] float32");
  EXPECT_EQ(made("torch.scalar_tensor(3, dtype=torch.float64)", DType::F16), "[] float64");
  EXPECT_EQ(made("F.one_hot(i, 5)", DType::F16), "[N, 5] int64");
  EXPECT_EQ(made("torch.rand(M, 2, seed=seed)", DType::F16), "[M, 2] float32");
  EXPECT_EQ(made("F.dropout(x, p, seed=seed)", DType::F16), "[M, N] float16");
  EXPECT_EQ(made("torch.bernoulli(x, seed=3)", DType::F16), "[M, N] float16");
  EXPECT_EQ(made("torch.randint(0, 9, (N,), seed=seed)", DType::F16), "[N] int64");
}

TEST(Creation, WhatCannotBeMadeIsRefused) {
  auto codeOf = [](const std::string &expression) { return made(expression).code(); };
  EXPECT_EQ(codeOf("torch.arange(x)"), "E0608");
  EXPECT_EQ(codeOf("torch.arange(0, seed)"), "E0608"); // a number decides no shape
  EXPECT_EQ(codeOf("torch.arange(0, N, 0)"), "E0608");
  EXPECT_EQ(codeOf("torch.arange()"), "E0608");
  EXPECT_EQ(codeOf("torch.full((M, N))"), "E0608");
  EXPECT_EQ(codeOf("torch.full((M, N), 0.5, dtype=torch.int32)"), "E0608");
  EXPECT_EQ(codeOf("torch.full((M, N), 300, dtype=torch.uint8)"), "E0608");
  EXPECT_EQ(codeOf("torch.full((M, N), x)"), "E0608");
  EXPECT_EQ(codeOf("torch.zeros(M, dtype=torch.complex64)"), "E0608");
  EXPECT_EQ(codeOf("torch.zeros(-1)"), "E0604");
  EXPECT_EQ(codeOf("torch.zeros(M, sizes=N)"), "E0608");
  EXPECT_EQ(codeOf("torch.zeros(Q)"), "E0608");
  EXPECT_EQ(codeOf("F.one_hot(x, 5)"), "E0608");
  EXPECT_EQ(codeOf("F.dropout(x, p)"), "E0608"); // no seed
  EXPECT_EQ(codeOf("F.dropout(x, p, seed=0.5)"), "E0608");
  EXPECT_EQ(codeOf("torch.rand(seed=seed)"), "E0608");
  EXPECT_EQ(codeOf("torch.linspace(0, 1, N, dtype=torch.int32)"), "E0608");
}

Loaded sized(const std::string &inputs, const std::string &dtypes = "[\"int64\"]") {
  return load("[operator]\nname = \"t\"\nsummary = \"s\"\ndtypes = " + dtypes +
              "\nbody = '''\nout = torch.arange(N)\n'''\n" + inputs +
              "\n[outputs.out]\nshape = [\"N\"]\ndtype = \"int64\"\n"
              "[performance]\ncases = [{ N = 9 }]\n");
}

TEST(Creation, SizesAreInputsWhereNoTensorBringsThem) {
  const Loaded loaded = sized("[inputs.N]\nsize = 16");
  ASSERT_TRUE(loaded.op) << loaded.diags.render();
  EXPECT_EQ(symbolsOf(*loaded.op), std::vector<std::string>{"N"});
  EXPECT_TRUE(loaded.op->parameters[0].isSize());
  EXPECT_EQ(bindShapes(*loaded.op, {{5}})->symbols.at("N"), 5);
  EXPECT_EQ(bindShapes(*loaded.op, {{}})->symbols.at("N"), 16); // the default
  EXPECT_EQ(sized("[inputs.N]\nsize = -1").code(), "E0602");
  EXPECT_EQ(sized("[inputs.N]\nsize = 1.5").code(), "E0602");
  EXPECT_EQ(sized("[inputs.N]\nsize = 16\nvalue = 2").code(), "E0602");
  EXPECT_EQ(sized("[inputs.N]\nsize = 16", "[\"int64\", \"float32\"]").code(), "E0602");
  EXPECT_EQ(sized("[inputs.N]\nsize = 16\n[inputs.x]\nshape = [\"N\"]").code(), "E0602");
  EXPECT_EQ(sized("[inputs.p]\nvalue = 1").code(), "E0602"); // neither a tensor nor a size
}

} // namespace
} // namespace nereid::definition
