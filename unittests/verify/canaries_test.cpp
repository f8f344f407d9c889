// SPDX-License-Identifier: Apache-2.0
// Patterns around tensors: what is moved stays the same, and any byte next to it is missed at once.
#include "lib/verify/Canaries.h"

#include <gtest/gtest.h>

#include <cstring>
#include <variant>

using namespace nereid;
using nereid::runtime::Tensor;
using nereid::verify::Canaries;

namespace {

Tensor counted(const std::vector<int64_t> &shape) {
  Tensor tensor = Tensor::empty(shape, DType::F32);
  for (int64_t i = 0; i < tensor.elementCount(); ++i) {
    tensor.set(i, static_cast<double>(i));
  }
  return tensor;
}

} // namespace

TEST(Canaries, MovedTensorsHoldWhatTheyHeld) {
  Tensor x = counted({3, 5}), empty = Tensor::empty({0, 4}, DType::F32);
  // Rows from the last to the first, with gaps.
  Tensor whole = counted({40});
  Tensor rows = Tensor::borrow(whole.as<float>() + 30, {4, 5}, DType::F32, {-10, 1});
  Canaries canaries;
  ASSERT_TRUE(canaries.surround({{"x", &x}, {"empty", &empty}, {"rows", &rows}}));
  whole = Tensor();
  for (int64_t i = 0; i < 15; ++i) {
    EXPECT_EQ(x.at(i), i);
  }
  EXPECT_EQ(rows.at(0), 30);
  EXPECT_EQ(rows.at(19), 4);
  EXPECT_EQ(empty.elementCount(), 0);
  EXPECT_EQ(canaries.violation(), "");
}

TEST(Canaries, EveryByteAroundIsWatched) {
  for (int64_t offset : {int64_t{-4096}, int64_t{-1}, int64_t{60}, int64_t{60 + 4095}}) {
    Tensor x = counted({3, 5}), y = counted({7});
    Canaries canaries;
    ASSERT_TRUE(canaries.surround({{"y", &y}, {"x", &x}}));
    uint8_t &byte = x.as<uint8_t>()[offset];
    const uint8_t former = byte;
    byte ^= 1;
    EXPECT_EQ(canaries.violation(),
              offset < 0
                  ? "writes outside 'x', " + std::to_string(-offset) + " bytes in front"
                  : "writes outside 'x', " + std::to_string(offset - 60) + " bytes behind the end");
    byte = former;
    EXPECT_EQ(canaries.violation(), "");
  }
}

TEST(Canaries, WhatOverlapsMovesTogether) {
  Tensor whole = counted({100});
  Tensor part = std::get<Tensor>(whole.view(10, {20}));
  Canaries canaries;
  ASSERT_TRUE(canaries.surround({{"part", &part}, {"whole", &whole}}));
  part.set(3, -1);
  EXPECT_EQ(whole.at(13), -1);
  std::memset(whole.as<uint8_t>() + 400, 0, 64);
  EXPECT_EQ(canaries.violation().substr(0, 33), "writes outside 'whole' and 'part'");
}
