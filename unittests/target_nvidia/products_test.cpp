// SPDX-License-Identifier: Apache-2.0
// How operands of matrix instructions come to their threads, and results to memory.
#include "unittests/target_nvidia/Ptx.h"

#include <gtest/gtest.h>

using namespace nereid::nvidia;

TEST(NvidiaProducts, ResultsAreStoredByThreadsThatFillSectors) {
  const auto ptxFor = [](const std::string &type) {
    return ptxOfText("\n@triton.jit\ndef k(a, c):\n"
                     "    i = tl.arange(0, 64)\n"
                     "    at = i[:, None] * 64 + i[None, :]\n"
                     "    x = tl.load(a + at)\n"
                     "    tl.store(c + at, tl.dot(x, x).to(c.dtype.element_ty))\n",
                     "a=*fp16:16, c=*" + type + ":16");
  };
  // Four lanes have eight neighbours: 32 bytes of float32, but 16 of float16, which move.
  EXPECT_EQ(countOf(ptxFor("fp32"), "st.global.v2.b32"), 16);
  EXPECT_EQ(countOf(ptxFor("fp16"), "st.global.v4.b32"), 4);
}
