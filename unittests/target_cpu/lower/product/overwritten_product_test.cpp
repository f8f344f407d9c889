// SPDX-License-Identifier: Apache-2.0
// Tiles that take the place of the product they are computed from, and those that must not: what
// they read of it is elsewhere, or somebody reads it later.
#include "unittests/target_cpu/LowerHarness.h"

#include <gtest/gtest.h>

using namespace nereid;
using namespace nereid::cpu::test;
using runtime::Tensor;

namespace {

/// Weights computed from a product are the factor of another one.
std::string sourceWith(const std::string &weight, const std::string &result = "sums") {
  return R"(
@triton.jit
def kernel(a, b, out, n, S: tl.constexpr):
    i = tl.arange(0, S)
    p = i[:, None] * S + i[None, :]
    x = tl.load(a + p, mask=i[:, None] < n, other=0.0)
    y = tl.load(b + p, mask=i[None, :] < n, other=0.0)
    product = tl.dot(x, y, input_precision="ieee") * 0.01
    weight = )" +
         weight + R"(
    sums = tl.dot(weight, y, input_precision="ieee")
    tl.store(out + p, )" +
         result + ")\n";
}

const char *signature = "*fp32, *fp32, *fp32, i32, 64";
constexpr uint64_t tileBytes = 64 * 64 * 4;

void expectRight(const std::string &source) {
  Tensor a = randomTensor({64, 64}, DType::F32, 1), b = randomTensor({64, 64}, DType::F32, 2);
  Tensor out = Tensor::empty({64, 64}, DType::F32);
  for (int64_t n : {64, 37, 0}) {
    EXPECT_EQ(compareWithOracle(source, signature, {1, 1, 1}, {&a, &b, &out, n}, 1e-4), "")
        << source << n;
  }
}

/// Tiles in scratch at once; the sums take the place of x.
uint64_t tilesOf(const std::string &source) {
  const LoweredKernel kernel = lowerSource(source, signature);
  EXPECT_EQ(kernel.error, "");
  return kernel.scratchBytes / tileBytes;
}

TEST(OverwrittenProduct, ElementByElement) {
  const std::string source = sourceWith("tl.where(i[None, :] < n, tl.exp(product), 0.0)");
  EXPECT_EQ(tilesOf(source), 3u); // the weights where the product was, and the factors
  expectRight(source);
}

TEST(OverwrittenProduct, AfterAReductionOfTheRow) {
  const std::string source = sourceWith("tl.exp(product - tl.max(product, axis=1)[:, None])");
  EXPECT_EQ(tilesOf(source), 3u);
  expectRight(source);
}

TEST(OverwrittenProduct, NotWhereOtherElementsAreRead) {
  for (const char *weight :
       {"tl.exp(product + tl.trans(product))", "tl.exp(tl.trans(product))",
        "tl.exp(product * tl.flip(product, 1))", "tl.exp(tl.reshape(product, (S, S)))"}) {
    expectRight(sourceWith(weight));
  }
  EXPECT_EQ(tilesOf(sourceWith("tl.exp(product + tl.trans(product))")), 4u);
}

TEST(OverwrittenProduct, NotWhereItIsReadLater) {
  const std::string source = sourceWith("tl.exp(product)", "sums + product");
  EXPECT_EQ(tilesOf(source), 4u);
  expectRight(source);
}

/// A reduction and the tile that replaces what it reads share a nest.
TEST(OverwrittenProduct, BesideAReductionOfTheSameProduct) {
  expectRight(sourceWith("tl.exp(product)", "sums + tl.sum(product, axis=1)[:, None]"));
  expectRight(sourceWith("tl.exp(product)", "sums + tl.sum(product, axis=0)[None, :]"));
}

} // namespace
