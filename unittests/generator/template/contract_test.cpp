// SPDX-License-Identifier: Apache-2.0
// Contractions: what is recognised, the text of their kernels, and what these compute.
#include "lib/generator/template/Contract.h"

#include "lib/generator/fuse/Partition.h"
#include "lib/generator/kernel/Printer.h"
#include "lib/generator/normalise/Normalise.h"
#include "unittests/generator/program/Reading.h"
#include "unittests/generator/template/Expect.h"

#include <cmath>
#include <limits>

namespace nereid::generator {
namespace {

constexpr const char *buffers = R"(
N = size()
M = size()
K = size()
x = input(fp16, [N, K], strides=[K, 1])
w = input(fp16, [M, K], strides=[K, 1])
b = input(fp32, [M], strides=[1])
y = output(fp32, [N, M], strides=[M, 1])
i = iterator(N)
j = iterator(M)
k = iterator(K)
stage("t")
)";

Program prepared(const std::string &text) {
  Program read = program(text);
  normalise(read);
  partition(read);
  return read;
}

/// How many contractions the first kernel has of the program with this store.
size_t recognised(const std::string &store) {
  Program read = prepared(buffers + store + "\n");
  return contractionsOf(read, read.stages.at(0).stores).size();
}

TEST(Contraction, IsASumOfProductsOfFactorsWithIteratorsOfTheirOwn) {
  EXPECT_EQ(recognised("y[i, j] = sum[k](cast(x[i, k], fp32) * cast(w[j, k], fp32)) + b[j]"), 1u);
  EXPECT_EQ(recognised("y[i, j] = sum[k](cast(w[j, k], fp32) * exp(cast(x[i, k], fp32)))"), 1u);
  // Two of one kernel, factors exchanged.
  EXPECT_EQ(recognised("y[i, j] = sum[k](cast(x[i, k], fp32) * cast(w[j, k], fp32)) * "
                       "sum[k](exp(cast(w[j, k], fp32)) * cast(x[i, k], fp32))"),
            2u);
}

TEST(Contraction, IsNoneWhereAFactorLacksAnIterator) {
  EXPECT_EQ(recognised("y[i, j] = sum[k](cast(x[i, k], fp32) + cast(w[j, k], fp32))"), 0u);
  EXPECT_EQ(recognised("y[i, j] = max[k](cast(x[i, k], fp32) * cast(w[j, k], fp32))"), 0u);
  EXPECT_EQ(recognised("y[i, j] = sum[k](cast(x[i, k], fp32) * b[j])"), 0u);
  EXPECT_EQ(recognised("y[i, j] = sum[k](cast(x[i, k], fp32) * cast(x[i, k], fp32)) + b[j]"), 0u);
  // What may be infinite in a factor is not excluded by a product with 0.
  EXPECT_EQ(recognised("y[i, j] = sum[k](where(index(k - i) >= 0, cast(x[i, k], fp32) * "
                       "cast(w[j, k], fp32), 0.0))"),
            0u);
}

/// The type in which two factors are multiplied that are stored in types of their own.
std::string operandOf(const std::string &x, const std::string &w, const std::string &sum = "fp32") {
  const std::string text =
      "N = size()\nM = size()\nK = size()\nx = input(" + x + ", [N, K], strides=[K, 1])\n" +
      "w = input(" + w + ", [M, K], strides=[K, 1])\ny = output(" + sum +
      ", [N, M], strides=[M, 1])\ni = iterator(N)\nj = iterator(M)\nk = iterator(K)\n" +
      "stage(\"t\")\ny[i, j] = sum[k](cast(x[i, k], " + sum + ") * cast(w[j, k], " + sum + "))\n";
  Program read = prepared(text);
  const std::vector<Contraction> found = contractionsOf(read, read.stages.at(0).stores);
  return found.empty() ? "none" : std::string(kernelName(found[0].operand));
}

TEST(Contraction, FactorsOfEightBitsAreMultipliedInATypeThatHasThem) {
  EXPECT_EQ(operandOf("fp16", "fp16"), "fp16");
  EXPECT_EQ(operandOf("fp8e4nv", "fp8e5"), "fp16");
  EXPECT_EQ(operandOf("fp16", "i8"), "fp16");
  EXPECT_EQ(operandOf("bf16", "u8"), "bf16");
  EXPECT_EQ(operandOf("bf16", "fp8e4nv"), "bf16");
  EXPECT_EQ(operandOf("fp16", "bf16"), "fp32");
  EXPECT_EQ(operandOf("fp16", "i16"), "fp32");
  EXPECT_EQ(operandOf("fp32", "i8"), "fp32");
}

TEST(Contraction, OfIntegersHasFactorsOfInt8) {
  EXPECT_EQ(operandOf("i8", "i8", "i32"), "i8");
  EXPECT_EQ(operandOf("i8", "i16", "i32"), "none");
  EXPECT_EQ(operandOf("i8", "u8", "i32"), "none");
  EXPECT_EQ(operandOf("i8", "i8", "i64"), "none");
}

TEST(ContractKernel, FactorsStayAsTheyAreStored) {
  Program read =
      prepared(buffers +
               std::string("y[i, j] = sum[k](cast(x[i, k], fp32) * cast(w[j, k], fp32)) + b[j]\n"));
  const std::vector<Store> &stores = read.stages[0].stores;
  auto made = emitContract(read, "t_kernel", stores, contractionsOf(read, stores));
  ASSERT_TRUE(bool(made));
  EXPECT_EQ(kernel::text(made->tree), R"(@triton.jit
def t_kernel(
    x_ptr, w_ptr, b_ptr, y_ptr, M, N, K,
    BLOCK_M: tl.constexpr, GROUP_M: tl.constexpr, BLOCK_N: tl.constexpr, BLOCK_K: tl.constexpr,
    WIDE: tl.constexpr,
):
    pid = tl.program_id(axis=0)
    blocks_n = tl.cdiv(M, BLOCK_N)
    pid_n = pid % blocks_n
    pid_m = pid // blocks_n
    if GROUP_M > 1:
        group_size = GROUP_M * blocks_n
        within = pid_m * blocks_n + pid_n
        group_first = (within // group_size) * GROUP_M
        group_rows = tl.minimum(tl.cdiv(N, BLOCK_M) - group_first, GROUP_M)
        place = within % group_size
        pid_m = group_first + place % group_rows
        pid_n = place // group_rows
    if WIDE:
        pid_m = pid_m.to(tl.int64)
        pid_n = pid_n.to(tl.int64)
    m = (pid_m * BLOCK_M + tl.arange(0, BLOCK_M))[:, None]
    n = (pid_n * BLOCK_N + tl.arange(0, BLOCK_N))[None, :]
    acc = tl.zeros((BLOCK_M, BLOCK_N), tl.float32)
    m_inside = m < N
    n_inside = n < M
    for start in range(0, K, BLOCK_K):
        k = (start + tl.arange(0, BLOCK_K))[None, :]
        if WIDE:
            k = k.to(tl.int64)
        k_1 = (start + tl.arange(0, BLOCK_K))[:, None]
        if WIDE:
            k_1 = k_1.to(tl.int64)
        k_inside = k < K
        inside = m_inside & k_inside
        x = tl.load(x_ptr + m * K + k, mask=inside, other=0.0)
        k_1_inside = k_1 < K
        inside_1 = k_1_inside & n_inside
        w = tl.load(w_ptr + n * K + k_1, mask=inside_1, other=0.0)
        acc = tl.dot(x, w, acc)
    n_inside_1 = n < M
    b = tl.load(b_ptr + n, mask=n_inside_1, other=0.0)
    y = acc + b
    m_inside_1 = m < N
    inside_2 = m_inside_1 & n_inside_1
    tl.store(y_ptr + m * M + n, y, mask=inside_2)
)");
}

const std::vector<RunOptions> &everywhere() {
  static const std::vector<RunOptions> all = {{RunOn::Interpreter, true, false},
                                              {RunOn::Interpreter, false, true},
                                              {RunOn::Cpu, false, false},
                                              {RunOn::Cpu, true, true},
                                              {RunOn::Interpreter, true, false, false, true},
                                              {RunOn::Cpu, false, false, false, true}};
  return all;
}

void expectSample(const Sample &sample) {
  for (DType dtype : {DType::F64, DType::F32, DType::F16, DType::BF16}) {
    const definition::Operator op = made(sample.body, sample.inputs, sample.outShape,
                                         "\"" + std::string(torchName(dtype)) + "\"");
    for (const RunOptions &options : everywhere()) {
      expectReference(op, sample, dtype, options);
    }
  }
}

TEST(ContractKernel, Products) {
  for (const Sample &sample : products()) {
    expectSample(sample);
  }
}

TEST(ContractKernel, Convolutions) {
  for (const Sample &sample : convolutions()) {
    expectSample(sample);
  }
}

TEST(ContractKernel, WhatIsComputedBeforeAndBehind) {
  const std::string inputs = "[inputs.x]\nshape = [\"N\", \"K\"]\n[inputs.w]\nshape = "
                             "[\"K\", \"M\"]\n[inputs.v]\nshape = [\"K\", \"M\"]\n[inputs.b]\n"
                             "shape = [\"M\"]\n[inputs.r]\nshape = [\"N\", \"M\"]\n";
  for (const char *body : {
           "out = F.gelu(x @ w + b) + r",
           "out = F.silu(x @ w) * (x @ v)",
           "out = (1 / x) @ w", // infinite beyond the end of k
           "out = F.softmax(x @ w + b, dim=-1)",
           "out = F.softmax(x @ w, dim=0) * r",
           "out = x @ w - (x @ w).sum(dim=-1, keepdim=True)",
           "out = ((x @ w) @ w.permute(1, 0)) @ v + r",
           "out = F.softmax((x @ w) @ r.permute(1, 0) * 0.5, dim=-1) @ r + x.sum()",
           "out = (x.sum(dim=-1, keepdim=True) * r) + x @ w",
       }) {
    expectSample({body, inputs, "\"N\", \"M\"", {{3, 5}, {5, 7}, {5, 7}, {7}, {3, 7}}, {3, 5, 7}});
  }
}

TEST(ContractKernel, FactorsOfEightBits) {
  const std::string inputs = "[inputs.x]\nshape = [\"N\", \"K\"]\n[inputs.w]\nshape = [\"K\", "
                             "\"M\"]\ndtype = \"TYPE\"\n[inputs.b]\nshape = [\"M\"]\n";
  for (const char *type : {"int8", "uint8", "float8_e4m3fn", "float8_e5m2"}) {
    std::string own = inputs;
    own.replace(own.find("TYPE"), 4, type);
    for (const char *body : {"out = x @ w.to(x.dtype) + b", "out = b * (x @ w.to(x.dtype))",
                             "out = (x.float() @ w.float()).to(x.dtype) + b"}) {
      expectSample({body, own, "\"N\", \"M\"", {{3, 70}, {70, 17}, {17}}, {3, 70, 17}});
    }
  }
}

/// Sums of products of a factor of 16 bits with one of float32, which stands in front of it or
/// behind; on a device or not.
void expectMixed(const char *type, bool isInFront, bool isDevice) {
  std::string text = buffers;
  text.replace(text.find("x = input(fp16"), 14, "x = input(fp32");
  text.replace(text.find("w = input(fp16"), 14, std::string("w = input(") + type);
  text += isInFront ? "y[i, j] = sum[k](x[i, k] * cast(w[j, k], fp32))\n"
                    : "y[i, j] = sum[k](cast(w[j, k], fp32) * x[i, k])\n";
  Program read = prepared(text);
  EvaluationInput data{{5, 18, 37}, {}, {{"b", std::vector<double>(18)}}};
  for (int i = 0; i < 5 * 37; ++i) { // all bits of a float32, and little is left of sums of these
    // The last row has nothing to spare below it.
    const double scale = i >= 4 * 37 ? 1e-36 : i % 4 == 0 ? 1e-30 : 1;
    data.memory["x"].push_back(static_cast<float>(std::sin(i + 1.0) * scale));
  }
  for (int i = 0; i < 18 * 37; ++i) { // eight bits; those of a half below, where it is one
    const int rest = std::string(type) == "fp16" ? i % 8 : 0;
    data.memory["w"].push_back((128 + i % 127 + rest / 8.0) * (i % 3 == 0 ? 1 : 0x1p-18));
  }
  RunOptions options;
  options.site.isDevice = isDevice;
  expectEvaluated(read, data, options, 2e-6);
  data.memory["x"][4] = data.memory["w"][20] = std::numeric_limits<double>::infinity();
  data.memory["x"][100] = 0;
  expectEvaluated(read, data, options, 2e-6);
}

TEST(ContractKernel, FactorsOfSixteenBitsAndFloat32LoseNothing) {
  for (const char *type : {"fp16", "bf16"}) {
    for (const bool isInFront : {true, false}) {
      expectMixed(type, isInFront, true);
      expectMixed(type, isInFront, false);
    }
  }
}

TEST(ContractKernel, ManyBlocks) {
  const std::string inputs = "[inputs.x]\nshape = [\"B\", \"N\", \"K\"]\n[inputs.w]\nshape = "
                             "[\"B\", \"K\", \"M\"]\n[inputs.b]\nshape = [\"M\"]\n";
  for (const std::vector<int64_t> &sizes :
       {std::vector<int64_t>{2, 33, 65, 70}, {1, 17, 16, 16}, {3, 1, 40, 65}}) {
    const int64_t b = sizes[0], n = sizes[1], k = sizes[2], m = sizes[3];
    expectSample({"out = torch.relu(x @ w + b)",
                  inputs,
                  "\"B\", \"N\", \"M\"",
                  {{b, n, k}, {b, k, m}, {m}},
                  {b, n, k, m}});
  }
}

} // namespace
} // namespace nereid::generator
