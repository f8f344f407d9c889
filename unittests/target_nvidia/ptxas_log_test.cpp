// SPDX-License-Identifier: Apache-2.0
#include "lib/targets/nvidia/assembler/PtxasLog.h"

#include <gtest/gtest.h>

namespace nereid::nvidia {
namespace {

TEST(PtxasLog, HasTheNumbersOfAKernel) {
  const pipeline::CodeAccount account = readPtxasLog(
      "ptxas info    : 0 bytes gmem\n"
      "ptxas info    : Compiling entry function 'k' for 'sm_90a'\n"
      "ptxas info    : Function properties for k\n"
      "    48 bytes stack frame, 44 bytes spill stores, 52 bytes spill loads\n"
      "ptxas info    : Used 255 registers, used 1 barriers, 48 bytes cumulative stack size, 1040 "
      "bytes smem, 400 bytes cmem[0]\n"
      "ptxas info    : Compile time = 12.345 ms\n");
  EXPECT_EQ(account.resources.registers, 255);
  EXPECT_EQ(account.resources.sharedBytes, 1040);
  EXPECT_EQ(account.resources.localBytes, 48);
  EXPECT_EQ(account.resources.spillStoreBytes, 44);
  EXPECT_EQ(account.resources.spillLoadBytes, 52);
  EXPECT_TRUE(account.warnings.empty());
}

TEST(PtxasLog, OfLittleSaysZero) {
  const pipeline::CodeAccount account = readPtxasLog("ptxas info    : Used 8 registers");
  EXPECT_EQ(account.resources.registers, 8);
  EXPECT_EQ(account.resources.sharedBytes, 0);
  EXPECT_EQ(account.resources.spillStoreBytes, 0);
}

TEST(PtxasLog, KeepsWarnings) {
  const pipeline::CodeAccount account = readPtxasLog(
      "ptxas info    : (C7510) Potential Performance Loss: wgmma.mma_async instructions are "
      "serialized in function 'k'\n"
      "ptxas warning : Value of threads per SM for entry k is out of range\n"
      "ptxas info    : Function (Cache) of k (C)\n");
  ASSERT_EQ(account.warnings.size(), 2u);
  EXPECT_EQ(account.warnings[0].find("ptxas info    : (C7510)"), 0u);
  EXPECT_EQ(account.warnings[1].find("ptxas warning"), 0u);
}

} // namespace
} // namespace nereid::nvidia
