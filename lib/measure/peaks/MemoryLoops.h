// SPDX-License-Identifier: Apache-2.0
// Loops that move memory and do next to nothing else, beside the copies of MemoryCopy.h: the rates
// of a memory level are the best that any of them reaches, since some kernels mostly read.
#pragma once

#include <cstdint>

namespace nereid::measure {

/// Both with the widest vectors this machine has. Memory is 64-byte aligned, `bytes` a multiple of
/// 512.
void readMemory(const uint8_t *from, int64_t bytes);
/// to = a + b: reads twice as much as it writes.
void addMemory(uint8_t *to, const uint8_t *a, const uint8_t *b, int64_t bytes);

} // namespace nereid::measure
