// SPDX-License-Identifier: Apache-2.0
// What the kernel cache stores and under which key: KernelInfo and object code, by the content of
// everything that they depend on (source text, function, signature, target, this program's build
// id). A hit needs neither MLIR nor the parser. The entry of a kernel that imports lists the files
// that decided, by digest or as absent, and a hit compares them first. Beside them lies the machine
// code that devices make of texts.
#pragma once

#include "lib/language/ModuleLoader.h"
#include "lib/pipeline/Compiler.h"
#include "runtime/Device.h"

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace nereid::pipeline {

/// Identifies the compiler itself: the linker's build id of the program or library this code is
/// in, else size and time of its file.
const std::string &compilerBuildId();

/// Depends on the source text, function, signature text, target, and the compiler: a kernel that
/// needs no other file is found from wherever its own was copied to.
std::string kernelCacheKey(const std::string &sourceText, const CompileInput &input,
                           const std::string &targetName);
/// Of a kernel that needs other files: depends on where they are looked for as well.
std::string importingKernelKey(const std::string &kernelKey, const CompileInput &input);

struct CachedKernel {
  runtime::KernelInfo info;
  std::vector<uint8_t> object;
  std::vector<language::FileState> dependencies; ///< besides the kernel's own file
};

std::vector<uint8_t> encodeCachedKernel(const CachedKernel &kernel);
/// Nothing when the bytes are not such an entry.
std::optional<CachedKernel> decodeCachedKernel(std::span<const uint8_t> bytes);

/// The entry for a kernelCacheKey, if its dependencies are on disk as they were.
std::optional<CachedKernel> findCachedKernel(const std::string &kernelKey,
                                             const CompileInput &input);
/// Depends on the code, on who compiles it and for what.
std::string machineCodeKey(const runtime::Device &device, std::span<const uint8_t> code);
/// Loads code on a device, and keeps the machine code where the device has to compile it first.
/// What is kept and does not load is made anew.
std::variant<std::shared_ptr<runtime::Module>, runtime::LaunchError>
loadKeeping(runtime::Device &device, std::span<const uint8_t> code);

void storeCachedKernel(const std::string &kernelKey, const CompileInput &input,
                       const CachedKernel &kernel);

} // namespace nereid::pipeline
