// SPDX-License-Identifier: Apache-2.0
// How operands of matrix instructions come to their threads, and results to memory.
#include "unittests/target_nvidia/Ptx.h"

#include <gtest/gtest.h>

using namespace nereid::nvidia;

namespace {

/// Of c = a @ b with tiles of 64 x 64, once, without a loop; `right` loads b.
std::string productOf(const std::string &right, const std::string &type) {
  return ptxOfText("\n@triton.jit\ndef k(a, b, c):\n"
                   "    i = tl.arange(0, 64)\n"
                   "    at = i[:, None] * 64 + i[None, :]\n"
                   "    x = tl.load(a + at)\n"
                   "    y = " +
                       right +
                       "\n"
                       "    tl.store(c + at, tl.dot(x, y, input_precision='tf32'))\n",
                   "a=*" + type + ":16, b=*" + type + ":16, c=*fp32:16");
}

} // namespace

TEST(NvidiaProducts, OperandsAreStoredAsVectorsAndReadAsMatrices) {
  const std::string ptx = productOf("tl.load(b + at)", "fp16");
  EXPECT_EQ(countOf(ptx, "st.shared.v4.b32"), 8); // 2 tiles, 4096 elements, 128 threads, 8 each
  EXPECT_EQ(countOf(ptx, "st.shared"), 8);
  EXPECT_EQ(countOf(ptx, "ldmatrix.sync.aligned.m8n8.x4.shared.b16"), 8);
  EXPECT_EQ(countOf(ptx, "ldmatrix.sync.aligned.m8n8.x4.trans.shared.b16"), 8);
  EXPECT_EQ(countOf(ptx, "ld.shared"), 0);
}

TEST(NvidiaProducts, ATransposedOperandIsReadAsItLies) {
  const std::string ptx = productOf("tl.load(b + at).T", "bf16");
  EXPECT_EQ(countOf(ptx, "ldmatrix.sync.aligned.m8n8.x4.shared.b16"), 16);
  EXPECT_EQ(countOf(ptx, ".trans"), 0);
}

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

TEST(NvidiaProducts, OtherTypesMoveElementByElement) {
  EXPECT_EQ(countOf(productOf("tl.load(b + at)", "fp32"), "ldmatrix"), 0);
}
