// SPDX-License-Identifier: Apache-2.0
// Which instruction sets the processor and the operating system offer, by LLVM's feature names, so
// that code compiled for another machine is refused instead of raising an illegal instruction.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace nereid::runtime {

/// True when this machine has the feature ("avx2", "avx512bf16", …); false for an unknown name.
bool hasCpuFeature(std::string_view name);

/// The "+name" entries of an LLVM feature string that this machine lacks, in order; "-name"
/// entries ask for nothing.
std::vector<std::string> missingCpuFeatures(std::string_view features);

/// Features of this machine that the table knows, sorted by name.
std::vector<std::string> presentCpuFeatures();

} // namespace nereid::runtime
