// SPDX-License-Identifier: Apache-2.0
// Functions of linalg as definitions compute what the functions say: by hand, on drawn numbers.
#include "unittests/linalg/Computes.h"

#include <algorithm>
#include <cmath>

namespace nereid::importer {
namespace {

using runtime::Tensor;

Tensor drawn(std::vector<int64_t> shape, uint64_t seed) {
  Tensor tensor = Tensor::empty(std::move(shape), DType::F32);
  (void)fillNormal(tensor, seed);
  return tensor;
}

void expectLayer(const std::string &function, const Elements &inputs, std::vector<int64_t> result,
                 const std::function<double(int64_t)> &compute) {
  expectComputes("layers.mlir", function, {}, inputs,
                 {Tensor::empty(std::move(result), DType::F32)},
                 [&](size_t, int64_t i) { return compute(i); });
}

TEST(Linalg, BiasAndSelection) {
  const Tensor x = drawn({24, 40}, 1), bias = drawn({40}, 2);
  expectLayer("bias_relu", {x, bias}, {24, 40}, [&](int64_t i) {
    return std::max(static_cast<float>(x.at(i)) + static_cast<float>(bias.at(i % 40)), 0.0F);
  });
}

TEST(Linalg, RowsThatAreReducedAndReadAgain) {
  const Tensor x = drawn({24, 40}, 1);
  expectLayer("softmax_rows", {x}, {24, 40}, [&](int64_t i) {
    const float *row = x.as<float>() + i / 40 * 40;
    const double top = *std::max_element(row, row + 40);
    double sum = 0;
    for (int j = 0; j < 40; ++j) {
      sum += std::exp(row[j] - top);
    }
    return std::exp(x.at(i) - top) / sum;
  });
}

TEST(Linalg, ProductsAddToWhatIsThere) {
  const Tensor a = drawn({8, 16}, 1), b = drawn({16, 32}, 2), c = drawn({8, 32}, 3);
  expectLayer("layer", {a, b, c}, {8, 32}, [&](int64_t i) {
    double sum = c.at(i);
    for (int64_t k = 0; k < 16; ++k) {
      sum += a.at(i / 32 * 16 + k) * b.at(k * 32 + i % 32);
    }
    return std::exp(sum) + c.at(i);
  });
}

TEST(Linalg, DimensionsInAnotherOrder) {
  const Tensor a = drawn({40, 24}, 1), b = drawn({24, 40}, 2);
  expectLayer("turned", {a, b}, {24, 40},
              [&](int64_t i) { return a.at(i % 40 * 24 + i / 40) * b.at(i); });
}

/// Nothing that it reads tells a loop how long it is, but the result's shape does.
TEST(Linalg, LoopsThatNothingRunsAlong) {
  const Tensor b = drawn({40}, 1);
  expectLayer("spread", {b}, {40, 40}, [&](int64_t i) { return -b.at(i % 40); });
}

} // namespace
} // namespace nereid::importer
