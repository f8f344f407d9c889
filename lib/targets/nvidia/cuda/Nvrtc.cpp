// SPDX-License-Identifier: Apache-2.0
#include "lib/targets/nvidia/cuda/Nvrtc.h"

#include <dlfcn.h>
#include <filesystem>
#include <link.h>

namespace nereid::nvidia {
namespace {

/// Where the library was found.
std::string pathOf(void *handle, const std::string &name) {
  link_map *map = nullptr;
  const bool known = ::dlinfo(handle, RTLD_DI_LINKMAP, &map) == 0 && map && *map->l_name;
  return known ? map->l_name : name;
}

/// The headers of the toolkit that the library is of; empty where there are none.
std::string headersBeside(const std::string &library) {
  std::error_code ignored;
  const auto real = std::filesystem::canonical(library, ignored);
  for (auto folder = real.parent_path(); folder.has_relative_path();
       folder = folder.parent_path()) {
    if (std::filesystem::exists(folder / "include/cuda_fp16.h", ignored)) {
      return (folder / "include").string();
    }
  }
  return "";
}

template <class Call> bool find(void *handle, const char *symbol, Call *&function) {
  function = reinterpret_cast<Call *>(::dlsym(handle, symbol));
  return function != nullptr;
}

} // namespace

std::variant<std::shared_ptr<const Nvrtc>, std::string> Nvrtc::load(const std::string &file) {
  void *handle = ::dlopen(file.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (!handle) {
    return std::string(::dlerror());
  }
  auto made = std::make_shared<Nvrtc>();
  Functions &api = made->api;
  if (!find(handle, "nvrtcVersion", api.version) ||
      !find(handle, "nvrtcGetErrorString", api.errorText) ||
      !find(handle, "nvrtcCreateProgram", api.create) ||
      !find(handle, "nvrtcDestroyProgram", api.destroy) ||
      !find(handle, "nvrtcCompileProgram", api.compile) ||
      !find(handle, "nvrtcGetProgramLogSize", api.logSize) ||
      !find(handle, "nvrtcGetProgramLog", api.log) ||
      !find(handle, "nvrtcGetPTXSize", api.ptxSize) || !find(handle, "nvrtcGetPTX", api.ptx)) {
    return "it has not all functions of NVRTC: " + std::string(::dlerror());
  }
  if (Status status = api.version(&made->major, &made->minor)) {
    return std::string(api.errorText(status));
  }
  made->file = pathOf(handle, file);
  made->headers = headersBeside(made->file);
  return made;
}

std::string Nvrtc::name() const {
  return "NVRTC " + std::to_string(major) + "." + std::to_string(minor);
}

std::string Nvrtc::textOf(Program program, Status (*size)(Program, size_t *),
                          Status (*get)(Program, char *)) {
  size_t bytes = 0;
  if (size(program, &bytes) != 0 || bytes == 0) {
    return "";
  }
  std::string text(bytes, '\0');
  if (get(program, text.data()) != 0) {
    return "";
  }
  text.resize(text.find_last_not_of('\0') + 1);
  return text;
}

Result<CompiledCuda> Nvrtc::compile(const CudaSource &source) const {
  // It takes virtual architectures for PTX: what "sm_90a" has and no other is "compute_90a".
  std::vector<std::string> options = {
      "--gpu-architecture=compute_" + source.architecture.substr(source.architecture.find('_') + 1),
      "--include-path=" + folderOfSource(source.path)};
  if (!headers.empty()) {
    options.push_back("--include-path=" + headers);
  }
  for (std::string &option : cudaOptions(source)) {
    options.push_back(std::move(option));
  }
  std::vector<const char *> words;
  for (const std::string &option : options) {
    words.push_back(option.c_str());
  }
  const std::string text(source.text);
  Program program = nullptr;
  if (Status status =
          api.create(&program, text.c_str(), source.path.c_str(), 0, nullptr, nullptr)) {
    return makeError("E0028",
                     name() + " cannot compile '" + source.path + "': " + api.errorText(status));
  }
  CompiledCuda result;
  const Status status = api.compile(program, static_cast<int>(words.size()), words.data());
  result.log = textOf(program, api.logSize, api.log);
  result.isRight = status == 0;
  if (result.isRight) {
    result.ptx = textOf(program, api.ptxSize, api.ptx);
  } else if (result.log.empty()) {
    result.log = api.errorText(status);
  }
  (void)api.destroy(&program);
  return result;
}

} // namespace nereid::nvidia
