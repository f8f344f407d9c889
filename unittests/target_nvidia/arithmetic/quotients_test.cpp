// SPDX-License-Identifier: Apache-2.0
// What keeps ptxas from joining the turns of a loop, see codegen/SafeQuotients.h.
#include "unittests/target_nvidia/Ptx.h"

#include <gtest/gtest.h>

using namespace nereid::nvidia;

namespace {

int zerosOf(const std::string &step, const std::string &use = "at += step") {
  return countOf(ptxOfText("\n@triton.jit\ndef k(x, out, n):\n"
                           "    i = tl.arange(0, 128)\n"
                           "    step = " +
                               step +
                               "\n"
                               "    at = i\n"
                               "    sum = tl.zeros((128,), dtype=tl.float32)\n"
                               "    for turn in range(n):\n"
                               "        sum += tl.load(x + at)\n"
                               "        " +
                               use +
                               "\n"
                               "    tl.store(out + i, sum)\n",
                           "x=*fp32, out=*fp32, n=i32"),
                 "%nwarpid");
}

} // namespace

TEST(NvidiaQuotients, WhatIsAddedToHidesItsProduct) {
  EXPECT_EQ(zerosOf("i // 3"), 1);
  EXPECT_EQ(zerosOf("(i.to(tl.uint32) // 7).to(tl.int32)"), 1);
  EXPECT_EQ(zerosOf("tl.umulhi(i.to(tl.uint32), 0x55555556).to(tl.int32)"), 1);
  EXPECT_EQ(zerosOf("i // 3", "at -= step"), 1);
}

TEST(NvidiaQuotients, OthersStayAsTheyAre) {
  EXPECT_EQ(zerosOf("i // 4"), 0);
  EXPECT_EQ(zerosOf("i * 3"), 0);
  EXPECT_EQ(zerosOf("i // 3", "at = at ^ step"), 0);
}
