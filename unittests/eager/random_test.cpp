// SPDX-License-Identifier: Apache-2.0
// Shipped definitions of random numbers against a Philox4x32-10 written here, to the last bit of
// float32, and what their numbers look like: mean, variance, histogram.
#include "unittests/eager/Values.h"

#include "lib/eager/reference/Reference.h"
#include "unittests/eager/Philox.h"

#include <array>
#include <cmath>
#include <map>

namespace nereid::eager {
namespace {

/// As tl.rand makes it of a word.
float uniformOf(uint32_t word) {
  const auto bits = static_cast<int32_t>(word);
  return static_cast<float>(bits < 0 ? -bits - 1 : bits) * 4.6566127342e-10F;
}

struct Drawn {
  std::vector<double> baseline, reference;
};

Drawn draw(const std::string &name, int64_t count, int64_t first,
           const std::vector<double> &numbers, double element = 1) {
  Diagnostics diags;
  auto op = definition::loadOperator(
      std::string(NEREID_SOURCE_DIR "/operators/random/") + name + ".toml", diags);
  EXPECT_TRUE(op) << diags.render();
  std::vector<Tensor> inputs;
  size_t next = 0;
  for (const definition::Parameter &parameter : op->parameters) {
    Tensor tensor =
        Tensor::empty(parameter.isScalar ? std::vector<int64_t>{} : std::vector{count},
                      parameter.isScalar ? DType::F64 : parameter.fixedDtype.value_or(DType::F32));
    for (int64_t i = 0; i < tensor.elementCount(); ++i) {
      tensor.set(i, parameter.isScalar          ? numbers.at(next)
                    : parameter.name == "index" ? static_cast<double>(first + i)
                                                : element);
    }
    next += parameter.isScalar ? 1 : 0;
    inputs.push_back(tensor);
  }
  auto run = runGraph(*op, inputs, runtime::defaultPool());
  auto reference =
      runReference(*op, inputs, DType::F32, Rounding::OncePerResult, runtime::defaultPool());
  EXPECT_TRUE(run && reference);
  return {list((*run)[0]), list((*reference)[0].values)};
}

TEST(Random, TheAlgorithmIsThatOfThePublishedVector) {
  EXPECT_EQ(philox(0, 0), (Words{0x6627e8d5, 0xe169c58d, 0xbc57ac4c, 0x9b00dbd8}));
}

TEST(Random, UniformNumbersAreThoseOfPhilox) {
  for (const double seed : {0.0, 1234.0, 4294967295.0, 1099511627776.0}) {
    for (const int64_t first : {int64_t{0}, int64_t{4294967290}, int64_t{1} << 40}) {
      const Drawn drawn = draw("seeded_uniform", 64, first, {seed});
      for (int64_t i = 0; i < 64; ++i) {
        const float expected =
            uniformOf(philox(static_cast<uint64_t>(seed), static_cast<uint64_t>(first + i))[0]);
        const double bound = 3 * 0x1p-24 * expected; // word, factor and product are rounded
        EXPECT_NEAR(drawn.baseline[static_cast<size_t>(i)], expected, bound)
            << seed << " " << first + i;
        EXPECT_NEAR(drawn.reference[static_cast<size_t>(i)], expected, bound);
      }
    }
  }
}

TEST(Random, TheSameElementsAreKept) {
  const Drawn drawn = draw("seeded_dropout", 4096, 0, {0.75, 7});
  for (size_t i = 0; i < 4096; ++i) {
    const bool isKept = uniformOf(philox(7, i)[0]) < 0.75F;
    EXPECT_EQ(drawn.baseline[i] != 0, isKept) << i;
    EXPECT_EQ(drawn.reference[i] != 0, isKept) << i;
  }
}

TEST(Random, NumbersHaveTheirDistribution) {
  constexpr int64_t count = 65536;
  const std::tuple<const char *, std::vector<double>, double, double> distributions[] = {
      {"seeded_uniform", {11}, 0.5, 1.0 / 12},
      {"seeded_normal", {11}, 0, 1},
      {"seeded_exponential", {11, 2}, 0.5, 0.25},
      {"seeded_bernoulli", {11, 0.3}, 0.3, 0.21}};
  for (const auto &[name, numbers, mean, variance] : distributions) {
    double sum = 0, squares = 0;
    for (double value : draw(name, count, 0, numbers).reference) {
      sum += value;
      squares += (value - mean) * (value - mean);
    }
    // Five deviations of the estimates; the fourth moment is 9 variances squared at most.
    EXPECT_NEAR(sum / count, mean, 5 * std::sqrt(variance / count)) << name;
    EXPECT_NEAR(squares / count, variance, 5 * variance * std::sqrt(8.0 / count)) << name;
  }
  std::array<int, 64> histogram = {};
  for (double value : draw("seeded_uniform", count, 0, {5}).reference) {
    ++histogram.at(static_cast<size_t>(value * 64));
  }
  double chi = 0;
  for (int each : histogram) {
    chi += (each - 1024.0) * (each - 1024.0) / 1024;
  }
  EXPECT_LT(chi, 63 + 5 * std::sqrt(2 * 63.0)); // of 63 degrees of freedom
  EXPECT_GT(chi, 63 - 5 * std::sqrt(2 * 63.0));
}

/// Of one element's uniform numbers: the sum of probabilities, or Hoermann's PTRS, in double.
double poissonOf(double rate, uint64_t seed, uint64_t element) {
  const auto draw = [&](uint32_t block) { return philox(seed, element, 0, block); };
  if (rate < 16) {
    const double u = uniformOf(draw(0)[0]);
    double k = 0;
    for (double p = std::exp(-rate), sum = p; u >= sum && p > 0; sum += p) {
      p *= rate / ++k;
    }
    return k;
  }
  const double b = 0.931 + 2.53 * std::sqrt(rate), a = -0.059 + 0.02483 * b;
  const double inverse = 1.1239 + 1.1328 / (b - 3.4);
  double k = 0;
  for (uint32_t trial = 0; trial < 8; ++trial) {
    const Words words = draw(trial / 2);
    const double u = uniformOf(words[trial % 2 * 2]) - 0.5, v = uniformOf(words[trial % 2 * 2 + 1]);
    const double us = 0.5 - std::fabs(u);
    k = std::floor((2 * a / us + b) * u + rate + 0.43);
    if (us >= 0.07 && v <= 0.9277 - 3.6224 / (b - 2)) {
      return k;
    }
    if (k < 0 || (us < 0.013 && v > us)) {
      continue;
    }
    const double ends = std::log(v * inverse / (a / (us * us) + b));
    if (ends <= -rate + k * std::log(rate) - std::lgamma(k + 1)) {
      return k;
    }
  }
  return k;
}

TEST(Random, PoissonNumbersAreThoseOfTheirAlgorithms) {
  for (const double rate : {0.0, 1e-3, 0.5, 3.0, 15.75, 16.0, 20.5, 100.0, 3000.0}) {
    const Drawn drawn = draw("poisson", 2048, 0, {77}, rate);
    int differing = 0, inBaseline = 0;
    for (size_t i = 0; i < 2048; ++i) {
      const double expected = poissonOf(rate, 77, i);
      differing += drawn.reference[i] != expected ? 1 : 0;
      inBaseline += drawn.baseline[i] != expected ? 1 : 0;
    }
    // Uniform numbers of float32 beside an edge: of thousands, one.
    EXPECT_LE(differing, 4) << rate;
    EXPECT_LE(inBaseline, 4 + static_cast<int>(rate * 2048 * 1e-6)) << rate;
  }
}

TEST(Random, PoissonNumbersHaveTheirDistribution) {
  constexpr int64_t count = 16384;
  for (const double rate : {0.7, 5.0, 15.9, 16.1, 60.0, 1000.0}) {
    const Drawn drawn = draw("poisson", count, 0, {5}, rate);
    double sum = 0, squares = 0;
    std::map<double, double> seen;
    for (double value : drawn.reference) {
      sum += value;
      squares += (value - rate) * (value - rate);
      seen[value] += 1;
    }
    EXPECT_NEAR(sum / count, rate, 5 * std::sqrt(rate / count)) << rate;
    EXPECT_NEAR(squares / count, rate, 5 * std::sqrt((2 * rate * rate + rate) / count)) << rate;
    double chi = 0, rest = count, restSeen = count, degrees = 0;
    for (double k = 0; k < 4 * rate + 40; ++k) {
      const double expected = count * std::exp(-rate + k * std::log(rate) - std::lgamma(k + 1));
      if (expected >= 20) {
        const double found = seen.contains(k) ? seen.at(k) : 0;
        chi += (found - expected) * (found - expected) / expected;
        rest -= expected;
        restSeen -= found;
        ++degrees;
      }
    }
    chi += (restSeen - rest) * (restSeen - rest) / std::max(rest, 20.0);
    EXPECT_LT(chi, degrees + 5 * std::sqrt(2 * degrees)) << rate;
  }
}

} // namespace
} // namespace nereid::eager
