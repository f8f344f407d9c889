// SPDX-License-Identifier: Apache-2.0
#include "lib/targets/nvidia/driver/NvidiaModule.h"

#include "lib/targets/nvidia/driver/Clusters.h"
#include "lib/targets/nvidia/driver/Code.h"
#include "lib/targets/nvidia/driver/Errors.h"
#include "lib/targets/nvidia/driver/Failure.h"

#include <algorithm>
#include <cstring>
#include <set>
#include <vector>

namespace nereid::nvidia {
namespace {

/// A name that stays: streams name the kernel they were given last, whose module may be gone.
const std::string *keepName(const std::string &name) {
  static std::mutex lock;
  static auto &names = *new std::set<std::string>;
  std::lock_guard guard(lock);
  return &*names.insert(name).first;
}

std::string capabilityText(int capability) {
  return std::to_string(capability / 10) + "." + std::to_string(capability % 10);
}

/// The driver would say "invalid PTX", for which nobody but us could be blamed.
LaunchError checkTarget(const PtxHeader &ptx, const NvidiaDevice &device) {
  const int has = device.facts().capability, wants = ptx.capability();
  if (wants == 0 || (ptx.isSpecific() ? wants == has : wants <= has)) {
    return {};
  }
  return {"E0305", "the kernel was compiled for " + ptx.target + ", which expects a device of " +
                       "compute capability " + capabilityText(wants) +
                       (ptx.isSpecific() ? " and no other" : " or newer") + ", but '" +
                       device.name() + "' (" + device.facts().name + ") has " +
                       capabilityText(has)};
}

/// What the driver's compiler has to say, without the empty end of its buffer.
class Log {
public:
  void *buffer() { return text; }
  static void *bytes() { return reinterpret_cast<void *>(uintptr_t{sizeof text - 1}); }
  std::string get() const {
    const std::string all = text;
    return all.substr(0, all.find_last_not_of(" \t\r\n") + 1);
  }

private:
  char text[8192] = {};
};

LaunchError refuse(const NvidiaDevice &device, cuda::Result result, const PtxHeader &ptx,
                   const std::string &log) {
  const Driver &api = device.driver();
  const std::string why = describe(api, result) + (log.empty() ? "" : ": " + log);
  switch (result) {
  case cuda::NoBinaryForGpu:
    return {"E0305", "the kernel has no code for '" + device.name() + "' (" + device.facts().name +
                         ", compute capability " + capabilityText(device.facts().capability) +
                         "): " + why};
  case cuda::UnsupportedPtxVersion:
    return {"E0418", "'" + device.name() + "' expects PTX that its driver, for CUDA " +
                         cudaVersionText(api.version) + ", knows, but got version " + ptx.version +
                         ": " + why + "; install a newer driver"};
  case cuda::JitCompilerNotFound:
  case cuda::JitCompilationDisabled:
    return {"E0418", "'" + device.name() + "' does not compile PTX: " + why};
  case cuda::InvalidPtx:
  case cuda::InvalidImage:
    return {"E0390", "'" + device.name() + "' does not take the code: " + why};
  default:
    return errorOf(api, result, "to load the kernel's code", device.name());
  }
}

} // namespace

std::variant<std::shared_ptr<runtime::Module>, LaunchError>
NvidiaModule::load(NvidiaDevice &device, std::span<const uint8_t> code) {
  const auto kind = kindOf(code);
  if (const LaunchError *error = std::get_if<LaunchError>(&kind)) {
    return *error;
  }
  // The driver takes a text up to its zero, and wants the others aligned as they were in a file.
  std::vector<uint64_t> image(code.size() / 8 + 1);
  std::memcpy(image.data(), code.data(), code.size());
  PtxHeader ptx;
  if (std::get<CodeKind>(kind) == CodeKind::Ptx) {
    ptx = readPtxHeader(reinterpret_cast<const char *>(image.data()));
    if (LaunchError error = checkTarget(ptx, device)) {
      return error;
    }
  }
  Log errors, remarks;
  cuda::JitOption options[] = {cuda::JitErrorLog, cuda::JitErrorLogBytes, cuda::JitInfoLog,
                               cuda::JitInfoLogBytes};
  void *values[] = {errors.buffer(), Log::bytes(), remarks.buffer(), Log::bytes()};
  cuda::Module module = nullptr;
  const cuda::Result result = device.context().run([&] {
    return device.driver().moduleLoadDataEx(&module, image.data(), std::size(options), options,
                                            values);
  });
  if (result != cuda::Success) {
    return refuse(device, result, ptx, errors.get().empty() ? remarks.get() : errors.get());
  }
  return std::shared_ptr<runtime::Module>(new NvidiaModule(device, module));
}

NvidiaModule::~NvidiaModule() {
  (void)nvidia.context().run([&] { return nvidia.driver().moduleUnload(handle); });
}

cuda::Result NvidiaModule::describe(const std::string &name, KernelFunction &function) const {
  const Driver &api = nvidia.driver();
  if (const auto result = api.moduleGetFunction(&function.handle, handle, name.c_str())) {
    return result;
  }
  size_t bytes = 0;
  const auto found = api.moduleGetGlobal(&function.failure, &bytes, handle, failureSymbol);
  if (found != cuda::Success && found != cuda::NotFound) {
    return found;
  }
  if (found == cuda::NotFound || bytes != failureBytes) {
    function.failure = 0;
  }
  if (const auto result = api.funcGetAttribute(&function.maxThreads,
                                               cuda::FunctionMaxThreadsPerBlock, function.handle)) {
    return result;
  }
  if (const auto result = api.funcGetAttribute(&function.staticSharedBytes,
                                               cuda::FunctionSharedBytes, function.handle)) {
    return result;
  }
  if (nvidia.facts().capability >= firstWithClusters) {
    if (const auto result =
            api.funcSetAttribute(function.handle, cuda::FunctionTakesLargeClusters, 1)) {
      return result;
    }
  }
  function.maxDynamicSharedBytes =
      std::max(0, nvidia.facts().sharedBytesPerBlock - function.staticSharedBytes);
  return api.funcSetAttribute(function.handle, cuda::FunctionMaxDynamicSharedBytes,
                              function.maxDynamicSharedBytes);
}

void *NvidiaModule::symbol(std::string_view name) const {
  std::lock_guard guard(lock);
  if (const auto known = functions.find(name); known != functions.end()) {
    return &known->second;
  }
  const std::string own(name);
  KernelFunction function;
  if (nvidia.context().run([&] { return describe(own, function); }) != cuda::Success) {
    return nullptr;
  }
  function.name = keepName(own);
  return &functions.emplace(own, function).first->second;
}

std::optional<runtime::FunctionResources> NvidiaModule::resources(std::string_view name) const {
  const auto *function = static_cast<const KernelFunction *>(symbol(name));
  if (!function) {
    return std::nullopt;
  }
  const Driver &api = nvidia.driver();
  int registers = 0, local = 0;
  const cuda::Result result = nvidia.context().run([&] {
    const cuda::Result first =
        api.funcGetAttribute(&registers, cuda::FunctionRegisters, function->handle);
    return first == cuda::Success
               ? api.funcGetAttribute(&local, cuda::FunctionLocalBytes, function->handle)
               : first;
  });
  if (result != cuda::Success) {
    return std::nullopt;
  }
  return runtime::FunctionResources{
      .registers = registers, .sharedBytes = function->staticSharedBytes, .localBytes = local};
}

} // namespace nereid::nvidia
