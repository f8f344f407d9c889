// SPDX-License-Identifier: Apache-2.0
#include "lib/targets/nvidia/assembler/PtxasLog.h"

#include "lib/targets/nvidia/assembler/Ptxas.h"
#include "unittests/target_nvidia/Ptx.h"

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

TEST(PtxasLog, OfThingsGivenUpFailTests) {
  for (const std::string code : {"C7508", "C7510", "C7511", "C7518", "C7602"}) {
    const std::string line = "ptxas info    : (" + code + ") Potential Performance Loss: in 'k'";
    EXPECT_EQ(lossOf("ptxas info    : Used 8 registers\n" + line + "\n"), line);
  }
  EXPECT_EQ(lossOf("ptxas info    : (C7517) what is harmless\n"
                   "ptxas info    : (C7519) what is harmless\n"),
            "");
}

TEST(PtxasLog, OfRegistersThatCannotBeKeptIsAComplaint) {
  const auto ptxas = findPtxas();
  if (!ptxas || !*ptxas) {
    GTEST_SKIP() << "no ptxas";
  }
  const auto kernel = [](const std::string &threads) {
    return ".version 8.0\n.target sm_90a\n.address_size 64\n.visible .entry k() " + threads +
           "{ setmaxnreg.inc.sync.aligned.u32 232; ret; }\n";
  };
  const std::string said = complaintOfPtxas(kernel(""));
  EXPECT_NE(said.find("C7508"), std::string::npos) << said;
  EXPECT_EQ(complaintOfPtxas(kernel(".reqntid 384 .maxnreg 168 ")), "");
}

} // namespace
} // namespace nereid::nvidia
