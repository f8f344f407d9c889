// SPDX-License-Identifier: Apache-2.0
#include "lib/targets/nvidia/aot/Driver.h"

#include <atomic>
#include <dlfcn.h>
#include <pthread.h>

namespace nereid::aot {
namespace {

constexpr const char *library = "libcuda.so.1";

constinit pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
constinit std::atomic<const CudaDriver *> found = nullptr;
constinit CudaDriver functions = {};
/// Why there is none, from the first try on; guarded by the lock.
constinit char problem[400] = {};

template <class Call> bool findFunction(void *handle, const char *symbol, Call *&function) {
  function = reinterpret_cast<Call *>(::dlsym(handle, symbol));
  return function != nullptr;
}

/// The name of the first that is missing, or null.
const char *findFunctions(void *handle) {
#define NEREID_CUDA(name, symbol, parameters)                                                      \
  if (!findFunction(handle, #symbol, functions.name)) {                                            \
    return #symbol;                                                                                \
  }
#include "lib/targets/nvidia/driver/CudaFunctions.def"
  return nullptr;
}

/// The text of `problem` is what is left in it; empty when all is well.
void load() {
  nereid_aot_options buffer = {};
  buffer.message = problem;
  buffer.message_bytes = sizeof problem;
  Message message(&buffer);
  void *handle = ::dlopen(library, RTLD_NOW | RTLD_LOCAL);
  if (!handle) {
    message << "it cannot be loaded: " << ::dlerror();
    return;
  }
  int version = 0;
  // The version first: what a driver is too old for is said better by it than by a missing name.
  if (findFunction(handle, "cuDriverGetVersion", functions.driverGetVersion) &&
      functions.driverGetVersion(&version) == cuda::Success && version < cuda::oldestVersion) {
    message << "it is for CUDA " << int64_t{version / 1000} << "." << int64_t{version % 1000 / 10};
    return;
  }
  if (const char *missing = findFunctions(handle)) {
    message << "it lacks '" << missing << "'";
    return;
  }
  if (const cuda::Result result = functions.init(0)) {
    message << "it does not start: ";
    describe(functions, result, message);
    return;
  }
  found.store(&functions, std::memory_order_release);
}

} // namespace

const CudaDriver *findCudaDriver(const char *kernel, const nereid_aot_options *options) {
  if (const CudaDriver *known = found.load(std::memory_order_acquire)) {
    return known;
  }
  ::pthread_mutex_lock(&lock);
  const CudaDriver *driver = found.load(std::memory_order_acquire);
  if (!driver && !*problem) {
    load();
    driver = found.load(std::memory_order_acquire);
  }
  if (!driver) {
    Message(options) << "kernel '" << kernel << "' expects NVIDIA's driver, '" << library
                     << "' for CUDA " << int64_t{cuda::oldestVersion / 1000} << "."
                     << int64_t{cuda::oldestVersion % 1000 / 10} << " or newer, but " << problem;
  }
  ::pthread_mutex_unlock(&lock);
  return driver;
}

void describe(const CudaDriver &driver, cuda::Result result, Message &message) {
  const char *name = nullptr, *text = nullptr;
  if (driver.getErrorName(result, &name) != cuda::Success || !name) {
    message << "result " << int64_t{result}; // of a newer driver
    return;
  }
  message << name;
  if (driver.getErrorString(result, &text) == cuda::Success && text) {
    message << " (" << text << ")";
  }
}

nereid_aot_status refused(const CudaDriver &driver, cuda::Result result, const char *kernel,
                          const char *asked, const nereid_aot_options *options) {
  Message message(options);
  message << "kernel '" << kernel << "': the driver refuses " << asked << ": ";
  describe(driver, result, message);
  return result == cuda::OutOfMemory ? NEREID_AOT_ERROR_MEMORY : NEREID_AOT_ERROR_DEVICE;
}

CurrentContext::CurrentContext(const CudaDriver &driver, cuda::Stream stream, const char *kernel,
                               const nereid_aot_options *options)
    : driver(driver) {
  cuda::Context now = nullptr, wanted = nullptr;
  cuda::Result result = driver.ctxGetCurrent(&now);
  wanted = now;
  if (result == cuda::Success && stream) {
    result = driver.streamGetCtx(stream, &wanted);
  }
  if (result == cuda::Success && !wanted) {
    Message(options) << "kernel '" << kernel << "': no CUDA context is current on this thread: "
                     << "choose a device with cudaSetDevice or cuCtxSetCurrent, or give a stream";
    status = NEREID_AOT_ERROR_DEVICE;
    return;
  }
  if (result == cuda::Success && now != wanted) {
    result = driver.ctxPushCurrent(wanted);
    isPushed = result == cuda::Success;
  }
  if (result == cuda::Success) {
    result = driver.ctxGetId(wanted, &id);
  }
  if (result != cuda::Success) {
    status = refused(driver, result, kernel, "to tell the stream's context", options);
  }
}

CurrentContext::~CurrentContext() {
  if (isPushed) {
    cuda::Context popped = nullptr;
    (void)driver.ctxPopCurrent(&popped);
  }
}

} // namespace nereid::aot
