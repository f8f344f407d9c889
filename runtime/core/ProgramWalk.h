// SPDX-License-Identifier: Apache-2.0
// The programs of a range, x fastest, as calls of the kernel. Shared by both runtimes; no C++
// library.
#pragma once

#include <atomic>
#include <cstdint>

namespace nereid::runtime {

/// Calls `entry` for programs begin to end of a grid of `count`: with neighbours along x at once if
/// it takes ranges, else one by one. Between calls it stops when `hasFailed` is set. See
/// KernelEntry in runtime/Kernel.h.
template <class Entry, class Flag>
void walkPrograms(int64_t begin, int64_t end, bool takesRanges, const int32_t *count, Entry entry,
                  const uint64_t *slots, uint8_t *scratch, const std::atomic<Flag> &hasFailed) {
  const int64_t rows = begin / count[0];
  int32_t id[5] = {static_cast<int32_t>(begin % count[0]), static_cast<int32_t>(rows % count[1]),
                   static_cast<int32_t>(rows / count[1]), 0, 0};
  for (int64_t program = begin; program < end;) {
    if (hasFailed.load(std::memory_order_relaxed)) {
      return;
    }
    const int64_t left = end - program, line = count[0] - id[0];
    const int64_t programs = !takesRanges ? 1 : left < line ? left : line;
    id[3] = static_cast<int32_t>(id[0] + programs);
    entry(slots, id, count, scratch);
    id[4] = 1;
    program += programs;
    id[0] = id[3];
    if (id[0] == count[0]) {
      id[0] = 0;
      if (++id[1] == count[1]) {
        id[1] = 0;
        ++id[2];
      }
    }
  }
}

} // namespace nereid::runtime
