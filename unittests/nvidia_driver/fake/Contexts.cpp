// SPDX-License-Identifier: Apache-2.0
// Of the fake driver: start, names of results, devices and contexts.
#include "unittests/nvidia_driver/fake/State.h"

#include <cstring>

using namespace nereid::nvidia;
using namespace nereid::nvidia::test;
using cuda::Result;

FAKE_CUDA Result cuDriverGetVersion(int *version) {
  Call call("cuDriverGetVersion", Call::Nothing);
  *version = state().version;
  return call.result;
}

FAKE_CUDA Result cuInit(unsigned flags) {
  Call call("cuInit", Call::Nothing);
  if (flags != 0) {
    return cuda::InvalidValue;
  }
  if (state().initResult != cuda::Success) {
    return state().initResult;
  }
  state().isInitialized = true;
  return state().deviceCount == 0 ? cuda::NoDevice : cuda::Success;
}

static const std::map<int, std::pair<const char *, const char *>> resultNames = {
    {0, {"CUDA_SUCCESS", "no error"}},
    {1, {"CUDA_ERROR_INVALID_VALUE", "invalid argument"}},
    {2, {"CUDA_ERROR_OUT_OF_MEMORY", "out of memory"}},
    {46, {"CUDA_ERROR_DEVICE_UNAVAILABLE", "CUDA-capable device(s) is/are busy or unavailable"}},
    {100, {"CUDA_ERROR_NO_DEVICE", "no CUDA-capable device is detected"}},
    {209, {"CUDA_ERROR_NO_BINARY_FOR_GPU", "no kernel image is available for execution"}},
    {218, {"CUDA_ERROR_INVALID_PTX", "a PTX JIT compilation failed"}},
    {221, {"CUDA_ERROR_JIT_COMPILER_NOT_FOUND", "PTX JIT compiler library not found"}},
    {222, {"CUDA_ERROR_UNSUPPORTED_PTX_VERSION", "the provided PTX is unsupported"}},
    {400, {"CUDA_ERROR_INVALID_HANDLE", "invalid resource handle"}},
    {700, {"CUDA_ERROR_ILLEGAL_ADDRESS", "an illegal memory access was encountered"}},
    {701, {"CUDA_ERROR_LAUNCH_OUT_OF_RESOURCES", "too many resources requested for launch"}},
    {803, {"CUDA_ERROR_SYSTEM_DRIVER_MISMATCH", "system has unsupported display driver"}},
};

FAKE_CUDA Result cuGetErrorName(Result result, const char **name) {
  const auto found = resultNames.find(result);
  *name = found == resultNames.end() ? nullptr : found->second.first;
  return *name ? cuda::Success : cuda::InvalidValue;
}

FAKE_CUDA Result cuGetErrorString(Result result, const char **text) {
  const auto found = resultNames.find(result);
  *text = found == resultNames.end() ? nullptr : found->second.second;
  return *text ? cuda::Success : cuda::InvalidValue;
}

FAKE_CUDA Result cuDeviceGetCount(int *count) {
  Call call("cuDeviceGetCount", Call::Initialized);
  *count = state().deviceCount;
  return call.result;
}

FAKE_CUDA Result cuDeviceGet(cuda::DeviceNumber *device, int number) {
  Call call("cuDeviceGet", Call::Initialized);
  *device = 100 + number; // a handle, no number
  return number < state().deviceCount ? call.result : cuda::InvalidValue;
}

FAKE_CUDA Result cuDeviceGetName(char *name, int bytes, cuda::DeviceNumber) {
  Call call("cuDeviceGetName", Call::Initialized);
  std::strncpy(name, "NVIDIA Fake", static_cast<size_t>(bytes));
  return call.result;
}

FAKE_CUDA Result cuDeviceTotalMem_v2(size_t *bytes, cuda::DeviceNumber) {
  Call call("cuDeviceTotalMem", Call::Initialized);
  *bytes = state().memoryBytes;
  return call.result;
}

FAKE_CUDA Result cuDeviceGetAttribute(int *value, cuda::DeviceAttribute attribute,
                                      cuda::DeviceNumber device) {
  Call call("cuDeviceGetAttribute", Call::Initialized);
  const std::map<int, int> values = {{cuda::MaxThreadsPerBlock, 1024},
                                     {cuda::MaxGridX, INT32_MAX},
                                     {cuda::MaxGridY, 65535},
                                     {cuda::MaxGridZ, 65535},
                                     {cuda::MultiprocessorCount, 132},
                                     {cuda::CapabilityMajor, state().capability / 10},
                                     {cuda::CapabilityMinor, state().capability % 10},
                                     {cuda::CacheBytes, 50 << 20},
                                     {cuda::SharedBytesPerMultiprocessor, 233472},
                                     {cuda::MaxSharedBytesPerBlockOptIn, 232448}};
  const auto found = values.find(attribute);
  *value = found == values.end() ? 0 : found->second;
  return device < 100 || found == values.end() ? cuda::InvalidValue : call.result;
}

FAKE_CUDA Result cuDevicePrimaryCtxRetain(cuda::Context *context, cuda::DeviceNumber device) {
  Call call("cuDevicePrimaryCtxRetain", Call::Initialized);
  if (call.result != cuda::Success) {
    return call.result;
  }
  FakeContext &primary = state().primaries[device - 100];
  primary.device = device - 100;
  primary.id = primary.retained == 0 ? state().nextContext++ : primary.id;
  ++primary.retained;
  state().contexts.insert(&primary);
  *context = reinterpret_cast<cuda::Context>(&primary);
  return cuda::Success;
}

FAKE_CUDA Result cuDevicePrimaryCtxRelease_v2(cuda::DeviceNumber device) {
  Call call("cuDevicePrimaryCtxRelease", Call::Initialized);
  FakeContext &primary = state().primaries[device - 100];
  if (primary.retained == 0) {
    return state().violate("a primary context is released twice", cuda::InvalidContext);
  }
  if (--primary.retained == 0) {
    state().contexts.erase(&primary);
  }
  return call.result;
}

FAKE_CUDA Result cuCtxGetCurrent(cuda::Context *context) {
  Call call("cuCtxGetCurrent", Call::Initialized);
  *context = state().current();
  return call.result;
}

FAKE_CUDA Result cuCtxGetDevice(cuda::DeviceNumber *device) {
  Call call("cuCtxGetDevice");
  *device = call.context ? 100 + call.context->device : -1;
  return call.result;
}

FAKE_CUDA Result cuCtxGetId(cuda::Context context, unsigned long long *id) {
  Call call("cuCtxGetId", Call::Initialized);
  auto *given = reinterpret_cast<FakeContext *>(context);
  if (!state().contexts.contains(given)) {
    return state().violate("cuCtxGetId of a context that is gone", cuda::InvalidContext);
  }
  *id = given->id;
  return call.result;
}

FAKE_CUDA Result cuCtxPushCurrent_v2(cuda::Context context) {
  Call call("cuCtxPushCurrent", Call::Initialized);
  auto *given = reinterpret_cast<FakeContext *>(context);
  if (!state().contexts.contains(given)) {
    return state().violate("cuCtxPushCurrent of a context that is gone", cuda::InvalidContext);
  }
  if (call.result == cuda::Success) {
    contextStack().push_back(given);
  }
  return call.result;
}

FAKE_CUDA Result cuCtxPopCurrent_v2(cuda::Context *context) {
  Call call("cuCtxPopCurrent", Call::Initialized);
  if (contextStack().empty()) {
    return state().violate("cuCtxPopCurrent without a current context", cuda::InvalidContext);
  }
  *context = state().current();
  contextStack().pop_back();
  return call.result;
}
