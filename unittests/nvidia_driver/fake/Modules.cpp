// SPDX-License-Identifier: Apache-2.0
// Of the fake driver: modules and launches. It reads from PTX which kernels there are, the sizes of
// their parameters and their limits, from machine code the names alone; what they do stands in
// Kernels.cpp.
#include "unittests/nvidia_driver/fake/State.h"

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <cstring>
#include <elf.h>
#include <string_view>
#include <thread>

using namespace nereid::nvidia;
using namespace nereid::nvidia::test;
using cuda::Result;

/// The number behind the first `name` in the text, or `otherwise`.
static int numberBehind(std::string_view text, std::string_view name, int otherwise) {
  const size_t found = text.find(name);
  return found == text.npos ? otherwise : std::atoi(text.data() + found + name.size());
}

/// Of ".param .u64 a, .param .f32 b": 8, 4.
static std::vector<size_t> parameterBytes(std::string_view text) {
  constexpr std::string_view parameter = ".param .";
  std::vector<size_t> bytes;
  for (size_t at = 0; (at = text.find(parameter, at)) != text.npos;) {
    at += parameter.size();
    bytes.push_back(std::strtoul(text.data() + at + 1, nullptr, 10) / 8);
  }
  return bytes;
}

/// Of ".shared .align 4 .b8 fixed[1024];" in a kernel's body, 0 without one.
static int staticSharedBytes(std::string_view body) {
  const size_t shared = body.find(".shared .align");
  const size_t line = std::min(shared, body.size());
  return shared == body.npos ? 0
                             : numberBehind(body.substr(line, body.find(';', line) - line), "[", 0);
}

static std::map<std::string, FakeKernel> kernelsOf(std::string_view ptx) {
  constexpr std::string_view entry = ".entry ";
  std::map<std::string, FakeKernel> found;
  for (size_t at = ptx.find(entry); at != ptx.npos;) {
    const size_t next = ptx.find(entry, at + entry.size());
    const std::string_view text = ptx.substr(at + entry.size(), next - at - entry.size());
    const size_t open = text.find('('), close = text.find(')'), body = text.find('{');
    const std::string_view limits = text.substr(close, body - close);
    FakeKernel kernel;
    kernel.name = text.substr(0, open);
    kernel.parameterBytes = parameterBytes(text.substr(open, close - open));
    kernel.threads = numberBehind(limits, ".reqntid", 0);
    kernel.maxThreads = numberBehind(limits, ".maxntid", kernel.threads ? kernel.threads : 1024);
    kernel.staticShared = staticSharedBytes(text.substr(body));
    found[kernel.name] = kernel;
    at = next;
  }
  return found;
}

/// Of a cubin: the names of its sections ".text.NAME".
static std::map<std::string, FakeKernel> kernelsOfCubin(const char *image) {
  Elf64_Ehdr header;
  std::memcpy(&header, image, sizeof header);
  const auto *sections = reinterpret_cast<const Elf64_Shdr *>(image + header.e_shoff);
  const char *names = image + sections[header.e_shstrndx].sh_offset;
  std::map<std::string, FakeKernel> found;
  for (int i = 0; i < header.e_shnum; ++i) {
    const std::string_view name = names + sections[i].sh_name;
    if (name.starts_with(".text.")) {
      FakeKernel kernel;
      kernel.name = name.substr(6);
      found[kernel.name] = kernel;
    }
  }
  return found;
}

/// Of ".visible .global .align 4 .b8 name[256];" and the like, in the memory of a context.
static std::map<std::string, std::pair<cuda::Address, size_t>> globalsOf(std::string_view ptx,
                                                                         FakeContext *context) {
  constexpr std::string_view global = ".global .align ", type = ".b8 ";
  std::map<std::string, std::pair<cuda::Address, size_t>> found;
  for (size_t at = 0; (at = ptx.find(global, at)) != ptx.npos; at += global.size()) {
    const size_t name = ptx.find(type, at) + type.size(), open = ptx.find('[', name);
    const auto bytes = static_cast<size_t>(numberBehind(ptx.substr(open), "[", 0));
    const cuda::Address address = state().nextAddress;
    state().nextAddress += (bytes + 511) / 256 * 256;
    state().memory[address] = {context, std::vector<uint8_t>(bytes)};
    found[std::string(ptx.substr(name, open - name))] = {address, bytes};
  }
  return found;
}

FAKE_CUDA Result cuModuleGetGlobal_v2(cuda::Address *address, size_t *bytes, cuda::Module handle,
                                      const char *name) {
  Call call("cuModuleGetGlobal");
  auto *module = reinterpret_cast<FakeModule *>(handle);
  if (call.result != cuda::Success) {
    return call.result;
  }
  if (!state().modules.contains(module)) {
    return state().violate("cuModuleGetGlobal of a module that is gone", cuda::InvalidHandle);
  }
  const auto found = module->globals.find(name);
  if (found == module->globals.end()) {
    return cuda::NotFound;
  }
  *address = found->second.first;
  *bytes = found->second.second;
  return cuda::Success;
}

FAKE_CUDA Result cuModuleLoadDataEx(cuda::Module *module, const void *image, unsigned count,
                                    cuda::JitOption *options, void **values) {
  std::this_thread::sleep_for(std::chrono::milliseconds(state().loadMilliseconds));
  Call call("cuModuleLoadDataEx");
  if (call.result != cuda::Success) {
    for (unsigned i = 0; i + 1 < count; ++i) {
      if (options[i] == cuda::JitErrorLog && options[i + 1] == cuda::JitErrorLogBytes) {
        std::strncpy(static_cast<char *>(values[i]), state().jitLog.c_str(),
                     reinterpret_cast<uintptr_t>(values[i + 1]));
      }
    }
    return call.result;
  }
  FakeModule *made = &state().madeModules.emplace_back();
  made->context = call.context;
  const char *code = static_cast<const char *>(image);
  made->isMachineCode = std::memcmp(code, ELFMAG, SELFMAG) == 0;
  made->kernels = made->isMachineCode ? kernelsOfCubin(code) : kernelsOf(code);
  if (!made->isMachineCode) {
    made->globals = globalsOf(code, call.context);
  }
  state().modules.insert(made);
  *module = reinterpret_cast<cuda::Module>(made);
  return cuda::Success;
}

FAKE_CUDA Result cuModuleUnload(cuda::Module handle) {
  Call call("cuModuleUnload");
  auto *module = reinterpret_cast<FakeModule *>(handle);
  if (state().modules.erase(module) == 0) {
    return state().violate("cuModuleUnload of a module that is gone", cuda::InvalidHandle);
  }
  for (const auto &[name, place] : module->globals) {
    state().memory.erase(place.first);
  }
  return call.result;
}

FAKE_CUDA Result cuModuleGetFunction(cuda::Function *function, cuda::Module handle,
                                     const char *name) {
  Call call("cuModuleGetFunction");
  auto *module = reinterpret_cast<FakeModule *>(handle);
  if (call.result != cuda::Success) {
    return call.result;
  }
  if (!state().modules.contains(module)) {
    return state().violate("cuModuleGetFunction of a module that is gone", cuda::InvalidHandle);
  }
  const auto found = module->kernels.find(name);
  if (found == module->kernels.end()) {
    return cuda::NotFound;
  }
  *function = reinterpret_cast<cuda::Function>(&found->second);
  return cuda::Success;
}

/// Of a module that is loaded in this context, or null.
static FakeKernel *kernelOf(Call &call, cuda::Function function, bool *isMachineCode = nullptr) {
  for (FakeModule *module : state().modules) {
    for (auto &[name, kernel] : module->kernels) {
      if (&kernel == reinterpret_cast<FakeKernel *>(function) && module->context == call.context) {
        if (isMachineCode) {
          *isMachineCode = module->isMachineCode;
        }
        return &kernel;
      }
    }
  }
  call.result =
      state().violate("a function that is gone or of another context", cuda::InvalidHandle);
  return nullptr;
}

FAKE_CUDA Result cuFuncGetAttribute(int *value, cuda::FunctionAttribute attribute,
                                    cuda::Function function) {
  Call call("cuFuncGetAttribute");
  FakeKernel *kernel = call.result == cuda::Success ? kernelOf(call, function) : nullptr;
  if (!kernel) {
    return call.result;
  }
  *value = attribute == cuda::FunctionMaxThreadsPerBlock ? kernel->maxThreads
           : attribute == cuda::FunctionSharedBytes      ? kernel->staticShared
           : attribute == cuda::FunctionRegisters        ? 40
           : attribute == cuda::FunctionLocalBytes       ? 16
                                                         : kernel->maxDynamicShared;
  return cuda::Success;
}

FAKE_CUDA Result cuFuncSetAttribute(cuda::Function function, cuda::FunctionAttribute attribute,
                                    int value) {
  Call call("cuFuncSetAttribute");
  FakeKernel *kernel = call.result == cuda::Success ? kernelOf(call, function) : nullptr;
  if (!kernel) {
    return call.result;
  }
  if (attribute == cuda::FunctionTakesLargeClusters) {
    return cuda::Success;
  }
  if (attribute != cuda::FunctionMaxDynamicSharedBytes || value + kernel->staticShared > 232448) {
    return state().violate("an attribute that cannot be set", cuda::InvalidValue);
  }
  kernel->maxDynamicShared = value;
  return cuda::Success;
}

FAKE_CUDA Result cuLaunchKernelEx(const cuda::LaunchConfig *config, cuda::Function function,
                                  void **parameters, void **extra) {
  const auto [gridX, gridY, gridZ, blockX, blockY, blockZ, sharedBytes, handle, attributes,
              attributeCount] = *config;
  Call call("cuLaunchKernelEx");
  FakeStream *stream = call.result == cuda::Success ? call.stream(handle) : nullptr;
  bool isMachineCode = false;
  FakeKernel *kernel = stream ? kernelOf(call, function, &isMachineCode) : nullptr;
  if (!kernel) {
    return call.result;
  }
  const bool isGrid =
      gridX > 0 && gridX <= INT32_MAX && gridY > 0 && gridY <= 65535 && gridZ > 0 && gridZ <= 65535;
  if (!isGrid || blockX == 0 || blockY != 1 || blockZ != 1 || extra ||
      blockX > static_cast<unsigned>(kernel->maxThreads) ||
      (kernel->threads != 0 && blockX != static_cast<unsigned>(kernel->threads)) ||
      sharedBytes > static_cast<unsigned>(kernel->maxDynamicShared)) {
    return state().violate("a launch beyond the limits", cuda::InvalidValue);
  }
  if (attributeCount > 1 || (attributeCount == 1 && attributes->id != 6)) {
    return state().violate("an attribute of a launch", cuda::InvalidValue);
  }
  std::vector<uint64_t> values;
  for (size_t i = 0; i < kernel->parameterBytes.size(); ++i) {
    std::memcpy(&values.emplace_back(0), parameters[i], kernel->parameterBytes[i]);
  }
  const FakeCuda::Launch launch{.kernel = kernel->name,
                                .grid = {gridX, gridY, gridZ},
                                .threads = blockX,
                                .sharedBytes = sharedBytes,
                                .isEarly = attributeCount == 1 && attributes->isAllowed != 0,
                                .device = call.context->device,
                                .isMachineCode = isMachineCode,
                                .parameters = values};
  return state().enqueue(*stream, [launch, values, copy = *kernel] {
    state().launches.push_back(launch);
    return runKernel(launch, values, copy);
  });
}
