// SPDX-License-Identifier: Apache-2.0
// Calls the launcher of shifted.toml, which writes into x, with rows of y that have gaps between
// them or lie in x.
#include "shifted_kernel.hpp"

#include <cstdio>

using nereid::DType;
using nereid::Tensor;

namespace {

Tensor filled(const nereid::Sizes &shape, double value) {
  Tensor tensor = Tensor::empty(shape, DType::F32);
  tensor.fill(value);
  return tensor;
}

bool isAll(const Tensor &tensor, double value) {
  bool isIt = true;
  for (int64_t i = 0; i < tensor.elementCount(); ++i) {
    isIt = isIt && tensor.at(i) == value;
  }
  return isIt;
}

} // namespace

int main() {
  const Tensor x = filled({500, 64}, 1), wide = filled({500, 80}, 7);
  const Tensor y = wide.view(9, {500, 64}, {80, 1});
  y.fill(2);
  triton::shifted(x, y);
  std::printf("gaps between rows: %s\n", isAll(x, 3) && isAll(y, 2) ? "right" : "wrong");
  // What is read of x is what it was: 3 on average.
  triton::shifted(x, x.view(64 * 499, {500, 64}, {0, 1}));
  std::printf("a row of x: %s\n", isAll(x, 6) ? "right" : "wrong");
}
