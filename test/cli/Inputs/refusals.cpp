// SPDX-License-Identifier: Apache-2.0
// Calls the companions of operators/bias_relu.toml with what its wrapper refuses and accepts, and
// says what each of them did.
#include "bias_relu_kernel.hpp"

#include <cstdio>
#include <functional>

namespace baseline {
nereid::Tensor bias_relu(const nereid::Tensor &x, const nereid::Tensor &bias);
}

namespace {

using nereid::DType;
using nereid::Tensor;

struct Call {
  const char *name;
  Tensor x, bias;
};

void report(const Call &call, const char *which, const std::function<void()> &body) {
  try {
    body();
    std::printf("%s: %s accepts\n", call.name, which);
  } catch (const nereid::Error &error) {
    std::printf("%s: %s refuses: %s\n", call.name, which, error.what());
  }
}

Tensor made(const Sizes &shape, DType dtype) {
  const Tensor tensor = Tensor::empty(shape, dtype);
  tensor.fill(1);
  return tensor;
}

} // namespace

int main() {
  const Tensor x = made({3, 8}, DType::F32), bias = made({8}, DType::F32);
  const Call calls[] = {
      {"right", x, bias},
      {"halves", made({3, 8}, DType::F16), made({8}, DType::F16)},
      {"a vector", made({8}, DType::F32), bias},
      {"one element", x, made({1}, DType::F32)},
      {"too long", x, made({9}, DType::F32)},
      {"two dimensions", x, made({1, 8}, DType::F32)},
      {"no dimension", made({}, DType::F32), bias},
      {"another type", x, made({8}, DType::F16)},
      {"doubles", made({3, 8}, DType::F64), made({8}, DType::F64)},
      {"integers", made({3, 8}, DType::I32), made({8}, DType::I32)},
  };
  for (const Call &call : calls) {
    report(call, "baseline", [&] { (void)baseline::bias_relu(call.x, call.bias); });
    report(call, "launcher", [&] { (void)triton::bias_relu(call.x, call.bias); });
  }
  const Call other = {"another result", x, bias};
  report(other, "launch",
         [&] { triton::Launch(x, bias, Tensor::empty({3, 8}, DType::F16)).run(); });
  report(other, "launch",
         [&] { triton::Launch(x, bias, Tensor::empty({8, 3}, DType::F32)).run(); });
  return 0;
}
