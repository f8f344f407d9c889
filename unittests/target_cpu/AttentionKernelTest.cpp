// SPDX-License-Identifier: Apache-2.0
// kernels/attention with keys stored as [N, D], with and without the causal mask: on every vector
// width against the interpreter and against loops in double precision.
#include "unittests/target_cpu/LowerHarness.h"

#include <gtest/gtest.h>

#include <cmath>
#include <fstream>
#include <sstream>

using namespace nereid;
using namespace nereid::cpu::test;

using runtime::Tensor;

namespace {

constexpr int64_t depth = 64;

std::vector<double> attend(const Tensor &q, const Tensor &k, const Tensor &v, int64_t heads,
                           int64_t n, bool causal) {
  std::vector<double> out(heads * n * depth, 0);
  for (int64_t h = 0; h < heads; ++h) {
    for (int64_t i = 0; i < n; ++i) {
      int64_t seen = causal ? i + 1 : n;
      std::vector<double> weight(seen);
      double top = -INFINITY, total = 0;
      for (int64_t j = 0; j < seen; ++j) {
        for (int64_t d = 0; d < depth; ++d) {
          weight[j] += 0.125 * q.at((h * n + i) * depth + d) * k.at((h * n + j) * depth + d);
        }
        top = std::max(top, weight[j]);
      }
      for (double &w : weight) {
        w = std::exp(w - top);
        total += w;
      }
      for (int64_t j = 0; j < seen; ++j) {
        for (int64_t d = 0; d < depth; ++d) {
          out[(h * n + i) * depth + d] += weight[j] / total * v.at((h * n + j) * depth + d);
        }
      }
    }
  }
  return out;
}

TEST(AttentionKernel, CausalAndNotAgreeWithLoops) {
  std::ifstream file(NEREID_SOURCE_DIR "/kernels/attention/attention.py");
  std::stringstream source;
  source << file.rdbuf();
  ASSERT_NE(source.str(), "");
  const int64_t heads = 2;
  for (bool causal : {false, true}) {
    for (int64_t n : {1, 33, 70}) {
      std::vector<int64_t> shape = {heads, n, depth};
      Tensor q = randomTensor(shape, DType::F32, 1), k = randomTensor(shape, DType::F32, 2);
      Tensor v = randomTensor(shape, DType::F32, 3), out = randomTensor(shape, DType::F32, 4);
      std::string signature = "*fp32, *fp32, *fp32, *fp32, fp32, i32, i32, i32, i32, i32, 1, i32, "
                              "i32, i32, i32, " +
                              std::string(causal ? "True" : "False") + ", 64, 32, 16";
      std::vector<Tensor> results;
      ASSERT_EQ(compareWithOracle(source.str(), signature,
                                  {static_cast<int32_t>((n + 31) / 32), heads, 1},
                                  {&q, &k, &v, &out, 0.125, n, n * depth, depth, n * depth, depth,
                                   n * depth, depth, n * depth, depth},
                                  1e-4, &results),
                "");
      std::vector<double> expected = attend(q, k, v, heads, n, causal);
      for (size_t i = 0; i < expected.size(); ++i) {
        ASSERT_NEAR(results[3].at(static_cast<int64_t>(i)), expected[i], 2e-5)
            << "n " << n << " causal " << causal << " at " << i;
      }
    }
  }
}

} // namespace
