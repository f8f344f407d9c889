// SPDX-License-Identifier: Apache-2.0
// What nodes of a test's model compute as a definition, compared with given numbers.
#pragma once

#include "lib/definition/Graph.h"
#include "lib/eager/reference/Reference.h"
#include "runtime/ThreadPool.h"
#include "runtime/tensor/Tensor.h"
#include "unittests/importer/Imported.h"

namespace nereid::importer {

struct Filled {
  std::vector<int64_t> shape;
  std::vector<float> elements;
  DType dtype = DType::F32; ///< or I64, of the same numbers
};

/// 0, 1, 2, …, every third of them negative.
inline Filled counted(std::vector<int64_t> shape) {
  Filled filled{std::move(shape), {}};
  int64_t count = 1;
  for (int64_t size : filled.shape) {
    count *= size;
  }
  for (int64_t i = 0; i < count; ++i) {
    filled.elements.push_back(static_cast<float>(i % 3 == 2 ? -i : i));
  }
  return filled;
}

inline runtime::Tensor tensorOf(const Filled &filled) {
  auto tensor = runtime::Tensor::empty(filled.shape, filled.dtype);
  const bool isWhole = filled.dtype == DType::I64;
  for (size_t i = 0; i < filled.elements.size(); ++i) {
    const float element = filled.elements[i];
    if (isWhole) {
      static_cast<int64_t *>(tensor.data())[i] = static_cast<int64_t>(element);
    } else {
      static_cast<float *>(tensor.data())[i] = element;
    }
  }
  return tensor;
}

inline void expectComputed(const ModelMaker &maker, const std::vector<Filled> &given,
                           const std::vector<Filled> &expected) {
  auto definition = imported(maker);
  ASSERT_TRUE(definition) << render(definition.error());
  Diagnostics diags;
  auto op = definition::parseOperator("op.toml", definition->text, diags);
  ASSERT_TRUE(op) << diags.render();
  std::vector<runtime::Tensor> inputs, outputs;
  for (const Filled &one : given) {
    inputs.push_back(tensorOf(one));
  }
  for (const Filled &one : expected) {
    outputs.push_back(tensorOf(one));
  }
  auto agreement = eager::checkOutputs(*op, inputs, outputs, op->dtypes[0],
                                       eager::Rounding::EachOperation, runtime::defaultPool());
  ASSERT_TRUE(agreement) << definition->text << render(agreement.error());
  EXPECT_EQ(agreement->mismatches, 0)
      << definition->text << agreement->first.actual << " and " << agreement->first.expected;
}

} // namespace nereid::importer
