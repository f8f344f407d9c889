// SPDX-License-Identifier: Apache-2.0
// Loads a Triton kernel somebody else wrote and launches it on vectors this program owns.
// Usage: vector_add kernels/vector_add/vector_add.py
#include <nereid/nereid.hpp>

#include <cstdio>
#include <vector>

int main(int argc, char **argv) {
  const char *path = argc > 1 ? argv[1] : "kernels/vector_add/vector_add.py";
  try {
    constexpr int n = 98432, block = 1024;
    std::vector<float> x(n), y(n), out(n);
    for (int i = 0; i < n; ++i) {
      x[i] = static_cast<float>(i);
      y[i] = 0.5f;
    }
    auto kernel = nereid::Kernel::load(path, "vector_add", "*fp32, *fp32, *fp32, i32, 1024");
    kernel.launch({nereid::cdiv(n, block)}, nereid::Tensor::borrow(x), nereid::Tensor::borrow(y),
                  nereid::Tensor::borrow(out), n);
    for (int i = 0; i < n; ++i) {
      if (out[i] != x[i] + y[i]) {
        std::printf("out[%d] is %g, but %g + %g = %g\n", i, out[i], x[i], y[i], x[i] + y[i]);
        return 1;
      }
    }
    std::printf("%s on %d elements: out[0] = %g, out[%d] = %g\n", kernel.name().c_str(), n, out[0],
                n - 1, out[n - 1]);
  } catch (const nereid::Error &error) {
    std::fprintf(stderr, "%s\n", error.what());
    return 2;
  }
}
