// SPDX-License-Identifier: Apache-2.0
// What the kernel cache stores and under which key: KernelInfo and object code, by the content of
// everything that they depend on. A hit needs neither MLIR nor the parser.
#pragma once

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

/// Depends on the source text, function, signature text, target, and the compiler.
std::string kernelCacheKey(const std::string &sourceText, const CompileInput &input,
                           const std::string &targetName);

struct CachedKernel {
  runtime::KernelInfo info;
  std::vector<uint8_t> object;
};

std::vector<uint8_t> encodeCachedKernel(const runtime::KernelInfo &info,
                                        std::span<const uint8_t> object);
/// Nothing when the bytes are not such an entry.
std::optional<CachedKernel> decodeCachedKernel(std::span<const uint8_t> bytes);

} // namespace nereid::pipeline
