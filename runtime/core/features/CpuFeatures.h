// SPDX-License-Identifier: Apache-2.0
// Which instruction sets the processor and the operating system offer, by LLVM's feature names:
// tables in a file for each architecture. Shared by both runtimes, which ask it through
// runtime/cpu/CpuFeatures.h and runtime/aot/CpuFeatures.h; no C++ library.
#pragma once

#include <cstdint>

namespace nereid::runtime {

/// Asks this machine; `name` need not end with a zero. An unknown name counts as missing: a kernel
/// is rather refused than stopped by an illegal instruction.
bool machineHasFeature(const char *name, uint64_t length);

/// Calls visit(context, name) with what the tables know of this machine, in no order. Besides
/// LLVM's names there are "sve256", "sve512" and so on: SVE with registers of at least so many
/// bits.
void visitCpuFeatures(void (*visit)(void *context, const char *name), void *context);

#if defined(__riscv)
/// Whether hwprobe says which extensions there are, as it does since Linux 6.4.
bool kernelNamesExtensions();
/// Of a vector register; 0 without vectors, whatever was announced.
unsigned long vectorBits();
#endif

} // namespace nereid::runtime
