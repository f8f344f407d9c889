// SPDX-License-Identifier: Apache-2.0
// Which of the instruction sets that targets name this machine has, for the choice between the
// variants of a kernel. The names are those of runtime/core/features/CpuFeatures.h.
#pragma once

#include <cstdint>

namespace nereid::aot {

/// True when the machine has every "+name" of the text; NEREID_CPU_FEATURES may take some away.
bool hasCpuFeatures(const char *features);

/// The same of one name, which need not end with a zero.
bool hasCpuFeature(const char *name, uint64_t length);

/// Whether NEREID_CPU_FEATURES's text (a level such as "x86-64-v3", or "-avx512f,-avx2") leaves a
/// feature on a machine that has it.
bool isLeftBy(const char *restriction, const char *name, uint64_t length);

} // namespace nereid::aot
