// SPDX-License-Identifier: Apache-2.0
#include "lib/targets/nvidia/driver/NvidiaDevice.h"

#include "lib/targets/nvidia/driver/Errors.h"
#include "lib/targets/nvidia/driver/NvidiaModule.h"
#include "lib/targets/nvidia/driver/NvidiaStream.h"

namespace nereid::nvidia {
namespace {

cuda::Result ask(const Driver &api, cuda::DeviceNumber device, DeviceFacts &facts) {
  char name[256] = {};
  size_t bytes = 0;
  if (const auto result = api.deviceGetName(name, sizeof name - 1, device)) {
    return result;
  }
  if (const auto result = api.deviceTotalMem(&bytes, device)) {
    return result;
  }
  facts.name = name;
  facts.memoryBytes = bytes;
  int major = 0, minor = 0, grid[3] = {};
  const std::pair<cuda::DeviceAttribute, int *> numbers[] = {
      {cuda::CapabilityMajor, &major},
      {cuda::CapabilityMinor, &minor},
      {cuda::MultiprocessorCount, &facts.multiprocessors},
      {cuda::MaxThreadsPerBlock, &facts.threadsPerBlock},
      {cuda::CacheBytes, &facts.cacheBytes},
      {cuda::SharedBytesPerMultiprocessor, &facts.sharedBytes},
      {cuda::MaxSharedBytesPerBlockOptIn, &facts.sharedBytesPerBlock},
      {cuda::MaxGridX, &grid[0]},
      {cuda::MaxGridY, &grid[1]},
      {cuda::MaxGridZ, &grid[2]},
  };
  for (const auto &[attribute, value] : numbers) {
    if (const auto result = api.deviceGetAttribute(value, attribute, device)) {
      return result;
    }
  }
  facts.capability = 10 * major + minor;
  facts.gridLimits = {grid[0], grid[1], grid[2]};
  return cuda::Success;
}

LaunchError noSuchDevice(int32_t number, int count) {
  const std::string last = std::to_string(count - 1);
  return {"E0415", "expects a device from 'nvidia:0' to 'nvidia:" + last +
                       "', of which the driver " + "has " + std::to_string(count) +
                       ", but got 'nvidia:" + std::to_string(number) + "'"};
}

std::variant<std::unique_ptr<runtime::Device>, LaunchError> makeOfSystem(int32_t number) {
  const auto &api = driver();
  if (const LaunchError *error = std::get_if<LaunchError>(&api)) {
    return *error;
  }
  auto made = NvidiaDevice::make(*std::get<const Driver *>(api), number);
  if (LaunchError *error = std::get_if<LaunchError>(&made)) {
    return std::move(*error);
  }
  return std::get<0>(std::move(made));
}

} // namespace

void registerNvidiaDevices() { runtime::registerDevices("nvidia", cudaDlpackType, &makeOfSystem); }

std::variant<std::unique_ptr<NvidiaDevice>, LaunchError> NvidiaDevice::make(const Driver &driver,
                                                                            int32_t number) {
  const std::string name = "nvidia:" + std::to_string(number);
  int count = 0;
  if (LaunchError error =
          errorOf(driver, driver.deviceGetCount(&count), "the number of devices", name)) {
    return error;
  }
  if (number < 0 || number >= count) {
    return noSuchDevice(number, count);
  }
  cuda::DeviceNumber device = 0;
  DeviceFacts facts;
  cuda::Result result = driver.deviceGet(&device, number);
  if (result == cuda::Success) {
    result = ask(driver, device, facts);
  }
  if (LaunchError error = errorOf(driver, result, "to be described", name)) {
    return error;
  }
  auto context = PrimaryContext::retain(driver, device, name);
  if (LaunchError *error = std::get_if<LaunchError>(&context)) {
    return std::move(*error);
  }
  return std::unique_ptr<NvidiaDevice>(
      new NvidiaDevice(driver, number, std::get<0>(std::move(context)), std::move(facts)));
}

std::string NvidiaDevice::architecture() const {
  // Of those that we make code for, newest first: a device runs PTX of every older one, and that
  // of a name with "a" on exactly its own capability.
  if (known.capability == 90) {
    return "sm_90a";
  }
  for (const int capability : {90, 89, 86, 80}) {
    if (known.capability >= capability) {
      return "sm_" + std::to_string(capability);
    }
  }
  return "sm_" + std::to_string(known.capability); // which the target refuses
}

runtime::DeviceDescription NvidiaDevice::describe() const {
  // A warp is 32 threads, each with registers of 4 bytes of which code can name 255.
  return {.model = known.name,
          .memoryBytes = static_cast<int64_t>(known.memoryBytes),
          .localBytes = known.sharedBytes,
          .cacheBytes = known.cacheBytes,
          .vectorBytes = 128,
          .registers = 255};
}

std::shared_ptr<void> NvidiaDevice::allocate(uint64_t bytes) {
  cuda::Address address = 0;
  if (primary->run([&] { return api.memAlloc(&address, bytes); }) != cuda::Success) {
    return nullptr;
  }
  return std::shared_ptr<void>(reinterpret_cast<void *>(address), [this](void *memory) {
    const auto given = reinterpret_cast<cuda::Address>(memory);
    (void)primary->run([&] { return api.memFree(given); });
  });
}

std::shared_ptr<void> NvidiaDevice::allocateHost(uint64_t bytes) {
  void *memory = nullptr;
  const auto call = [&] { return api.memHostAlloc(&memory, bytes, cuda::hostMemoryPortable); };
  if (primary->run(call) != cuda::Success) {
    return nullptr;
  }
  return std::shared_ptr<void>(
      memory, [this](void *given) { (void)primary->run([&] { return api.memFreeHost(given); }); });
}

LaunchError NvidiaDevice::noMemory(uint64_t bytes) {
  size_t freeBytes = 0, allBytes = 0;
  const auto call = [&] { return api.memGetInfo(&freeBytes, &allBytes); };
  LaunchError error = errorOf(api, primary->run(call), "memory", name());
  if (!error) {
    error = Device::noMemory(bytes);
    error.message += ": of its " + std::to_string(allBytes) + " bytes, " +
                     std::to_string(freeBytes) + " are free";
  }
  return error;
}

std::variant<std::shared_ptr<runtime::Module>, LaunchError>
NvidiaDevice::load(std::span<const uint8_t> code) {
  return NvidiaModule::load(*this, code);
}

std::string NvidiaDevice::compiler() const {
  return api.build + ", CUDA " + cudaVersionText(api.version) + ", for " +
         std::to_string(known.capability / 10) + "." + std::to_string(known.capability % 10);
}

std::variant<std::unique_ptr<runtime::Stream>, LaunchError> NvidiaDevice::makeStream() {
  cuda::Stream stream = nullptr;
  const auto call = [&] { return api.streamCreate(&stream, cuda::streamNonBlocking); };
  if (LaunchError error = errorOf(api, primary->run(call), "a stream", name())) {
    return error;
  }
  return std::make_unique<NvidiaStream>(*this, stream, NvidiaStream::Owner::Us);
}

std::variant<std::unique_ptr<runtime::Stream>, LaunchError> NvidiaDevice::wrapStream(void *handle) {
  const auto stream = static_cast<cuda::Stream>(handle);
  cuda::Context its = nullptr;
  const auto call = [&] { return api.streamGetCtx(stream, &its); };
  if (LaunchError error = errorOf(api, primary->run(call), "a stream by its handle", name())) {
    return error;
  }
  if (its != primary->get()) {
    return LaunchError{"E0416", "'" + name() +
                                    "' expects a stream of its primary context, but got " +
                                    "one of another device or context"};
  }
  return std::make_unique<NvidiaStream>(*this, stream, NvidiaStream::Owner::AnotherLibrary);
}

} // namespace nereid::nvidia
