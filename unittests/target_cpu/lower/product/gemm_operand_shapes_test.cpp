// SPDX-License-Identifier: Apache-2.0
// Operands that are not the loads of a product's loop but made of them: reshaped, joined, split,
// gathered, cast, chosen. Each iteration multiplies what it has loaded itself.
#include "lib/targets/cpu/lower/Recognisers.h"
#include "unittests/target_cpu/LowerHarness.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

using namespace nereid;
using namespace nereid::cpu::test;
using runtime::Tensor;

namespace {

constexpr const char *loadOfA = "tl.load(a + i * B * B + rows * B + columns)";
constexpr const char *loadOfB = "tl.load(b + i * B * B + rows * B + columns)";

/// c = the sum of products x @ y of K iterations.
std::string product(const std::string &x, const std::string &y) {
  return fmt::format(R"(
@triton.jit
def kernel(a, b, c, K, B: tl.constexpr):
    r = tl.arange(0, B)
    rows = r[:, None]
    columns = r[None, :]
    flat = tl.arange(0, B * B)
    deep = tl.arange(0, 4)[:, None, None] * (B * B // 4) + tl.arange(0, B // 4)[None, :, None] * B + r[None, None, :]
    acc = tl.zeros((B, B), tl.float32)
    for i in range(K):
        acc = tl.dot({}, {}, acc, input_precision="ieee")
    tl.store(c + rows * B + columns, acc)
)",
                     x, y);
}

std::string compare(const std::string &source, int64_t size, const std::string &type = "fp32") {
  const DType element = type == "fp32" ? DType::F32 : DType::F16;
  Tensor a = randomTensor({5 * size * size}, element, 1),
         b = randomTensor({5 * size * size}, element, 2);
  Tensor c = randomTensor({size * size}, DType::F32, 3);
  return compareWithOracle(source, fmt::format("*{0}, *{0}, *fp32, i32, {1}", type, size),
                           {1, 1, 1}, {&a, &b, &c, int64_t{5}}, 1e-3);
}

const std::vector<std::pair<const char *, std::string>> &shapesOf(char which) {
  auto make = [](char tensor) {
    const std::string base = fmt::format("{} + i * B * B", tensor);
    const std::string plain = fmt::format("tl.load({} + rows * B + columns)", base);
    return std::vector<std::pair<const char *, std::string>>{
        {"rank 1", fmt::format("tl.reshape(tl.load({} + flat), (B, B))", base)},
        {"rank 3", fmt::format("tl.reshape(tl.load({} + deep), (B, B))", base)},
        {"permuted",
         fmt::format("tl.reshape(tl.permute(tl.load({} + deep), (1, 0, 2)), (B, B))", base)},
        {"there and back", fmt::format("tl.reshape(tl.reshape({}, (B * B,)), (B, B))", plain)},
        {"rank 1, turned", fmt::format("tl.trans(tl.reshape(tl.load({} + flat), (B, B)))", base)},
        {"joined",
         fmt::format("tl.reshape(tl.join(tl.load({0} + rows * B + tl.arange(0, B // 2)[None, :]), "
                     "tl.load({0} + rows * B + B // 2 + tl.arange(0, B // 2)[None, :])), (B, B))",
                     base)},
        {"split", fmt::format("tl.split(tl.join({0}, {0} * 2))[1]", plain)},
        {"gathered", fmt::format("tl.gather({}, columns * 0 + (rows * 3) % B, 0)", plain)},
        {"chosen", fmt::format("tl.where(columns > i, {}, 0.5)", plain)},
        {"scanned", fmt::format("tl.cumsum({}, 0)", plain)},
        {"normalised", fmt::format("({0} - tl.max({0}, 1)[:, None])", plain)},
        {"rounded", fmt::format("{}.to(tl.float16).to(tl.float32)", plain)},
    };
  };
  static const auto ofA = make('a'), ofB = make('b');
  return which == 'a' ? ofA : ofB;
}

TEST(GemmOperandShapes, OneOperand) {
  for (const auto &[name, text] : shapesOf('a')) {
    EXPECT_EQ(compare(product(text, loadOfB), 32), "") << name << " a";
  }
  for (const auto &[name, text] : shapesOf('b')) {
    EXPECT_EQ(compare(product(loadOfA, text), 32), "") << name << " b";
  }
  EXPECT_EQ(compare(product(loadOfA, shapesOf('b')[0].second), 64), "");
}

TEST(GemmOperandShapes, BothOperands) {
  for (size_t i = 0; i < shapesOf('a').size(); ++i) {
    const auto &[nameOfA, textOfA] = shapesOf('a')[i];
    for (size_t j : {i % 2, i}) {
      const auto &[nameOfB, textOfB] = shapesOf('b')[j];
      EXPECT_EQ(compare(product(textOfA, textOfB), 32), "") << nameOfA << " a, " << nameOfB << " b";
    }
  }
}

/// The loop is recognised all the same: operands are computed into scratch.
TEST(GemmOperandShapes, AreStillAProduct) {
  cpu::resetRecogniserCounts();
  LoweredKernel kernel = lowerSource(product(shapesOf('a')[0].second, shapesOf('b')[0].second),
                                     "*fp32, *fp32, *fp32, i32, 64");
  EXPECT_EQ(kernel.error, "");
  for (const cpu::RecogniserCount &each : cpu::recogniserCounts()) {
    if (each.name == "gemm") {
      EXPECT_EQ(each.fired, 1U);
      EXPECT_EQ(each.declined, 0U);
    } else if (each.name == "gemm-operand") {
      EXPECT_EQ(each.fired, 0U);
      EXPECT_EQ(each.declined, 2U);
    }
  }
}

/// Eight-bit floats times a scale for each 32 of them, of the right operand in each iteration.
TEST(GemmOperandShapes, ScaledProducts) {
  constexpr const char *source = R"(
@triton.jit
def kernel(a, b, scale, c, K, B: tl.constexpr):
    r = tl.arange(0, B)
    s = tl.arange(0, B // 32)
    acc = tl.zeros((B, B), tl.float32)
    for i in range(K):
        x = tl.load(a + i * B * B + r[:, None] * B + r[None, :])
        y = tl.load(b + i * B * B + r[:, None] * B + r[None, :])
        t = tl.load(scale + i * B * (B // 32) + r[:, None] * (B // 32) + s[None, :])
        acc = tl.dot_scaled(x, None, "e4m3", y, t, "e5m2", acc)
    tl.store(c + r[:, None] * B + r[None, :], acc)
)";
  for (int64_t size : {32, 64}) {
    Tensor a = randomTensor({4 * size * size}, DType::F32, 1).to(DType::F8E4M3FN);
    Tensor b = randomTensor({4 * size * size}, DType::F32, 2).to(DType::F8E5M2);
    Tensor scale = Tensor::empty({4 * size * size / 32}, DType::U8);
    Tensor c = randomTensor({size * size}, DType::F32, 3);
    for (int64_t i = 0; i < scale.elementCount(); ++i) {
      scale.set(i, static_cast<double>(122 + i * 7 % 11));
    }
    EXPECT_EQ(compareWithOracle(source, fmt::format("*fp8e4nv, *fp8e5, *u8, *fp32, i32, {}", size),
                                {1, 1, 1}, {&a, &b, &scale, &c, int64_t{4}}, 1e-3),
              "")
        << size;
  }
}

} // namespace
