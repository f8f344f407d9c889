// SPDX-License-Identifier: Apache-2.0
// Kernels compiled for a device and launched there: what the driver is given. The driver is that of
// unittests/nvidia_driver, which takes launches and runs none of these kernels.
#include "lib/launch/KernelRunning.h"
#include "lib/pipeline/Compiler.h"
#include "lib/targets/nvidia/NvidiaTarget.h"
#include "runtime/Device.h"
#include "runtime/ThreadPool.h"
#include "unittests/nvidia_driver/fake/LoadedFake.h"

#include <gtest/gtest.h>

#include <chrono>

namespace nereid::nvidia::test {
namespace {

std::optional<runtime::Kernel> compiled(const char *file, const char *signature,
                                        const char *target) {
  (void)fake(); // is the libcuda.so.1 of this program from now on
  registerNvidiaTarget();
  pipeline::CompileInput input;
  input.path = std::string(NEREID_SOURCE_DIR) + "/kernels/" + file;
  input.signature = signature;
  pipeline::CompileOptions options;
  options.target = target;
  options.useCache = false;
  Diagnostics diags;
  auto kernel = pipeline::compileKernel(input, options, diags);
  EXPECT_TRUE(kernel) << diags.render();
  return kernel;
}

TEST(NvidiaLaunch, HasTheThreadsAndTheSharedMemoryOfTheKernel) {
  auto kernel = compiled("softmax/softmax.py",
                         "x=*fp32:16, out=*fp32:16, x_stride=i32:16, out_stride=i32:16, "
                         "n_cols=i32:16, BLOCK=1024, num_warps=8",
                         "nvidia:2");
  ASSERT_TRUE(kernel);
  EXPECT_EQ(kernel->code->device().name(), "nvidia:2");
  EXPECT_EQ(kernel->code->device().architecture(), "sm_90a");
  EXPECT_EQ(kernel->info.threads, 256u);
  EXPECT_GT(kernel->info.scratchBytes, 0u);
  const auto x = runtime::Tensor::empty({5, 1024}, DType::F32);
  const auto out = runtime::Tensor::empty({5, 1024}, DType::F32);
  const runtime::ArgumentValue values[] = {&x, &out, int64_t{1024}, int64_t{1024}, int64_t{1024}};
  fake().launches.clear();
  const auto error = launch::launchHere(*kernel, {5, 1, 1}, values, runtime::defaultPool());
  EXPECT_FALSE(error) << error.message;
  ASSERT_EQ(fake().launches.size(), 1u);
  const FakeCuda::Launch &made = fake().launches.front();
  EXPECT_EQ(made.kernel, kernel->info.name);
  EXPECT_EQ(made.threads, 256u);
  EXPECT_EQ(made.sharedBytes, kernel->info.scratchBytes);
  EXPECT_EQ(std::vector<unsigned>(made.grid, made.grid + 3), (std::vector<unsigned>{5, 1, 1}));
  EXPECT_TRUE(fake().violations.empty()) << fake().violations.front();
}

TEST(NvidiaLaunch, CountsProgramsAndNotTheirBlocks) {
  auto kernel = compiled("softmax/softmax.py",
                         "x=*fp32:16, out=*fp32:16, x_stride=i32, out_stride=i32, n_cols=i32, "
                         "BLOCK=1024, num_warps=2, num_ctas=4",
                         "nvidia:2");
  ASSERT_TRUE(kernel);
  EXPECT_EQ(kernel->info.threads, 64u);
  EXPECT_EQ(kernel->info.blocks, 4u);
  const auto x = runtime::Tensor::empty({5, 1024}, DType::F32);
  const auto out = runtime::Tensor::empty({5, 1024}, DType::F32);
  const runtime::ArgumentValue values[] = {&x, &out, int64_t{1024}, int64_t{1024}, int64_t{1024}};
  fake().launches.clear();
  const auto error = launch::launchHere(*kernel, {5, 3, 1}, values, runtime::defaultPool());
  EXPECT_FALSE(error) << error.message;
  ASSERT_EQ(fake().launches.size(), 1u);
  const FakeCuda::Launch &made = fake().launches.front();
  EXPECT_EQ(std::vector<unsigned>(made.grid, made.grid + 3), (std::vector<unsigned>{20, 3, 1}));
  EXPECT_EQ(made.threads, 64u);
  // Each of the programs takes four of the blocks that a grid can have.
  const auto refused =
      launch::launchHere(*kernel, {(uint64_t{1} << 31) / 4, 1, 1}, values, runtime::defaultPool());
  EXPECT_NE(refused.message.find("expects at most 536870911 on"), std::string::npos)
      << refused.message;
}

TEST(NvidiaLaunch, IsOnTheFirstDeviceUnlessOneIsNamed) {
  for (const char *target : {"nvidia", "nvidia:sm_80", "nvidia:0"}) {
    auto kernel = compiled("vector_add/vector_add.py",
                           "x=*fp32:16, y=*fp32:16, out=*fp32:16, n=i32, BLOCK=1024", target);
    ASSERT_TRUE(kernel);
    EXPECT_EQ(kernel->code->device().name(), "nvidia:0");
  }
}

} // namespace
} // namespace nereid::nvidia::test
