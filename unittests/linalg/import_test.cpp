// SPDX-License-Identifier: Apache-2.0
// Functions of linalg as definitions compute what the functions say: by hand, on drawn numbers.
#include "lib/importer/linalg/ImportLinalg.h"

#include "lib/definition/Graph.h"
#include "lib/eager/reference/Reference.h"
#include "lib/support/AtomicFile.h"
#include "runtime/ThreadPool.h"
#include "runtime/tensor/Tensor.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <functional>

namespace nereid::importer {
namespace {

using runtime::Tensor;

float *elements(const Tensor &tensor) { return static_cast<float *>(tensor.data()); }

/// Imports the function, draws its inputs, and holds its reference against `compute`.
void expectComputes(const std::string &function, std::vector<std::vector<int64_t>> shapes,
                    std::vector<int64_t> result,
                    const std::function<void(const std::vector<Tensor> &, float *)> &compute) {
  const std::string path = std::string(NEREID_SOURCE_DIR) + "/test/cli/Inputs/layers.mlir";
  auto text = readTextFile(path);
  ASSERT_TRUE(text) << render(text.error());
  Diagnostics diags;
  auto definition = importLinalg(path, *text, function, "op", diags);
  ASSERT_TRUE(definition) << render(definition.error()) << diags.render();
  auto op = definition::parseOperator("op.toml", definition->text, diags);
  ASSERT_TRUE(op) << diags.render();
  std::vector<Tensor> inputs;
  for (size_t i = 0; i < shapes.size(); ++i) {
    inputs.push_back(Tensor::empty(shapes[i], DType::F32));
    (void)fillNormal(inputs.back(), i + 1);
  }
  const std::vector<Tensor> outputs = {Tensor::empty(result, DType::F32)};
  compute(inputs, elements(outputs[0]));
  auto agreement = eager::checkOutputs(*op, inputs, outputs, DType::F32,
                                       eager::Rounding::EachOperation, runtime::defaultPool());
  ASSERT_TRUE(agreement) << render(agreement.error());
  EXPECT_EQ(agreement->mismatches, 0)
      << function << ": " << agreement->first.actual << " and " << agreement->first.expected;
  EXPECT_EQ(agreement->unverifiable, 0);
  elements(outputs[0])[3] += 0.01F;
  agreement = eager::checkOutputs(*op, inputs, outputs, DType::F32, eager::Rounding::EachOperation,
                                  runtime::defaultPool());
  ASSERT_TRUE(agreement);
  EXPECT_EQ(agreement->mismatches, 1) << "a wrong element is seen";
}

TEST(Linalg, BiasAndSelection) {
  expectComputes("bias_relu", {{24, 40}, {40}}, {24, 40}, [](const auto &in, float *out) {
    for (int i = 0; i < 24 * 40; ++i) {
      out[i] = std::max(elements(in[0])[i] + elements(in[1])[i % 40], 0.0F);
    }
  });
}

TEST(Linalg, RowsThatAreReducedAndReadAgain) {
  expectComputes("softmax_rows", {{24, 40}}, {24, 40}, [](const auto &in, float *out) {
    for (int row = 0; row < 24; ++row) {
      const float *x = elements(in[0]) + row * 40;
      const double top = *std::max_element(x, x + 40);
      double sum = 0;
      for (int i = 0; i < 40; ++i) {
        sum += std::exp(x[i] - top);
      }
      for (int i = 0; i < 40; ++i) {
        out[row * 40 + i] = static_cast<float>(std::exp(x[i] - top) / sum);
      }
    }
  });
}

TEST(Linalg, ProductsAddToWhatIsThere) {
  expectComputes("layer", {{8, 16}, {16, 32}, {8, 32}}, {8, 32}, [](const auto &in, float *out) {
    for (int i = 0; i < 8; ++i) {
      for (int j = 0; j < 32; ++j) {
        const double c = elements(in[2])[i * 32 + j];
        double sum = c;
        for (int k = 0; k < 16; ++k) {
          sum += static_cast<double>(elements(in[0])[i * 16 + k]) * elements(in[1])[k * 32 + j];
        }
        out[i * 32 + j] = static_cast<float>(std::exp(sum) + c);
      }
    }
  });
}

TEST(Linalg, DimensionsInAnotherOrder) {
  expectComputes("turned", {{40, 24}, {24, 40}}, {24, 40}, [](const auto &in, float *out) {
    for (int i = 0; i < 24; ++i) {
      for (int j = 0; j < 40; ++j) {
        out[i * 40 + j] = elements(in[0])[j * 24 + i] * elements(in[1])[i * 40 + j];
      }
    }
  });
}

} // namespace
} // namespace nereid::importer
