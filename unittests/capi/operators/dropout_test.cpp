// SPDX-License-Identifier: Apache-2.0
// Dropout by compiled kernels: how many elements stay, and mean and variance of what is left,
// against theory; within attention also against the formula in float64.
#include "nereid/operator.hpp"
#include "unittests/capi/Errors.h"

#include <cmath>
#include <gtest/gtest.h>

namespace {

using nereid::DType;
using nereid::Sizes;
using nereid::Tensor;

struct Moments {
  double mean = 0, variance = 0;
  int64_t zeros = 0;
};

Moments momentsOf(const Tensor &tensor) {
  const int64_t count = tensor.elementCount();
  Moments found;
  double squares = 0;
  for (int64_t i = 0; i < count; ++i) {
    const double value = tensor.at(i);
    found.mean += value;
    squares += value * value;
    found.zeros += value == 0 ? 1 : 0;
  }
  found.mean /= static_cast<double>(count);
  found.variance = squares / static_cast<double>(count) - found.mean * found.mean;
  return found;
}

/// How far a mean of so many draws may be off, by chance in one of two million trials.
double chance(double variance, int64_t count) {
  return 5 * std::sqrt(variance / static_cast<double>(count));
}

TEST(Dropout, MeanAndVarianceAreThoseOfTheory) {
  constexpr int64_t count = 1 << 18;
  const nereid::Operator dropout("seeded_dropout");
  const Tensor index = Tensor::empty({count}, DType::I64);
  for (int64_t i = 0; i < count; ++i) {
    static_cast<int64_t *>(index.data())[i] = i;
  }
  for (DType dtype : {DType::F32, DType::F16, DType::BF16}) {
    for (double keep : {0.5, 0.9}) {
      SCOPED_TRACE(std::string(nereid::name(dtype)) + ", keep " + std::to_string(keep));
      const Tensor ones = Tensor::empty({count}, dtype);
      ones.fill(1);
      const Tensor out =
          dropout(ones, index, nereid::named("keep", keep), nereid::named("seed", 7));
      // What stays is 1 / keep, as the type has it.
      const Tensor kept = Tensor::empty({1}, dtype);
      kept.fill(1 / keep);
      const double scale = kept.at(0), dropped = 1 - keep;
      const Moments found = momentsOf(out);
      EXPECT_NEAR(static_cast<double>(found.zeros) / count, dropped, chance(keep * dropped, count));
      const double variance = scale * scale * keep * dropped;
      EXPECT_NEAR(found.mean, scale * keep, chance(variance, count));
      // Of the square of an element that is `scale` or 0, around the mean.
      const double low = scale * keep, high = scale - low;
      const double fourth = keep * std::pow(high, 4) + dropped * std::pow(low, 4);
      EXPECT_NEAR(found.variance, variance,
                  chance(fourth - variance * variance, count) +
                      std::pow(chance(variance, count), 2));
    }
  }
}

TEST(Dropout, NumbersThatDifferKeepTheirMeanAndGainTheirVariance) {
  constexpr int64_t count = 1 << 18;
  const Tensor index = Tensor::empty({count}, DType::I64), x = Tensor::empty({count}, DType::F32);
  for (int64_t i = 0; i < count; ++i) {
    static_cast<int64_t *>(index.data())[i] = i;
  }
  x.fillUniform(3, 1.0, 3.0);
  const double keep = 0.75;
  const Moments before = momentsOf(x);
  const Moments after = momentsOf(nereid::Operator("seeded_dropout")(
      x, index, nereid::named("keep", keep), nereid::named("seed", 9)));
  const double squares = before.variance + before.mean * before.mean;
  const double variance = squares / keep - before.mean * before.mean;
  EXPECT_NEAR(after.mean, before.mean, chance(squares * (1 - keep) / keep, count));
  EXPECT_NEAR(after.variance, variance, 0.02 * variance);
}

/// Without queries all weights are 1 / S: a result is a mean of S values 1, of which a quarter is
/// dropped and the others are 4 / 3.
TEST(Dropout, WithinAttentionItHasTheMeanAndVarianceOfTheory) {
  constexpr int64_t batches = 16, length = 128, dropped = 4;
  const nereid::Operator attention("attention_dropout");
  const Tensor q = Tensor::empty({batches, length, 16}, DType::F32);
  const Tensor k = Tensor::empty({batches, length, 16}, DType::F32);
  const Tensor v = Tensor::empty({batches, length, 1}, DType::F32);
  q.fill(0);
  k.fillNormal(2);
  v.fill(1);
  const Moments found = momentsOf(attention(q, k, v, nereid::named("seed", 11)));
  const double variance = (1.0 / dropped) / (1 - 1.0 / dropped) / length;
  constexpr int64_t rows = batches * length;
  EXPECT_NEAR(found.mean, 1, chance(variance, rows));
  // The sum of many is nearly normal: its fourth moment is three times its variance squared.
  EXPECT_NEAR(found.variance, variance, chance(2 * variance * variance, rows));
}

TEST(Dropout, WithinAttentionItIsTheFormula) {
  const nereid::Operator attention("attention_dropout");
  for (DType dtype : {DType::F32, DType::F16, DType::BF16}) {
    const Tensor q = Tensor::empty({3, 65, 24}, dtype), k = Tensor::empty({3, 65, 24}, dtype);
    const Tensor v = Tensor::empty({3, 65, 40}, dtype);
    q.fillNormal(1);
    k.fillNormal(2);
    v.fillNormal(3);
    const Tensor seed = nereid::wholeNumber(5);
    const Tensor out = attention(q, k, v, nereid::named("seed", 5));
    const nereid::Verdict right = attention.verify({q, k, v, seed}, {out});
    EXPECT_TRUE(right.agrees) << nereid::name(dtype) << ": " << right.text;
    const nereid::Verdict other = attention.verify({q, k, v, nereid::wholeNumber(6)}, {out});
    EXPECT_FALSE(other.agrees) << "another seed drops others";
  }
}

} // namespace
