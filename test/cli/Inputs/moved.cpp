// SPDX-License-Identifier: Apache-2.0
// Calls the launcher of moved.toml, which writes into x and state.
#include "moved_kernel.hpp"

#include <cstdio>

using nereid::DType;
using nereid::Tensor;

namespace {

Tensor filled(double value) {
  Tensor tensor = Tensor::empty({3, 3}, DType::F32);
  tensor.fill(value);
  return tensor;
}

template <class Call> void refused(const Call &call) {
  try {
    call();
    std::printf("taken\n");
  } catch (const nereid::Error &error) {
    std::printf("%s\n", error.what());
  }
}

} // namespace

int main() {
  const Tensor x = filled(8), y = filled(4), state = filled(2);
  const auto [out, kept] = triton::moved(x, y, state, 1.0); // state 2 / 2 + 4, x 8 - 5
  if (out.data() == x.data() && kept.data() == state.data() && x.at(8) == 3 && state.at(8) == 5) {
    std::printf("x is the result\n");
  }
  if (y.at(0) == 4 && y.at(8) == 4) {
    std::printf("y stays\n");
  }
  const Tensor both = filled(8), other = filled(0);
  triton::moved(both, both, other, 0.5); // what is read of x is what it was
  if (both.at(0) == 4 && both.at(8) == 4 && other.at(8) == 8) {
    std::printf("x + x\n");
  }
  refused([&] { triton::moved(x.view(0, {3, 3}, {1, 3}), y, state); });
  refused([&] { triton::moved(x, y, x); });
}
