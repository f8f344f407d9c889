// SPDX-License-Identifier: Apache-2.0
// Tiles carried by one loop that are added to each other: against the interpreter, and against the
// recurrence computed here. What one of them loses, those built on it lose as well.
#include "unittests/target_cpu/LowerHarness.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

using namespace nereid;
using namespace nereid::cpu::test;
using runtime::Tensor;

namespace {

constexpr int64_t lanes = 64;

/// Tiles t0 … tk start as 0; in every turn of `order` t_i grows by t_(i+1), the last one by the
/// range. All are stored behind the loop.
std::string chainOf(int tiles, const std::vector<int> &order) {
  std::string text = "\n@triton.jit\ndef kernel(out, n, BLOCK: tl.constexpr):\n"
                     "    i = tl.arange(0, BLOCK)\n";
  for (int t = 0; t < tiles; ++t) {
    text += fmt::format("    t{} = tl.zeros((BLOCK,), tl.int32)\n", t);
  }
  text += "    for k in range(0, n):\n";
  for (int t : order) {
    text += fmt::format("        t{} += {}\n", t, t + 1 == tiles ? "i" : fmt::format("t{}", t + 1));
  }
  for (int t = 0; t < tiles; ++t) {
    text += fmt::format("    tl.store(out + {} * BLOCK + i, t{})\n", t, t);
  }
  return text;
}

TEST(CarriedTiles, ChainsInManyOrders) {
  const std::vector<std::vector<int>> orders = {
      {0},          {0, 1},       {1, 0},       {0, 1, 2},       {2, 1, 0},       {1, 2, 0},
      {0, 1, 2, 3}, {3, 0, 2, 1}, {2, 1, 3, 0}, {0, 1, 2, 3, 4}, {4, 3, 2, 1, 0}, {3, 0, 4, 1, 2}};
  for (const std::vector<int> &order : orders) {
    const int tiles = static_cast<int>(order.size());
    Tensor out = randomTensor({tiles * lanes}, DType::I32, 1);
    constexpr int64_t turns = 6;
    Arguments arguments = {&out, turns};
    std::vector<Tensor> results;
    ASSERT_EQ(compareWithOracle(chainOf(tiles, order), "out=*i32, n=i32, BLOCK=64", {1, 1, 1},
                                arguments, 0, &results),
              "")
        << chainOf(tiles, order);
    for (int64_t i = 0; i < lanes; ++i) {
      std::vector<int64_t> value(tiles, 0);
      for (int64_t turn = 0; turn < turns; ++turn) {
        for (int t : order) {
          value[t] += t + 1 == tiles ? i : value[t + 1];
        }
      }
      for (int t = 0; t < tiles; ++t) {
        ASSERT_EQ(results[0].at(t * lanes + i), static_cast<double>(value[t])) << t << " " << i;
      }
    }
  }
}

/// Two loops, the inner one built on what the outer one carries.
TEST(CarriedTiles, NestedLoops) {
  const char *source = R"(
@triton.jit
def kernel(out, n, BLOCK: tl.constexpr):
    i = tl.arange(0, BLOCK)
    a = tl.zeros((BLOCK,), tl.int32)
    b = tl.zeros((BLOCK,), tl.int32)
    c = tl.zeros((BLOCK,), tl.int32)
    for k in range(0, n):
        for l in range(0, n):
            a += b
            b += c
        c += i
    tl.store(out + i, a)
    tl.store(out + BLOCK + i, b)
)";
  Tensor out = randomTensor({2 * lanes}, DType::I32, 1);
  Arguments arguments = {&out, int64_t{4}};
  EXPECT_EQ(compareWithOracle(source, "out=*i32, n=i32, BLOCK=64", {1, 1, 1}, arguments, 0), "");
}

/// Carried addresses: the step of a pointer is a tile that grows itself.
TEST(CarriedTiles, AddressesThatGrowByCarriedTiles) {
  const char *source = R"(
@triton.jit
def kernel(x, out, n, BLOCK: tl.constexpr):
    i = tl.arange(0, BLOCK)
    at = x + i
    step = tl.zeros((BLOCK,), tl.int32)
    grow = tl.zeros((BLOCK,), tl.int32)
    sum = tl.zeros((BLOCK,), tl.float32)
    for k in range(0, n):
        sum += tl.load(at)
        at += step
        step += grow
        grow += i % 3
    tl.store(out + i, sum)
)";
  Tensor x = randomTensor({400}, DType::F32, 1), out = randomTensor({lanes}, DType::F32, 2);
  Arguments arguments = {&x, &out, int64_t{6}};
  EXPECT_EQ(compareWithOracle(source, "x=*fp32, out=*fp32, n=i32, BLOCK=64", {1, 1, 1}, arguments),
            "");
}

} // namespace
