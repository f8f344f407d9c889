// SPDX-License-Identifier: Apache-2.0
// What this program uses of the CUDA driver API: its types and numbers, declared here so that no
// toolkit is needed to build, and with the meaning that NVIDIA's "CUDA Driver API" reference gives
// them. The functions stand in CudaFunctions.def. unittests/nvidia_driver/abi_test.cpp compares all
// of it with cuda.h where there is one.
#pragma once

#include <cstddef>
#include <cstdint>

namespace nereid::nvidia::cuda {

using DeviceNumber = int;           ///< CUdevice
using Address = unsigned long long; ///< CUdeviceptr
using Context = struct ContextData *;
using Stream = struct StreamData *; ///< null is the stream without a name
using Event = struct EventData *;
using Module = struct ModuleData *;
using Function = struct FunctionData *;
using Graph = struct GraphData *;
using GraphExec = struct GraphExecData *;

/// CUresult. Others are passed on with the driver's own name and text.
enum Result : int {
  Success = 0,
  InvalidValue = 1,
  OutOfMemory = 2,
  NotInitialized = 3,
  Deinitialized = 4,
  DeviceUnavailable = 46,
  NoDevice = 100,
  InvalidImage = 200,
  InvalidContext = 201,
  NoBinaryForGpu = 209,
  EccUncorrectable = 214,
  InvalidPtx = 218,
  NvlinkUncorrectable = 220,
  JitCompilerNotFound = 221,
  UnsupportedPtxVersion = 222,
  JitCompilationDisabled = 223,
  Contained = 226,
  InvalidHandle = 400,
  NotFound = 500,
  IllegalAddress = 700,
  LaunchOutOfResources = 701,
  LaunchTimeout = 702,
  ContextIsDestroyed = 709,
  Assert = 710,
  HardwareStackError = 714,
  IllegalInstruction = 715,
  MisalignedAddress = 716,
  InvalidAddressSpace = 717,
  InvalidPc = 718,
  LaunchFailed = 719,
  TensorMemoryLeak = 721,
  MpsClientTerminated = 810,
  StreamCaptureInvalidated = 901,
  Timeout = 909,
  ExternalDevice = 911,
};

/// CUdevice_attribute
enum DeviceAttribute : int {
  MaxThreadsPerBlock = 1,
  MaxGridX = 5,
  MaxGridY = 6,
  MaxGridZ = 7,
  MultiprocessorCount = 16,
  CacheBytes = 38, ///< of the second level
  CapabilityMajor = 75,
  CapabilityMinor = 76,
  SharedBytesPerMultiprocessor = 81,
  MaxSharedBytesPerBlockOptIn = 97,
};

/// CUfunction_attribute
enum FunctionAttribute : int {
  FunctionMaxThreadsPerBlock = 0,
  FunctionSharedBytes = 1, ///< static
  FunctionLocalBytes = 3,  ///< of a thread
  FunctionRegisters = 4,   ///< of a thread
  FunctionMaxDynamicSharedBytes = 8,
  FunctionTakesLargeClusters = 14, ///< of more than 8 blocks
};

/// CUjit_option; the value of a size travels in the pointer itself.
enum JitOption : int {
  JitInfoLog = 3,
  JitInfoLogBytes = 4,
  JitErrorLog = 5,
  JitErrorLogBytes = 6,
};

/// CUstreamCaptureMode: what any thread does beside a capture does not disturb it, nor it that. The
/// stricter modes end a capture when its thread makes, waits for or frees another stream.
enum CaptureMode : int { CaptureRelaxed = 2 };

/// CUlaunchAttribute, of which CU_LAUNCH_ATTRIBUTE_PROGRAMMATIC_STREAM_SERIALIZATION is used: the
/// grid may begin when those before it in the stream end, and waits itself for what they wrote.
struct alignas(8) LaunchAttribute {
  int id = 6;
  int padding = 0;
  int isAllowed = 1;
  int unused[15] = {}; ///< every value has 64 bytes
};

/// CUlaunchConfig
struct LaunchConfig {
  unsigned gridX, gridY, gridZ;
  unsigned blockX, blockY, blockZ;
  unsigned sharedBytes;
  Stream stream;
  const LaunchAttribute *attributes;
  unsigned attributeCount;
};

inline constexpr unsigned streamNonBlocking = 1;  ///< CU_STREAM_NON_BLOCKING
inline constexpr unsigned eventDefault = 0;       ///< CU_EVENT_DEFAULT: with times
inline constexpr unsigned eventWaitDefault = 0;   ///< CU_EVENT_WAIT_DEFAULT
inline constexpr unsigned hostMemoryPortable = 1; ///< CU_MEMHOSTALLOC_PORTABLE

/// The oldest CUDA whose driver is enough: the first that knows PTX 8.0 and with it sm_90a.
inline constexpr int oldestVersion = 12000;
/// The first that captures launches with an attribute into graphs.
inline constexpr int firstWithCapturedAttributes = 12030;

} // namespace nereid::nvidia::cuda
