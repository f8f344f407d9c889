// SPDX-License-Identifier: Apache-2.0
// Kernels with tensor descriptors through the C interface: one tensor for each.
#include "nereid/nereid.hpp"

#include <gtest/gtest.h>

namespace {

constexpr const char *source = R"(import triton
import triton.language as tl

@triton.jit
def turn(a, out, scale):
    out.store([0, 0], tl.trans(a.load([0, 0])) * scale)
)";

TEST(CApiDescriptors, SizesAndStridesComeFromTheTensor) {
  const nereid::Kernel kernel = nereid::Kernel::loadSource(
      source, "turn", "tensordesc<fp32[4,8]>, tensordesc<fp32[8,4]>, fp32");
  EXPECT_EQ(nereid_kernel_argument_count(kernel.get()), 3);
  std::vector<float> data(24), result(15, -1);
  for (size_t i = 0; i < data.size(); ++i) {
    data[i] = static_cast<float>(i);
  }
  // Three rows of five out of rows of eight.
  const nereid::Tensor a = nereid::Tensor::borrow(data.data(), {3, 5}, nereid::DType::F32, {8, 1});
  kernel.launch({1}, a, nereid::Tensor::borrow(result, {5, 3}), 2.0);
  for (size_t i = 0; i < 5; ++i) {
    for (size_t j = 0; j < 3; ++j) {
      EXPECT_EQ(result[i * 3 + j], 2 * data[j * 8 + i]);
    }
  }
}

TEST(CApiDescriptors, RowsMustBeContiguous) {
  const nereid::Kernel kernel = nereid::Kernel::loadSource(
      source, "turn", "tensordesc<fp32[4,8]>, tensordesc<fp32[8,4]>, fp32");
  std::vector<float> data(15), result(15);
  const nereid::Tensor turned =
      nereid::Tensor::borrow(data.data(), {3, 5}, nereid::DType::F32, {1, 3});
  try {
    kernel.launch({1}, turned, nereid::Tensor::borrow(result, {5, 3}), 2.0);
    FAIL() << "expects an error";
  } catch (const nereid::Error &error) {
    EXPECT_EQ(error.status(), NEREID_ERROR_LAUNCH);
  }
  EXPECT_EQ(std::string(nereid_last_error_code()), "E0411");
}

} // namespace
