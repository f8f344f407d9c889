// SPDX-License-Identifier: Apache-2.0
// A tensor passed for a descriptor: the slots a kernel gets, and what is refused.
#include "runtime/ThreadPool.h"
#include "runtime/tensor/Descriptor.h"

#include <algorithm>
#include <gtest/gtest.h>

using namespace nereid;
using namespace nereid::runtime;

namespace {

uint64_t seen[6];

void entry(const uint64_t *slots, const int32_t *, const int32_t *, uint8_t *) {
  std::copy(slots, slots + 6, seen);
}

Kernel descriptorKernel() {
  Kernel kernel;
  kernel.info.name = "k";
  kernel.info.arguments = {
      {.name = "n", .kind = ArgumentKind::Integer, .dtype = DType::I32},
      {.name = "d", .kind = ArgumentKind::Descriptor, .dtype = DType::F32, .rank = 2},
      {.name = "m", .kind = ArgumentKind::Integer, .dtype = DType::I32}};
  kernel.entry = entry;
  return kernel;
}

std::string launchWith(const ArgumentValue &value) {
  const ArgumentValue arguments[] = {int64_t{3}, value, int64_t{4}};
  LaunchError error = launch(descriptorKernel(), {1, 1, 1}, arguments, defaultPool());
  return error.code + " " + error.message;
}

TEST(DescriptorArguments, TakeSizesAndStridesFromTheTensor) {
  std::vector<float> data(60);
  const Tensor tensor = Tensor::borrow(data.data(), {5, 7}, DType::F32, {9, 1});
  EXPECT_EQ(launchWith(&tensor), " ");
  const uint64_t expected[] = {3, reinterpret_cast<uint64_t>(data.data()), 5, 7, 9, 4};
  EXPECT_TRUE(std::equal(seen, seen + 6, expected));
}

TEST(DescriptorArguments, Refusals) {
  std::vector<float> data(60);
  const Tensor flat = Tensor::borrow(data.data(), {60}, DType::F32);
  EXPECT_EQ(launchWith(&flat), "E0409 parameter 'd' of kernel 'k' expects a tensor of 2 dimensions "
                               "for its descriptor, but got 1");
  const Tensor turned = Tensor::borrow(data.data(), {5, 7}, DType::F32, {1, 5});
  EXPECT_EQ(launchWith(&turned), "E0411 parameter 'd' of kernel 'k' expects a last stride of 1 for "
                                 "its descriptor, but got 5");
  const Tensor column = Tensor::borrow(data.data(), {5, 1}, DType::F32, {1, 5});
  EXPECT_EQ(launchWith(&column), " ") << "the stride of a single column is never used";
  EXPECT_EQ(launchWith(int64_t{1}).substr(0, 5), "E0409");
  const Tensor other = Tensor::empty({2, 2}, DType::I32);
  EXPECT_EQ(launchWith(&other).substr(0, 5), "E0410");
}

} // namespace
