// SPDX-License-Identifier: Apache-2.0
// What the interpreter's tests share: tensors from values, running IR text, and a kernel around one
// elementwise expression.
#pragma once

#include "lib/interpreter/Interpreter.h"
#include "lib/tile/ir/Tile.h"
#include "runtime/tensor/Tensor.h"

#include "mlir/IR/MLIRContext.h"
#include "mlir/Parser/Parser.h"

#include <gtest/gtest.h>

#include <bit>
#include <cstring>
#include <string>
#include <vector>

namespace nereid::test {

/// A contiguous tensor of one dimension with these element bits; T has the dtype's size.
template <class T> runtime::Tensor tensorOf(DType dtype, const std::vector<T> &values) {
  auto tensor = runtime::Tensor::empty({static_cast<int64_t>(values.size())}, dtype);
  EXPECT_EQ(sizeof(T), sizeInBytes(dtype));
  std::memcpy(tensor.data(), values.data(), values.size() * sizeof(T));
  return tensor;
}

template <class T> std::vector<T> valuesOf(const runtime::Tensor &tensor) {
  std::vector<T> values(static_cast<size_t>(tensor.elementCount()));
  std::memcpy(values.data(), tensor.data(), values.size() * sizeof(T));
  return values;
}

/// Runs IR text; diagnostics of a failed parse fail the test.
bool runText(const std::string &text, runtime::Grid grid,
             const std::vector<runtime::ArgumentValue> &arguments, Diagnostics &diags,
             const InterpretOptions &options = {});

/// The same, expecting success.
void mustRun(const std::string &text, runtime::Grid grid,
             const std::vector<runtime::ArgumentValue> &arguments);

/// The module after the phase tile-opt, as text.
std::string optimised(const std::string &text);

/// Loads the inputs as tiles %a, %b, %c, runs `body` and returns its tile %r. In the body TA, TB,
/// TC and TR stand for the tile types. The phase tile-opt must not change a bit of the result.
runtime::Tensor evaluate(const std::string &body, const std::vector<runtime::Tensor> &inputs,
                         DType result);

/// The IR type of an element.
std::string typeName(DType dtype);

} // namespace nereid::test
