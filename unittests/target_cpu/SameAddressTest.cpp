// SPDX-License-Identifier: Apache-2.0
// Addresses that look alike and are not the same: a load and a store of one tensor that may not
// take turns element by element. Against the interpreter.
#include "unittests/target_cpu/LowerHarness.h"

#include <gtest/gtest.h>

using namespace nereid;
using namespace nereid::cpu::test;
using runtime::Tensor;

namespace {

TEST(SameAddress, EqualAtomicsReturnDifferentNumbers) {
  const char *const source = R"(
@triton.jit
def kernel(counter, x, BLOCK: tl.constexpr):
    i = tl.atomic_add(counter, 1)
    j = tl.atomic_add(counter, 1)
    o = tl.arange(0, BLOCK)
    tl.store(x + j + o, tl.load(x + i + o) + 1)
)";
  Tensor counter = randomTensor({1}, DType::I32, 1), x = randomTensor({260}, DType::I32, 2);
  counter.set(0, 0);
  EXPECT_EQ(
      compareWithOracle(source, "counter=*i32, x=*i32, BLOCK=256", {1, 1, 1}, {&counter, &x}, 0),
      "");
}

TEST(SameAddress, ResultsOfOneOperationDiffer) {
  const char *const source = R"(
@triton.jit
def kernel(pairs, x, BLOCK: tl.constexpr):
    p = tl.load(pairs + tl.arange(0, 2 * BLOCK))
    low, high = tl.split(tl.reshape(p, (BLOCK, 2)))
    tl.store(x + high, tl.load(x + low) + 1)
)";
  constexpr int64_t block = 256;
  Tensor pairs = randomTensor({2 * block}, DType::I32, 1);
  Tensor x = randomTensor({block + 1}, DType::I32, 2);
  for (int64_t i = 0; i < block; ++i) {
    pairs.set(2 * i, static_cast<double>(i));
    pairs.set(2 * i + 1, static_cast<double>(i + 1));
  }
  EXPECT_EQ(compareWithOracle(source, "pairs=*i32, x=*i32, BLOCK=256", {1, 1, 1}, {&pairs, &x}, 0),
            "");
}

} // namespace
