// SPDX-License-Identifier: Apache-2.0
#include "lib/targets/nvidia/cuda/CudaCompiler.h"

#include "lib/targets/nvidia/assembler/Toolkit.h"
#include "lib/targets/nvidia/cuda/Nvcc.h"
#include "lib/targets/nvidia/cuda/Nvrtc.h"

#include <filesystem>

namespace nereid::nvidia {
namespace {

using Found = std::shared_ptr<const CudaCompiler>;

constexpr const char *knob = "NEREID_CUDA_COMPILER";
constexpr const char *remedy =
    "install CUDA's NVRTC, as PyTorch's wheels do, or nvcc, and name its file by "
    "NEREID_CUDA_COMPILER where it is not found";

/// A file whose name is "libnvrtc…" is the library, any other the program.
Result<Found> namedCompiler(const std::string &file) {
  if (std::filesystem::path(file).filename().string().starts_with("libnvrtc")) {
    auto library = Nvrtc::load(file);
    if (const auto *why = std::get_if<std::string>(&library)) {
      return makeError("E0028", std::string(knob) + " expects a libnvrtc or an nvcc, but '" + file +
                                    "' cannot be used: " + *why);
    }
    return Found(std::get<0>(std::move(library)));
  }
  if (!isProgram(file)) {
    return makeError("E0028", std::string(knob) + " expects a libnvrtc or an nvcc, but '" + file +
                                  "' is no program that can be run")
        .withHelp("name the file of one of them, or 'none' to do without");
  }
  return Found(std::make_shared<Nvcc>(file));
}

/// Null where there is none that can be used.
Found anyNvrtc() {
  std::vector<std::string> files = {"libnvrtc.so.13", "libnvrtc.so.12", "libnvrtc.so"};
  for (const std::string &toolkit : toolkits()) {
    for (const char *folder : {"/lib64", "/lib", "/targets/x86_64-linux/lib"}) {
      files.push_back(toolkit + folder + "/libnvrtc.so");
    }
  }
  for (const std::string &file : files) {
    auto library = Nvrtc::load(file);
    if (auto *loaded = std::get_if<std::shared_ptr<const Nvrtc>>(&library)) {
      return std::move(*loaded);
    }
  }
  return nullptr;
}

} // namespace

Result<std::shared_ptr<const CudaCompiler>> findCudaCompiler() {
  const std::string named = environmentText(knob);
  if (named == "none") {
    return makeError("E0028", "a kernel in CUDA C++ needs NVRTC or nvcc, and there is none")
        .note(std::string(knob) + " is 'none'")
        .withHelp(remedy);
  }
  if (!named.empty()) {
    return namedCompiler(named);
  }
  if (Found library = anyNvrtc()) {
    return library;
  }
  if (std::string program = findToolkitProgram("nvcc"); !program.empty()) {
    return Found(std::make_shared<Nvcc>(std::move(program)));
  }
  return makeError("E0028", "a kernel in CUDA C++ needs NVRTC or nvcc, and there is none")
      .note(
          "looked for libnvrtc.so.13, .12 and libnvrtc.so where the system finds libraries and in "
          "$CUDA_HOME, $CUDA_PATH, /usr/local/cuda, /opt/cuda and /usr/local/cuda-*, and for nvcc "
          "in their bin and in the folders of PATH")
      .withHelp(remedy);
}

std::vector<std::string> cudaOptions(const CudaSource &source) {
  std::vector<std::string> options;
  for (const auto &[name, value] : source.macros) {
    options.push_back("-D" + name + "=" + value);
  }
  options.insert(options.end(), source.flags.begin(), source.flags.end());
  return options;
}

std::string folderOfSource(const std::string &path) {
  const std::string folder = std::filesystem::path(path).parent_path().string();
  return folder.empty() ? "." : folder;
}

} // namespace nereid::nvidia
