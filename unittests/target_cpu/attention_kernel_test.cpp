// SPDX-License-Identifier: Apache-2.0
// kernels/attention, forward and backward, full, causal and with a window: on every vector width
// against the interpreter and against loops in double precision.
#include "unittests/target_cpu/LowerHarness.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <cmath>
#include <fstream>
#include <sstream>

using namespace nereid;
using namespace nereid::cpu::test;

using runtime::Tensor;

namespace {

constexpr int64_t heads = 2, depth = 64;
constexpr double scale = 0.125;

struct Mask {
  bool causal;
  int64_t window; ///< 0 = none
  bool sees(int64_t query, int64_t key) const {
    return (!causal || key <= query) && (window == 0 || std::abs(query - key) < window);
  }
};

using Matrix = std::vector<double>; ///< [heads, n, depth], or [heads, n]

struct Expected {
  Matrix out, lse, delta, dq, dk, dv;
};

/// From the definition: every query's weights are kept, and the gradients follow the chain rule.
Expected attend(const Tensor &q, const Tensor &k, const Tensor &v, const Tensor &dout, int64_t n,
                Mask mask) {
  Expected all;
  for (Matrix *matrix : {&all.out, &all.dq, &all.dk, &all.dv}) {
    matrix->assign(heads * n * depth, 0);
  }
  auto dot = [](const auto &x, int64_t i, const auto &y, int64_t j) {
    double sum = 0;
    for (int64_t d = 0; d < depth; ++d) {
      sum += x.at(i * depth + d) * y.at(j * depth + d);
    }
    return sum;
  };
  for (int64_t row = 0; row < heads * n; ++row) {
    int64_t first = row / n * n;
    Matrix weight(n, 0);
    double top = -INFINITY, total = 0, delta = 0;
    for (int64_t j = 0; j < n; ++j) {
      weight[j] = mask.sees(row - first, j) ? scale * dot(q, row, k, first + j) : -INFINITY;
      top = std::max(top, weight[j]);
    }
    for (double &w : weight) {
      w = std::exp(w - top);
      total += w;
    }
    for (int64_t j = 0; j < n; ++j) {
      weight[j] /= total;
      for (int64_t d = 0; d < depth; ++d) {
        all.out[row * depth + d] += weight[j] * v.at((first + j) * depth + d);
      }
      delta += weight[j] * dot(dout, row, v, first + j);
    }
    all.lse.push_back(top + std::log(total));
    all.delta.push_back(delta);
    for (int64_t j = 0; j < n; ++j) {
      double score = weight[j] * (dot(dout, row, v, first + j) - delta) * scale;
      for (int64_t d = 0; d < depth; ++d) {
        all.dq[row * depth + d] += score * k.at((first + j) * depth + d);
        all.dk[(first + j) * depth + d] += score * q.at(row * depth + d);
        all.dv[(first + j) * depth + d] += weight[j] * dout.at(row * depth + d);
      }
    }
  }
  return all;
}

/// The file's text up to the end of that kernel: the harness compiles the last one.
std::string sourceOf(const std::string &file, const std::string &kernel) {
  std::ifstream stream(NEREID_SOURCE_DIR "/kernels/attention/" + file);
  std::stringstream text;
  text << stream.rdbuf();
  std::string source = text.str();
  size_t start = source.find("def " + kernel + "(");
  return start == std::string::npos ? "" : source.substr(0, source.find("\n\n\n", start));
}

void expectNear(const Tensor &got, const Matrix &expected, double tolerance,
                const std::string &what) {
  for (size_t i = 0; i < expected.size(); ++i) {
    ASSERT_NEAR(got.at(static_cast<int64_t>(i)), expected[i], tolerance) << what << " at " << i;
  }
}

Tensor tensorOf(const Matrix &values, std::vector<int64_t> shape) {
  Tensor tensor = randomTensor(std::move(shape), DType::F32, 1);
  for (size_t i = 0; i < values.size(); ++i) {
    tensor.set(static_cast<int64_t>(i), values[i]);
  }
  return tensor;
}

class AttentionKernel : public testing::TestWithParam<std::tuple<bool, int64_t, int64_t>> {
protected:
  Mask mask{std::get<0>(GetParam()), std::get<1>(GetParam())};
  int64_t n = std::get<2>(GetParam());
  std::vector<int64_t> shape = {heads, n, depth};
  Tensor q = randomTensor(shape, DType::F32, 1), k = randomTensor(shape, DType::F32, 2);
  Tensor v = randomTensor(shape, DType::F32, 3), dout = randomTensor(shape, DType::F32, 4);
  Expected expected = attend(q, k, v, dout, n, mask);
  std::string flags = fmt::format("{}, {}, 64", mask.causal ? "True" : "False", mask.window);

  static std::array<int32_t, 3> blocks(int64_t n, int64_t block) {
    return {static_cast<int32_t>((n + block - 1) / block), heads, 1};
  }
};

TEST_P(AttentionKernel, Forward) {
  Tensor out = randomTensor(shape, DType::F32, 5), lse = randomTensor({heads, n}, DType::F32, 6);
  std::string signature = "*fp32, *fp32, *fp32, *fp32, *fp32, fp32, i32, i32, i32, i32, i32, 1, "
                          "i32, i32, i32, i32, " +
                          flags + ", 32, 16";
  std::vector<Tensor> results;
  ASSERT_EQ(compareWithOracle(sourceOf("attention.py", "attention"), signature, blocks(n, 32),
                              {&q, &k, &v, &out, &lse, scale, n, n * depth, depth, n * depth, depth,
                               n * depth, depth, n * depth, depth},
                              1e-4, &results),
            "");
  expectNear(results[3], expected.out, 2e-5, "out");
  expectNear(results[4], expected.lse, 2e-5, "lse");
}

TEST_P(AttentionKernel, Backward) {
  const std::string file = "attention_backward.py";
  Tensor out = tensorOf(expected.out, shape), lse = tensorOf(expected.lse, {heads, n});
  Tensor delta = randomTensor({heads, n}, DType::F32, 6);
  std::vector<Tensor> results;
  ASSERT_EQ(compareWithOracle(sourceOf(file, "attention_delta"), "*fp32, *fp32, *fp32, i32, 64, 32",
                              blocks(n, 32), {&out, &dout, &delta, n}, 1e-4, &results),
            "");
  expectNear(results[2], expected.delta, 2e-5, "delta");

  Tensor exact = tensorOf(expected.delta, {heads, n});
  for (int64_t splits : {1, 2}) {
    Tensor dq = tensorOf(Matrix(static_cast<size_t>(splits * heads * n * depth)),
                         {splits, heads, n, depth});
    Tensor dk = randomTensor(shape, DType::F32, 8), dv = randomTensor(shape, DType::F32, 9);
    ASSERT_EQ(compareWithOracle(
                  sourceOf(file, "attention_backward"),
                  "*fp32, *fp32, *fp32, *fp32, *fp32, *fp32, *fp32, *fp32, *fp32, fp32, i32, " +
                      flags + ", 16, 32",
                  {static_cast<int32_t>(splits), heads, 1},
                  {&q, &k, &v, &dout, &lse, &exact, &dq, &dk, &dv, scale, n}, 1e-4, &results),
              "");
    Tensor sum = tensorOf(Matrix(expected.dq.size()), shape);
    for (int64_t i = 0; i < splits * sum.elementCount(); ++i) {
      const int64_t place = i % sum.elementCount();
      sum.set(place, sum.at(place) + results[6].at(i));
    }
    expectNear(sum, expected.dq, 5e-5, "dq");
    expectNear(results[7], expected.dk, 5e-5, "dk");
    expectNear(results[8], expected.dv, 5e-5, "dv");
  }
}

/// Scores are read in the order in which they are in scratch, and keys, queries and gradients are
/// transposed in registers.
TEST(AttentionKernelCode, NoElementsAreGathered) {
  for (const char *flags : {"False, 0, ", "True, 0, ", "False, 1024, ", "True, 1024, "}) {
    LoweredKernel kernel =
        lowerSource(sourceOf("attention.py", "attention"),
                    "*fp32, *fp32, *fp32, *fp32, *fp32, fp32, i32, i32, i32, i32, i32:16, 1, "
                    "i32, i32, i32, i32, " +
                        std::string(flags) + "64, 128, 64",
                    "x86-64-v4");
    ASSERT_EQ(kernel.error, "");
    EXPECT_EQ(kernel.loops.find("gather"), std::string::npos) << flags;
    kernel = lowerSource(sourceOf("attention_backward.py", "attention_backward"),
                         "*fp32, *fp32, *fp32, *fp32, *fp32, *fp32, *fp32, *fp32, *fp32, fp32, "
                         "i32, " +
                             std::string(flags) + "64, 128, 128",
                         "x86-64-v4");
    ASSERT_EQ(kernel.error, "");
    EXPECT_EQ(kernel.loops.find("gather"), std::string::npos) << flags;
  }
}

INSTANTIATE_TEST_SUITE_P(Masks, AttentionKernel,
                         testing::Combine(testing::Bool(), testing::Values(0, 20),
                                          testing::Values(1, 33, 70)));

} // namespace
