// SPDX-License-Identifier: Apache-2.0
// The pointwise rows of operations.def as operators, with data.
#pragma once

#include "lib/definition/operations/Operations.h"
#include "runtime/tensor/Tensor.h"
#include "unittests/generator/Making.h"

namespace nereid::generator {

struct Sample {
  std::string body, inputs, outShape;
  std::vector<std::vector<int64_t>> shapes; ///< of the inputs
  std::vector<int64_t> sizes;               ///< of the program's symbols
};

/// Numbers in [-3, 3], of integers in [-12, 12], of masks either.
std::vector<runtime::Tensor> dataFor(const definition::Operator &op, const Sample &sample,
                                     DType dtype, unsigned number);

/// Products of matrices, of batches and with vectors, and convolutions: strides, padding, dilation,
/// groups, with and without batch and bias, sizes that are numbers and that are symbols.
std::vector<Sample> products();
std::vector<Sample> convolutions();

/// The names, each once.
std::vector<std::string> pointwiseRows();

/// A call with tensors for all operands without default, or for all operands.
Sample call(const std::string &name, bool givesAll);

/// The row as an operator of one type; nothing when it takes no such values.
std::optional<definition::Operator> rowOf(const std::string &name, Sample &sample, DType dtype);

} // namespace nereid::generator
