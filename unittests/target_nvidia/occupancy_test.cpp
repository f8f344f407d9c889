// SPDX-License-Identifier: Apache-2.0
// Occupancy against figures of NVIDIA's: tables of the programming guide, and the calculator of the
// toolkit where it lies in its usual place, over all registers, threads and shared memory.
#include "lib/targets/nvidia/occupancy/Occupancy.h"

#include <gtest/gtest.h>

#if __has_include("/usr/local/cuda/include/cuda_occupancy.h")
#include "/usr/local/cuda/include/cuda_occupancy.h"
#define NEREID_HAS_CALCULATOR
#endif

namespace nereid::nvidia {
namespace {

struct Case {
  int capability;
  int64_t registers, threads, shared, programs;
  const char *limitedBy;
};

pipeline::Occupation of(const Case &one) {
  return occupancy(*multiprocessorOf(one.capability),
                   {.registers = one.registers, .sharedBytes = one.shared / 2}, one.threads,
                   one.shared - one.shared / 2);
}

TEST(Occupancy, OfTheProgrammingGuidesLimits) {
  const Case cases[] = {
      {80, 32, 128, 0, 16, "threads and registers"}, // 2048 threads, 64 Ki registers
      {90, 32, 1024, 0, 2, "threads and registers"},
      {86, 32, 1024, 0, 1, "threads"},             // of 1536
      {86, 32, 96, 0, 16, "threads and programs"}, // at most 16 programs, 48 warps
      {86, 16, 32, 0, 16, "programs"},
      {89, 16, 32, 0, 24, "programs"},
      {90, 16, 32, 0, 32, "programs"},
      {90, 64, 128, 0, 8, "registers"},
      {90, 255, 128, 0, 2, "registers"},           // 256 each, 8 warps for 64 Ki
      {90, 33, 128, 0, 12, "registers"},           // 40 each: 51 warps, but 12 in each quarter
      {90, 72, 96, 0, 9, "registers"},             // 7 warps in each quarter, 3 of a program
      {90, 65, 1024, 0, 0, "registers"},           // 72 Ki
      {90, 32, 128, 232448, 1, "shared memory"},   // 227 KiB, the most a program may have
      {80, 32, 128, 166912, 1, "shared memory"},   // 163 KiB
      {86, 32, 128, 101376, 1, "shared memory"},   // 99 KiB
      {90, 32, 128, 50 << 10, 4, "shared memory"}, // 51 KiB with the driver's own, of 228
      {90, 32, 128, 232449, 0, "shared memory"},
      {90, 32, 1056, 0, 0, "threads"},
  };
  for (const Case &one : cases) {
    const pipeline::Occupation found = of(one);
    EXPECT_EQ(found.programs, one.programs)
        << one.capability << " " << one.registers << " " << one.threads << " " << one.shared;
    EXPECT_EQ(found.limitedBy(), one.limitedBy)
        << one.capability << " " << one.registers << " " << one.threads << " " << one.shared;
  }
  EXPECT_DOUBLE_EQ(of({90, 64, 128, 0, 0, ""}).share, 0.5);
  EXPECT_DOUBLE_EQ(of({86, 32, 1024, 0, 0, ""}).share, 1024.0 / 1536);
  EXPECT_FALSE(multiprocessorOf(75));
}

#ifdef NEREID_HAS_CALCULATOR
int calculated(const Case &one) {
  const Multiprocessor known = *multiprocessorOf(one.capability);
  cudaOccDeviceProp device{};
  device.computeMajor = one.capability / 10;
  device.computeMinor = one.capability % 10;
  device.maxThreadsPerBlock = 1024;
  device.maxThreadsPerMultiprocessor = static_cast<int>(known.threads);
  device.regsPerBlock = device.regsPerMultiprocessor = 65536;
  device.warpSize = 32;
  device.sharedMemPerBlock = 48 << 10;
  device.sharedMemPerMultiprocessor = static_cast<size_t>(known.sharedBytes);
  device.numSms = 100;
  device.sharedMemPerBlockOptin = static_cast<size_t>(known.sharedBytes) - 1024;
  device.reservedSharedMemPerBlock = 1024;
  cudaOccFuncAttributes function{};
  function.maxThreadsPerBlock = 1024;
  function.numRegs = static_cast<int>(one.registers);
  function.sharedSizeBytes = static_cast<size_t>(one.shared / 2);
  function.partitionedGCConfig = PARTITIONED_GC_OFF;
  function.shmemLimitConfig = FUNC_SHMEM_LIMIT_OPTIN;
  function.maxDynamicSharedSizeBytes = static_cast<size_t>(known.sharedBytes);
  cudaOccDeviceState state{};
  state.carveoutConfig = SHAREDMEM_CARVEOUT_MAX_SHARED;
  cudaOccResult result{};
  const cudaOccError error = cudaOccMaxActiveBlocksPerMultiprocessor(
      &result, &device, &function, &state, static_cast<int>(one.threads),
      static_cast<size_t>(one.shared - one.shared / 2));
  EXPECT_EQ(error, CUDA_OCC_SUCCESS);
  return result.activeBlocksPerMultiprocessor;
}

TEST(Occupancy, IsThatOfTheToolkitsCalculator) {
  for (const int capability : {80, 86, 89, 90}) {
    const int64_t most = multiprocessorOf(capability)->sharedBytes - 1024;
    for (int64_t registers = 1; registers <= 255; ++registers) {
      for (const int64_t threads : {32, 64, 96, 128, 160, 256, 288, 512, 1024}) {
        for (const int64_t shared : {int64_t{0}, int64_t{1}, int64_t{1000}, int64_t{10 << 10},
                                     int64_t{48 << 10}, most - 1, most}) {
          const Case one{capability, registers, threads, shared, 0, ""};
          ASSERT_EQ(of(one).programs, calculated(one))
              << capability << " " << registers << " " << threads << " " << shared;
        }
      }
    }
  }
}
#else
TEST(Occupancy, IsThatOfTheToolkitsCalculator) {
  GTEST_SKIP() << "no /usr/local/cuda/include/cuda_occupancy.h to compare with";
}
#endif

} // namespace
} // namespace nereid::nvidia
