// SPDX-License-Identifier: Apache-2.0
// Which tensors share memory, against all of their bytes.
#include "runtime/tensor/Overlap.h"

#include <gtest/gtest.h>

#include <set>
#include <vector>

namespace nereid::runtime {
namespace {

/// The bytes of all elements, one by one.
std::multiset<intptr_t> bytesOf(const Tensor &tensor) {
  std::multiset<intptr_t> bytes;
  const auto element = static_cast<int64_t>(sizeInBytes(tensor.dtype()));
  for (int64_t i = 0; i < tensor.elementCount(); ++i) {
    int64_t rest = i, at = 0;
    for (size_t d = tensor.shape().size(); d-- > 0;) {
      at += rest % tensor.shape()[d] * tensor.strides()[d];
      rest /= tensor.shape()[d];
    }
    for (int64_t byte = 0; byte < element; ++byte) {
      bytes.insert(reinterpret_cast<intptr_t>(tensor.data()) + at * element + byte);
    }
  }
  return bytes;
}

class Overlap : public testing::Test {
protected:
  std::vector<float> memory = std::vector<float>(64);
  Tensor at(int64_t first, std::vector<int64_t> shape, std::vector<int64_t> strides) {
    return Tensor::borrow(memory.data() + first, std::move(shape), DType::F32, std::move(strides));
  }
};

TEST_F(Overlap, isThatOfTheirBytes) {
  const std::vector<Tensor> tensors = {
      at(0, {4, 8}, {8, 1}),   at(32, {4, 8}, {8, 1}),  at(0, {4, 4}, {8, 1}),
      at(4, {4, 4}, {8, 1}),   at(3, {4, 4}, {8, 1}),   at(31, {32}, {-1}),
      at(63, {32}, {-1}),      at(40, {}, {}),          at(0, {0, 8}, {8, 1}),
      at(28, {4, 4}, {-8, 1}), at(31, {4, 4}, {-8, -1})};
  for (const Tensor &a : tensors) {
    for (const Tensor &b : tensors) {
      const std::multiset<intptr_t> one = bytesOf(a), other = bytesOf(b);
      bool isShared = false;
      for (intptr_t byte : one) {
        isShared |= other.contains(byte);
      }
      EXPECT_EQ(overlap(a, b), isShared) << &a - tensors.data() << " " << &b - tensors.data();
      const bool doMeet = !one.empty() && !other.empty() && *one.begin() <= *other.rbegin() &&
                          *other.begin() <= *one.rbegin();
      EXPECT_EQ(extentsMeet(a, b), doMeet) << &a - tensors.data() << " " << &b - tensors.data();
    }
  }
}

TEST_F(Overlap, ofATensorWithItself) {
  EXPECT_FALSE(overlapsItself(at(0, {4, 8}, {8, 1})));
  EXPECT_FALSE(overlapsItself(at(31, {4, 8}, {-8, -1})));
  EXPECT_TRUE(overlapsItself(at(0, {4, 8}, {0, 1})));
  EXPECT_TRUE(overlapsItself(at(0, {4, 8}, {4, 1})));
  EXPECT_FALSE(overlapsItself(at(0, {1, 8}, {0, 1})));
  EXPECT_FALSE(overlapsItself(at(0, {0, 8}, {0, 1})));
}

} // namespace
} // namespace nereid::runtime
