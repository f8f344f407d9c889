// SPDX-License-Identifier: Apache-2.0
// The declarations of Cuda.h and CudaFunctions.def against NVIDIA's own, where a toolkit lies in
// its usual place. Nothing else needs one.
#include "lib/targets/nvidia/driver/Driver.h"

#include <gtest/gtest.h>

#include <type_traits>

#if __has_include("/usr/local/cuda/include/cuda.h")
#include "/usr/local/cuda/include/cuda.h"

namespace nereid::nvidia {
namespace {

/// Passed in the same way: names of types differ.
template <class Theirs, class Ours>
constexpr bool isPassedAs =
    sizeof(Theirs) == sizeof(Ours) && std::is_pointer_v<Theirs> == std::is_pointer_v<Ours>;

template <class... Theirs, class... Ours>
constexpr bool isCalledAs(CUresult (*)(Theirs...), cuda::Result (*)(Ours...)) {
  if constexpr (sizeof...(Theirs) == sizeof...(Ours)) {
    return (isPassedAs<Theirs, Ours> && ...);
  }
  return false;
}

#define NEREID_CUDA(name, symbol, parameters)                                                      \
  static_assert(isCalledAs(static_cast<decltype(&::symbol)>(nullptr),                              \
                           static_cast<decltype(Driver::name)>(nullptr)),                          \
                #symbol);
#include "lib/targets/nvidia/driver/CudaFunctions.def"

struct Pair {
  int theirs, ours;
};

TEST(CudaDeclarations, HaveNvidiasNumbers) {
  const Pair pairs[] = {
      {CUDA_SUCCESS, cuda::Success},
      {CUDA_ERROR_INVALID_VALUE, cuda::InvalidValue},
      {CUDA_ERROR_OUT_OF_MEMORY, cuda::OutOfMemory},
      {CUDA_ERROR_NOT_INITIALIZED, cuda::NotInitialized},
      {CUDA_ERROR_DEINITIALIZED, cuda::Deinitialized},
      {CUDA_ERROR_DEVICE_UNAVAILABLE, cuda::DeviceUnavailable},
      {CUDA_ERROR_NO_DEVICE, cuda::NoDevice},
      {CUDA_ERROR_INVALID_IMAGE, cuda::InvalidImage},
      {CUDA_ERROR_INVALID_CONTEXT, cuda::InvalidContext},
      {CUDA_ERROR_NO_BINARY_FOR_GPU, cuda::NoBinaryForGpu},
      {CUDA_ERROR_ECC_UNCORRECTABLE, cuda::EccUncorrectable},
      {CUDA_ERROR_INVALID_PTX, cuda::InvalidPtx},
      {CUDA_ERROR_NVLINK_UNCORRECTABLE, cuda::NvlinkUncorrectable},
      {CUDA_ERROR_JIT_COMPILER_NOT_FOUND, cuda::JitCompilerNotFound},
      {CUDA_ERROR_UNSUPPORTED_PTX_VERSION, cuda::UnsupportedPtxVersion},
      {CUDA_ERROR_JIT_COMPILATION_DISABLED, cuda::JitCompilationDisabled},
      {CUDA_ERROR_INVALID_HANDLE, cuda::InvalidHandle},
      {CUDA_ERROR_NOT_FOUND, cuda::NotFound},
      {CUDA_ERROR_ILLEGAL_ADDRESS, cuda::IllegalAddress},
      {CUDA_ERROR_LAUNCH_OUT_OF_RESOURCES, cuda::LaunchOutOfResources},
      {CUDA_ERROR_LAUNCH_TIMEOUT, cuda::LaunchTimeout},
      {CUDA_ERROR_CONTEXT_IS_DESTROYED, cuda::ContextIsDestroyed},
      {CUDA_ERROR_ASSERT, cuda::Assert},
      {CUDA_ERROR_HARDWARE_STACK_ERROR, cuda::HardwareStackError},
      {CUDA_ERROR_ILLEGAL_INSTRUCTION, cuda::IllegalInstruction},
      {CUDA_ERROR_MISALIGNED_ADDRESS, cuda::MisalignedAddress},
      {CUDA_ERROR_INVALID_ADDRESS_SPACE, cuda::InvalidAddressSpace},
      {CUDA_ERROR_INVALID_PC, cuda::InvalidPc},
      {CUDA_ERROR_LAUNCH_FAILED, cuda::LaunchFailed},
      {CUDA_ERROR_MPS_CLIENT_TERMINATED, cuda::MpsClientTerminated},
      {CUDA_ERROR_STREAM_CAPTURE_INVALIDATED, cuda::StreamCaptureInvalidated},
      {CUDA_ERROR_TIMEOUT, cuda::Timeout},
      {CUDA_ERROR_EXTERNAL_DEVICE, cuda::ExternalDevice},
#if CUDA_VERSION >= 13000
      {CUDA_ERROR_CONTAINED, cuda::Contained},
      {CUDA_ERROR_TENSOR_MEMORY_LEAK, cuda::TensorMemoryLeak},
#endif
      {CU_DEVICE_ATTRIBUTE_MAX_THREADS_PER_BLOCK, cuda::MaxThreadsPerBlock},
      {CU_DEVICE_ATTRIBUTE_MAX_GRID_DIM_X, cuda::MaxGridX},
      {CU_DEVICE_ATTRIBUTE_MAX_GRID_DIM_Y, cuda::MaxGridY},
      {CU_DEVICE_ATTRIBUTE_MAX_GRID_DIM_Z, cuda::MaxGridZ},
      {CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT, cuda::MultiprocessorCount},
      {CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR, cuda::CapabilityMajor},
      {CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR, cuda::CapabilityMinor},
      {CU_DEVICE_ATTRIBUTE_L2_CACHE_SIZE, cuda::CacheBytes},
      {CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_MULTIPROCESSOR,
       cuda::SharedBytesPerMultiprocessor},
      {CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK_OPTIN, cuda::MaxSharedBytesPerBlockOptIn},
      {CU_FUNC_ATTRIBUTE_MAX_THREADS_PER_BLOCK, cuda::FunctionMaxThreadsPerBlock},
      {CU_FUNC_ATTRIBUTE_SHARED_SIZE_BYTES, cuda::FunctionSharedBytes},
      {CU_FUNC_ATTRIBUTE_LOCAL_SIZE_BYTES, cuda::FunctionLocalBytes},
      {CU_FUNC_ATTRIBUTE_NUM_REGS, cuda::FunctionRegisters},
      {CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES, cuda::FunctionMaxDynamicSharedBytes},
      {CU_JIT_INFO_LOG_BUFFER, cuda::JitInfoLog},
      {CU_JIT_INFO_LOG_BUFFER_SIZE_BYTES, cuda::JitInfoLogBytes},
      {CU_JIT_ERROR_LOG_BUFFER, cuda::JitErrorLog},
      {CU_JIT_ERROR_LOG_BUFFER_SIZE_BYTES, cuda::JitErrorLogBytes},
      {CU_STREAM_CAPTURE_MODE_RELAXED, cuda::CaptureRelaxed},
      {CU_STREAM_NON_BLOCKING, cuda::streamNonBlocking},
      {CU_EVENT_DEFAULT, cuda::eventDefault},
      {CU_EVENT_WAIT_DEFAULT, cuda::eventWaitDefault},
      {CU_MEMHOSTALLOC_PORTABLE, cuda::hostMemoryPortable},
      {CU_LAUNCH_ATTRIBUTE_PROGRAMMATIC_STREAM_SERIALIZATION, cuda::LaunchAttribute{}.id},
  };
  for (const auto &[theirs, ours] : pairs) {
    EXPECT_EQ(theirs, ours);
  }
}

TEST(CudaDeclarations, HaveNvidiasPlaces) {
  using Theirs = CUlaunchConfig;
  using Ours = cuda::LaunchConfig;
  EXPECT_EQ(sizeof(Theirs), sizeof(Ours));
  EXPECT_EQ(offsetof(Theirs, blockDimX), offsetof(Ours, blockX));
  EXPECT_EQ(offsetof(Theirs, sharedMemBytes), offsetof(Ours, sharedBytes));
  EXPECT_EQ(offsetof(Theirs, hStream), offsetof(Ours, stream));
  EXPECT_EQ(offsetof(Theirs, attrs), offsetof(Ours, attributes));
  EXPECT_EQ(offsetof(Theirs, numAttrs), offsetof(Ours, attributeCount));
  EXPECT_EQ(sizeof(CUlaunchAttribute), sizeof(cuda::LaunchAttribute));
  EXPECT_EQ(offsetof(CUlaunchAttribute, value), offsetof(cuda::LaunchAttribute, isAllowed));
}

} // namespace
} // namespace nereid::nvidia

#else

TEST(CudaDeclarations, HaveNvidiasNumbers) {
  GTEST_SKIP() << "no /usr/local/cuda/include/cuda.h to compare with";
}

#endif
