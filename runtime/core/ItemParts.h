// SPDX-License-Identifier: Apache-2.0
// Items that several threads take in ranges: from one part, so that threads work on neighbouring
// items, or each from a part of its own and then from the others', so that a thread meets the same
// items again in the next call. Shared by both runtimes; no C++ library.
#pragma once

#include <atomic>
#include <cstdint>

namespace nereid::runtime {

/// Handed out in order.
struct alignas(64) Part {
  std::atomic<int64_t> next{0};
  int64_t end = 0;
};

/// Divides items 0 to `items` among `count` parts.
inline void divide(int64_t items, Part *parts, int count) {
  int64_t begin = 0;
  for (int i = 0; i < count; ++i) {
    parts[i].next.store(begin, std::memory_order_relaxed);
    begin = parts[i].end = items - items / count * (count - 1 - i);
  }
}

/// Takes the next range for `worker` of `threads`, from its own part first: a share of what is
/// left, so that all threads finish together, but `grain` items at least. False when nothing is
/// left.
inline bool takeRange(Part *parts, int count, int worker, int threads, int64_t grain,
                      int64_t &begin, int64_t &end) {
  constexpr int64_t rangesPerThread = 4;
  const int64_t shares = (rangesPerThread * threads - 1) / count + 1;
  for (int i = 0; i < count; ++i) {
    Part &part = parts[(worker + i) % count];
    begin = part.next.load(std::memory_order_relaxed);
    while (begin < part.end) {
      const int64_t left = part.end - begin, share = left / shares;
      const int64_t size = share < grain ? grain : share;
      end = size < left ? begin + size : part.end;
      if (part.next.compare_exchange_weak(begin, end, std::memory_order_relaxed)) {
        return true;
      }
    }
  }
  return false;
}

} // namespace nereid::runtime
