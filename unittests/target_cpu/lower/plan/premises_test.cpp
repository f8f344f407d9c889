// SPDX-License-Identifier: Apache-2.0
// Near misses of what loops and vectors take for granted about addresses and masks: quotients and
// remainders of numbers that do not begin at a multiple, remainders of remainders, comparisons of
// numbers that wrap around. What is recognised must be so in every row, or be left alone.
#include "unittests/target_cpu/LowerHarness.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

using namespace nereid;
using namespace nereid::cpu::test;
using runtime::Tensor;

namespace {

/// out[r, c] = x[`address`] where `mask` is true, else -1.
std::string compare(const std::string &address, const std::string &mask = "r >= 0",
                    int64_t columns = 64) {
  const std::string source = fmt::format(R"(
@triton.jit
def kernel(x, out, S, M: tl.constexpr, N: tl.constexpr):
    r = tl.arange(0, M)[:, None]
    c = tl.arange(0, N)[None, :]
    v = tl.load(x + ({0}), mask={1}, other=-1.0)
    tl.store(out + r * N + c, v)
    tl.store(out + M * N + r * N + c, v + 1, mask={1})
)",
                                         address, mask);
  Tensor x = Tensor::empty({8192}, DType::F32), out = randomTensor({16 * columns}, DType::F32, 1);
  for (int64_t i = 0; i < x.elementCount(); ++i) {
    x.set(i, static_cast<double>(i));
  }
  return compareWithOracle(source, fmt::format("*fp32, *fp32, i32, 8, {}", columns), {1, 1, 1},
                           {&x, &out, int64_t{7}}, 0);
}

TEST(Premises, QuotientsOfRowsThatDoNotBeginAtAMultiple) {
  for (const char *address :
       {"(r * 3 + c) // 4", "(r * 3 + c) % 4", "(r * 5 + c) % 8 + r * 64", "(r * 3 + c) // 12",
        "(r * 3 + c) // S", "(r * 3 + c) % S", "(c.to(tl.int64) * 2 + r) // 4",
        "((c + r).to(tl.uint32) // 4).to(tl.int32)", "(S + c) // 4 + r", "(c + 2) // 4 + r",
        "(c - 4) // 4 + r + 8", "(c - 4) % 4 + r + 8", "(63 - c) // 4 + r", "(r * 4 + c) // 4",
        "(r * 4 + c) % 4 + c // 4 * 4", "(tl.program_id(0) * 2 + c) // 4 + r"}) {
    EXPECT_EQ(compare(address), "") << address;
  }
}

TEST(Premises, RemaindersOfRemainders) {
  for (const char *address :
       {"(c % 50) % 17 + r", "(c % 48) // 16 + r * 16", "(c % 48) // S + r * 16",
        "(c // 16) % 3 + r * 16", "(c // 16) // 2 + r * 16", "((c + r * 5) % 50) % 17",
        "((c % 50) % 33) % 17 + r", "(c % S) % 3 + r", "(c // S) % 3 + r", "(c // S) // 3 + r",
        "(c % 48) // 16 * 20 + (c % 48) % 16 + r"}) {
    EXPECT_EQ(compare(address), "") << address;
  }
}

TEST(Premises, MasksOfNumbersThatWrapAround) {
  for (const char *mask :
       {"c.to(tl.int8) < S", "c.to(tl.int8) >= -3", "(c + r * 40).to(tl.int8) < 5",
        "(c * 1).to(tl.int16) + 32700 < 32700", "((c + 32700).to(tl.int16) + r.to(tl.int16)) > 5",
        "(c + 100).to(tl.uint8) < S", "(r * 9 + 100).to(tl.int8) >= 3"}) {
    EXPECT_EQ(compare("r * N + c", mask, 256), "") << mask;
  }
}

TEST(Premises, AddressesOfNumbersThatWrapAround) {
  for (const char *address :
       {"c.to(tl.int8).to(tl.int32) + 128 + r", "(c * 4).to(tl.int8).to(tl.int32) + 128 + r",
        "(c * 4).to(tl.uint8).to(tl.int32) + r", "(c * 1000).to(tl.int16).to(tl.int32) // 8 + 4100",
        "((c * 4).to(tl.int8) // 4).to(tl.int32) + 64",
        "(c + 100).to(tl.int8).to(tl.int64) + 128"}) {
    EXPECT_EQ(compare(address), "") << address;
  }
}

TEST(Premises, MasksThatAreIntervalsAndAlmost) {
  for (const char *mask :
       {"c != S", "(c >= S) & (c < 100)", "(r < S) & (c < 100)", "(c <= S * 10) & (S * 2 < c)",
        "(255 - c) < S", "(c * 2) < 100", "(c < 10) | (c > 100)", "(c < r * 9) & (c >= r)",
        "(c.to(tl.uint32) < 20) & (c > 3)"}) {
    EXPECT_EQ(compare("r * N + c", mask, 256), "") << mask;
  }
}

/// Bounds of the rows of a stencil that wrap around in few bits.
TEST(Premises, RowsBoundedByNarrowNumbers) {
  constexpr const char *source = R"(
@triton.jit
def kernel(x, out, S, M: tl.constexpr, N: tl.constexpr):
    r = tl.arange(0, M)[:, None]
    c = tl.arange(0, N)[None, :]
    acc = tl.zeros((M, N), tl.float32)
    for i in tl.static_range(3):
        row = (r * 9 + i).to(tl.int8)
        acc += tl.load(x + (r + i) * N + c, mask=(row >= 3) & (row < S * 9), other=1.0)
    tl.store(out + r * N + c, acc)
)";
  Tensor x = randomTensor({2048}, DType::F32, 1), out = randomTensor({1024}, DType::F32, 2);
  EXPECT_EQ(
      compareWithOracle(source, "*fp32, *fp32, i32, 16, 64", {1, 1, 1}, {&x, &out, int64_t{7}}),
      "");
}

} // namespace
