// SPDX-License-Identifier: Apache-2.0
// What the kernel cache stores and under which key: KernelInfo and object code, by the content of
// everything that they depend on (source text, function, signature, target, this program's build
// id). A hit needs neither MLIR nor the parser. The entry of a kernel that imports lists the files
// that decided, by digest or as absent, and a hit compares them first.
#pragma once

#include "lib/language/ModuleLoader.h"
#include "lib/pipeline/Compiler.h"

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
void storeCachedKernel(const std::string &kernelKey, const CompileInput &input,
                       const CachedKernel &kernel);

} // namespace nereid::pipeline
