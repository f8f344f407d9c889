// SPDX-License-Identifier: Apache-2.0
// Tensors from lists, and calls that must succeed, for the tests of this folder.
#pragma once

#include "lib/eager/baseline/Eager.h"

#include <gtest/gtest.h>

namespace nereid::eager {

using runtime::Tensor;

inline Tensor make(std::vector<int64_t> shape, const std::vector<double> &values,
                   DType dtype = DType::F32) {
  Tensor tensor = Tensor::empty(std::move(shape), dtype);
  for (size_t i = 0; i < values.size(); ++i) {
    tensor.set(static_cast<int64_t>(i), values[i]);
  }
  return tensor;
}

inline std::vector<double> list(const Tensor &tensor) {
  std::vector<double> values;
  for (int64_t i = 0; i < tensor.elementCount(); ++i) {
    values.push_back(tensor.at(i));
  }
  return values;
}

inline Tensor call(const std::string &op, std::vector<Tensor> inputs,
                   std::map<std::string, Attribute> attributes = {}) {
  auto result = runOperation(op, inputs, attributes, runtime::defaultPool());
  if (!result) {
    ADD_FAILURE() << op << ": " << render(result.error());
    return Tensor();
  }
  return *result;
}

inline std::string errorOf(const std::string &op, std::vector<Tensor> inputs,
                           std::map<std::string, Attribute> attributes = {}) {
  auto result = runOperation(op, inputs, attributes, runtime::defaultPool());
  return result ? "" : result.error().code;
}

} // namespace nereid::eager
