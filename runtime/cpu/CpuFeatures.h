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

/// Features of this machine that the tables know, sorted by name. Besides LLVM's names there are
/// "sve256", "sve512" and so on: SVE with registers of at least so many bits.
std::vector<std::string> presentCpuFeatures();

/// Asks the machine, each time; the functions above ask it once. In no order.
std::vector<std::string> detectCpuFeatures();

/// "x86-64", "aarch64", "riscv64" or "unknown": what this program is compiled for.
std::string_view cpuArchitecture();

} // namespace nereid::runtime
