// SPDX-License-Identifier: Apache-2.0
// Kernels of kernels/ through all phases of the target.
#include "unittests/target_nvidia/Ptx.h"

#include <gtest/gtest.h>

using namespace nereid::nvidia;

TEST(NvidiaTarget, NeighboursAreLoadedTogether) {
  const std::string ptx = ptxOf("vector_add/vector_add.py",
                                "x=*fp32:16, y=*fp32:16, out=*fp32:16, n=i32:16, BLOCK=1024");
  EXPECT_NE(ptx.find(".target sm_90a"), std::string::npos);
  EXPECT_NE(ptx.find(".visible .entry vector_add("), std::string::npos);
  EXPECT_NE(ptx.find(".reqntid 128"), std::string::npos);
  EXPECT_EQ(countOf(ptx, "ld.global.v4.b32"), 4);
  EXPECT_EQ(countOf(ptx, "st.global.v4.b32"), 2);
  EXPECT_EQ(countOf(ptx, ".local"), 0);
}

TEST(NvidiaTarget, NeighboursAreLoadedTogetherWhereNoMaskExcludesOne) {
  // Without a promise for n a mask may end within a vector: threads at the end go one by one.
  const std::string ptx =
      ptxOf("vector_add/vector_add.py", "x=*fp32:16, y=*fp32:16, out=*fp32:16, n=i32, BLOCK=1024");
  EXPECT_EQ(complaintOfPtxas(ptx), "");
  EXPECT_EQ(countOf(ptx, "ld.global.v4.b32"), 4);
  EXPECT_EQ(countOf(ptx, "ld.global.b32"), 16);
  EXPECT_EQ(countOf(ptx, "st.global.v4.b32"), 2);
  EXPECT_EQ(countOf(ptx, "st.global.b32"), 8);
}

TEST(NvidiaTarget, RowsAreReducedByShufflesThenSharedMemory) {
  const std::string ptx =
      ptxOf("softmax/softmax.py", "x=*fp32:16, out=*fp32:16, x_stride=i32:16, out_stride=i32:16, "
                                  "n_cols=i32:16, BLOCK=1024");
  EXPECT_GT(countOf(ptx, "shfl.sync.bfly.b32"), 9);
  EXPECT_EQ(countOf(ptx, "bar.sync"), 2) << "one for each reduction, which stage in other places";
  EXPECT_NE(ptx.find("ld.shared"), std::string::npos);
}

TEST(NvidiaTarget, ConstantsInOffsetsAreThoseOfTheInstructions) {
  // Two vectors of a thread, 16 KiB apart: one address for both, in each of the two tensors.
  const std::string ptx =
      ptxOf("softmax/softmax.py", "x=*fp16:16, out=*fp16:16, x_stride=i32:16, out_stride=i32:16, "
                                  "n_cols=i32:16, BLOCK=16384, num_warps=32");
  EXPECT_EQ(countOf(ptx, "global.v4.b32"), 4) << ptx;
  EXPECT_EQ(countOf(ptx, ", 16384;"), 2) << ptx;
}

TEST(NvidiaTarget, ProgramsWithWideTilesMayHaveAllRegisters) {
  const auto limitOf = [](const std::string &sizes) {
    const std::string ptx =
        ptxOf("softmax/softmax.py", "x=*fp32:16, out=*fp32:16, x_stride=i32:16, out_stride=i32:16, "
                                    "n_cols=i32:16, " +
                                        sizes);
    const size_t at = ptx.find(".maxnreg ");
    return at == ptx.npos ? 0 : std::stoi(ptx.substr(at + 9));
  };
  // 65536 registers over 256, 512 and 1024 threads, of which none has more than 255.
  EXPECT_EQ(limitOf("BLOCK=65536, num_warps=8"), 255);
  EXPECT_EQ(limitOf("BLOCK=65536, num_warps=16"), 128);
  EXPECT_EQ(limitOf("BLOCK=65536, num_warps=32"), 64);
  EXPECT_EQ(limitOf("BLOCK=16384, num_warps=16"), 0);
}

TEST(NvidiaTarget, AttentionInFloat32IsALoopOverTheContractedDimension) {
  const std::string ptx =
      ptxOf("attention/attention.py",
            "q=*fp32:16, k=*fp32:16, v=*fp32:16, out=*fp32:16, lse=*fp32, scale=fp32, N=i32:16, "
            "stride_qh=i32:16, stride_qn=i32:16, stride_kh=i32:16, stride_kn=i32:16, stride_kd=1, "
            "stride_vh=i32:16, stride_vn=i32:16, stride_oh=i32:16, stride_on=i32:16, CAUSAL=True, "
            "WINDOW=0, D=64, BLOCK_M=128, BLOCK_N=128");
  // A tile of 128 x 128 is 128 elements for each of 128 threads; half a million lines before.
  EXPECT_LT(countOf(ptx, "\n"), 20000);
  EXPECT_GE(countOf(ptx, "fma.rn.f32"), 128 + 64);
}

TEST(NvidiaTarget, LargeTilesGoThroughSharedMemoryPartByPart) {
  // 65536 numbers, of which shared memory takes a quarter at a time.
  const std::string ptx =
      ptxOf("sort/sort.py", "x=*fp32:16, out=*fp32:16, x_stride=i32, out_stride=i32, n_cols=i32, "
                            "DESCENDING=False, BLOCK=65536");
  EXPECT_GT(countOf(ptx, "ld.shared"), 0);
}
