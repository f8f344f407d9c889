// SPDX-License-Identifier: Apache-2.0
// Random data: the generator's published vectors, distribution, independence of threads and
// strides.
#include "runtime/Philox.h"
#include "runtime/tensor/Tensor.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>
#include <gtest/gtest.h>

using namespace nereid;
using namespace nereid::runtime;

namespace {

// Known answers distributed with the authors' reference implementation (Random123, kat_vectors).
TEST(Philox, KnownAnswers) {
  EXPECT_EQ(philox({0, 0, 0, 0}, 0, 0),
            (PhiloxBlock{0x6627e8d5, 0xe169c58d, 0xbc57ac4c, 0x9b00dbd8}));
  const uint32_t ones = 0xffffffff;
  EXPECT_EQ(philox({ones, ones, ones, ones}, ones, ones),
            (PhiloxBlock{0x408f276d, 0x41c83b0e, 0xa20bc7c6, 0x6d5451fd}));
  EXPECT_EQ(philox({0x243f6a88, 0x85a308d3, 0x13198a2e, 0x03707344}, 0xa4093822, 0x299f31d0),
            (PhiloxBlock{0xd16cfe09, 0x94fdcceb, 0x5001e420, 0x24126ea1}));
}

TEST(Random, NormalIsBoxMullerOfTheWords) {
  const Tensor tensor = Tensor::empty({3001}, DType::F64);
  fillNormal(tensor, 0x123456789ull);
  for (int64_t i = 0; i < 3001; ++i) {
    const PhiloxBlock words = philox({static_cast<uint32_t>(i / 4), 0, 0, 0}, 0x23456789, 1);
    const int pair = i % 4 / 2 * 2;
    const long double u = (words[pair] + 1.0L) / 4294967296.0L;
    const long double angle = 2 * 3.141592653589793238L * words[pair + 1] / 4294967296.0L;
    const long double radius = std::sqrt(-2 * std::log(u));
    const long double expected = radius * (i % 2 ? std::sin(angle) : std::cos(angle));
    ASSERT_NEAR(tensor.at(i), static_cast<double>(expected), 1e-14) << i;
  }
}

// What the same operations in the same order give in another language: vectors of any width, and
// processors with fused multiply-adds, change no bit.
TEST(Random, NormalIsTheSameOnEveryProcessor) {
  const Tensor tensor = Tensor::empty({3001}, DType::F64);
  fillNormal(tensor, 0x123456789ull);
  uint64_t digest = 0;
  for (int64_t i = 0; i < 3001; ++i) {
    digest = digest * 6364136223846793005ull + std::bit_cast<uint64_t>(tensor.at(i));
  }
  EXPECT_EQ(digest, 0xa2d4f56b262ffe67ull);
}

TEST(Random, NormalHasItsMoments) {
  constexpr int64_t count = 1 << 20;
  const Tensor tensor = Tensor::empty({count}, DType::F32);
  fillNormal(tensor, 42);
  double sum = 0, squares = 0, fourths = 0, neighbours = 0;
  for (int64_t i = 0; i < count; ++i) {
    const double x = tensor.at(i);
    sum += x;
    squares += x * x;
    fourths += x * x * x * x;
    neighbours += i ? x * tensor.at(i - 1) : 0;
  }
  // Five standard deviations of each estimate.
  const double root = std::sqrt(static_cast<double>(count));
  EXPECT_NEAR(sum / count, 0, 5 / root);
  EXPECT_NEAR(squares / count, 1, 5 * std::sqrt(2) / root);
  EXPECT_NEAR(fourths / count, 3, 5 * std::sqrt(96) / root);
  EXPECT_NEAR(neighbours / count, 0, 5 / root);
}

TEST(Random, RangesAreKept) {
  const Tensor uniform = Tensor::empty({100000}, DType::F64);
  fillUniform(uniform, 9, -2, 3);
  double low = 1e9, high = -1e9, sum = 0;
  for (int64_t i = 0; i < 100000; ++i) {
    low = std::min(low, uniform.at(i));
    high = std::max(high, uniform.at(i));
    sum += uniform.at(i);
  }
  EXPECT_TRUE(low > -2 && low < -1.99 && high < 3 && high > 2.99) << low << " " << high;
  EXPECT_NEAR(sum / 100000, 0.5, 0.03);
  const Tensor dice = Tensor::empty({60000}, DType::I8);
  fillIntegers(dice, 9, 1, 7);
  int hits[8] = {};
  for (int64_t i = 0; i < 60000; ++i) {
    ASSERT_TRUE(dice.at(i) >= 1 && dice.at(i) < 7);
    ++hits[static_cast<int>(dice.at(i))];
  }
  for (int face = 1; face < 7; ++face) {
    EXPECT_NEAR(hits[face], 10000, 500);
  }
  const Tensor wide = Tensor::empty({1000}, DType::I64);
  fillIntegers(wide, 9, INT64_MIN, INT64_MAX);
  int64_t negative = 0;
  for (int64_t i = 0; i < 1000; ++i) {
    negative += wide.as<int64_t>()[i] < 0;
  }
  EXPECT_NEAR(static_cast<double>(negative), 500, 100);
  fillIntegers(dice, 1, 5, 5);
  EXPECT_EQ(dice.at(7), 5);
}

TEST(Random, DependsOnSeedAndElementOnly) {
  const Tensor a = Tensor::empty({5000}, DType::F32), b = Tensor::empty({70000}, DType::F32);
  fillNormal(a, 7);
  fillNormal(b, 7);
  EXPECT_EQ(std::memcmp(a.data(), b.data(), a.byteCount()), 0) << "a prefix of the same stream";
  const Tensor strided = Tensor::borrow(b.data(), {5000}, DType::F32, {3});
  fillNormal(strided, 7);
  for (int64_t i = 0; i < 5000; ++i) {
    ASSERT_EQ(strided.at(i), a.at(i));
  }
  fillNormal(b, 8);
  EXPECT_NE(std::memcmp(a.data(), b.data(), a.byteCount()), 0);
}

} // namespace
