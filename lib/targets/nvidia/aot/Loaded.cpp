// SPDX-License-Identifier: Apache-2.0
#include "lib/targets/nvidia/aot/Loaded.h"

#include "lib/targets/nvidia/aot/Images.h"
#include "lib/targets/nvidia/driver/Failure.h"

#include <cstdlib>
#include <pthread.h>

namespace nereid::aot {
namespace {

/// Held while something is loaded, which each table does once for a context.
constinit pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

const Loaded *findIn(const Loaded *first, unsigned long long context, int64_t specialization) {
  while (first && (first->context != context || first->specialization != specialization)) {
    first = first->next;
  }
  return first;
}

cuda::Result capabilityOf(const CudaDriver &driver, cuda::DeviceNumber &device,
                          int64_t &capability) {
  int major = 0, minor = 0;
  cuda::Result result = driver.ctxGetDevice(&device);
  if (result == cuda::Success) {
    result = driver.deviceGetAttribute(&major, cuda::CapabilityMajor, device);
  }
  if (result == cuda::Success) {
    result = driver.deviceGetAttribute(&minor, cuda::CapabilityMinor, device);
  }
  capability = 10 * major + minor;
  return result;
}

/// One load of one specialization into the current context.
class Loading {
public:
  Loading(const CudaDriver &driver, const Table &table, const nereid_aot_options *options)
      : driver(driver), table(table), options(options) {}

  nereid_aot_status run(const DeviceVariant &variant, const char *target, Loaded &made) {
    log[0] = '\0';
    cuda::DeviceNumber device = 0;
    int64_t capability = 0;
    if (const cuda::Result result = capabilityOf(driver, device, capability)) {
      return refused(driver, result, table.name, "to describe the device", options);
    }
    cuda::Module module = nullptr;
    const bool hasNative = variant.native && architectureOf(target).runsNative(capability);
    cuda::Result result = load(hasNative ? variant.native : variant.portable, module);
    if (hasNative && result == cuda::NoBinaryForGpu) {
      result = load(variant.portable, module);
    }
    if (result != cuda::Success) {
      return notLoaded(result, target);
    }
    const nereid_aot_status status = describe(variant, module, device, made);
    if (status != NEREID_AOT_OK) {
      (void)driver.moduleUnload(module);
    }
    return status;
  }

private:
  cuda::Result load(const void *code, cuda::Module &module) {
    cuda::JitOption names[] = {cuda::JitErrorLog, cuda::JitErrorLogBytes};
    void *values[] = {log, reinterpret_cast<void *>(uintptr_t{sizeof log - 1})};
    return driver.moduleLoadDataEx(&module, code, 2, names, values);
  }

  nereid_aot_status notLoaded(cuda::Result result, const char *target) {
    Message message(options);
    message << "kernel '" << table.name << "': the driver does not load the code for '" << target
            << "': ";
    aot::describe(driver, result, message);
    if (log[0]) {
      message << ": " << log;
    }
    return result == cuda::OutOfMemory ? NEREID_AOT_ERROR_MEMORY : NEREID_AOT_ERROR_DEVICE;
  }

  nereid_aot_status describe(const DeviceVariant &variant, cuda::Module module,
                             cuda::DeviceNumber device, Loaded &made) {
    made.blocks = static_cast<int>(variant.blocks);
    made.threads = static_cast<int>(variant.threads);
    made.memoryBytes = static_cast<int>(variant.memoryBytes);
    int version = 0;
    made.beginsEarly = variant.waits != 0 && driver.driverGetVersion(&version) == cuda::Success &&
                       version >= cuda::firstWithCapturedAttributes;
    cuda::Result result = driver.moduleGetFunction(&made.function, module, variant.entry);
    size_t bytes = 0;
    if (result == cuda::Success) {
      result = driver.moduleGetGlobal(&made.failure, &bytes, module, nvidia::failureSymbol);
      if (result == cuda::NotFound || bytes != nvidia::failureBytes) {
        made.failure = 0;
      }
      result = result == cuda::NotFound ? cuda::Success : result;
    }
    int mostThreads = 0, mostMemory = 0, ownMemory = 0;
    const cuda::DeviceAttribute axes[] = {cuda::MaxGridX, cuda::MaxGridY, cuda::MaxGridZ};
    for (int axis = 0; axis < 3 && result == cuda::Success; ++axis) {
      result = driver.deviceGetAttribute(&made.gridLimits[axis], axes[axis], device);
    }
    if (result == cuda::Success) {
      result = driver.deviceGetAttribute(&mostMemory, cuda::MaxSharedBytesPerBlockOptIn, device);
    }
    if (result == cuda::Success) {
      result =
          driver.funcGetAttribute(&mostThreads, cuda::FunctionMaxThreadsPerBlock, made.function);
    }
    if (result == cuda::Success) {
      result = driver.funcGetAttribute(&ownMemory, cuda::FunctionSharedBytes, made.function);
    }
    if (result != cuda::Success) {
      return refused(driver, result, table.name, "to describe its function", options);
    }
    if (made.threads > mostThreads) {
      return tooMany(made.threads, " threads for a program", mostThreads);
    }
    if (made.memoryBytes > mostMemory - ownMemory) {
      return tooMany(made.memoryBytes + ownMemory, " bytes of shared memory for a program",
                     mostMemory);
    }
    if (made.blocks > 1) {
      result = driver.funcSetAttribute(made.function, cuda::FunctionTakesLargeClusters, 1);
    }
    if (result == cuda::Success) {
      result = driver.funcSetAttribute(made.function, cuda::FunctionMaxDynamicSharedBytes,
                                       made.memoryBytes);
    }
    return result == cuda::Success
               ? NEREID_AOT_OK
               : refused(driver, result, table.name, "shared memory for it", options);
  }

  nereid_aot_status tooMany(int64_t wanted, const char *what, int64_t most) {
    Message(options) << "kernel '" << table.name << "' expects " << wanted << what
                     << ", but the device has " << most;
    return NEREID_AOT_ERROR_DEVICE;
  }

  const CudaDriver &driver;
  const Table &table;
  const nereid_aot_options *options;
  char log[1024];
};

} // namespace

nereid_aot_status chooseTarget(const CudaDriver &driver, const Table &table,
                               const nereid_aot_options *options, int64_t &target) {
  cuda::DeviceNumber device = 0;
  int64_t capability = 0;
  if (const cuda::Result result = capabilityOf(driver, device, capability)) {
    return refused(driver, result, table.name, "to describe the device", options);
  }
  target = bestTarget(table, capability);
  if (target >= 0) {
    return NEREID_AOT_OK;
  }
  Message message(options);
  message << "kernel '" << table.name << "' is compiled for ";
  for (int64_t i = 0; i < table.targetCount; ++i) {
    message << (i == 0 ? "'" : ", '") << table.targets[i].name << "'";
  }
  message << ", of which this device, of compute capability " << capability / 10 << "."
          << capability % 10 << ", runs none";
  return NEREID_AOT_ERROR_DEVICE;
}

const Loaded *firstLoaded(const DeviceTable &device) {
  return static_cast<const Loaded *>(device.loaded->load(std::memory_order_acquire));
}

const Loaded *findLoaded(const CudaDriver &driver, const DeviceTable &device,
                         unsigned long long context, int64_t specialization,
                         const nereid_aot_options *options, nereid_aot_status &status) {
  status = NEREID_AOT_OK;
  if (const Loaded *known = findIn(firstLoaded(device), context, specialization)) {
    return known;
  }
  const Table &table = *device.table;
  ::pthread_mutex_lock(&lock);
  const Loaded *found = findIn(firstLoaded(device), context, specialization);
  auto *made = found ? nullptr : static_cast<Loaded *>(std::calloc(1, sizeof(Loaded)));
  int64_t target = 0;
  if (!found && !made) {
    Message(options) << "kernel '" << table.name << "': there is no memory to load it";
    status = NEREID_AOT_ERROR_MEMORY;
  } else if (!found) {
    status = chooseTarget(driver, table, options, target);
    if (status == NEREID_AOT_OK) {
      status = Loading(driver, table, options)
                   .run(device.variants[specialization * table.targetCount + target],
                        table.targets[target].name, *made);
    }
    if (status == NEREID_AOT_OK) {
      made->context = context;
      made->specialization = specialization;
      made->next = static_cast<Loaded *>(device.loaded->load(std::memory_order_relaxed));
      device.loaded->store(made, std::memory_order_release);
      found = made;
    } else {
      std::free(made);
    }
  }
  ::pthread_mutex_unlock(&lock);
  return found;
}

} // namespace nereid::aot
