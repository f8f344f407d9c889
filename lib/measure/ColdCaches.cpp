// SPDX-License-Identifier: Apache-2.0
#include "lib/measure/ColdCaches.h"

#include "runtime/ThreadPool.h"

#include <algorithm>

namespace nereid::measure {
namespace {

constexpr int64_t lineBytes = 64;
/// Where the machine does not tell its caches.
constexpr int64_t leastBytes = int64_t{64} << 20;

int64_t bytesOf(const Machine &machine) {
  int64_t all = 0;
  for (const CacheLevel &level : machine.caches) {
    const int64_t cores = std::max(machine.cores, 1);
    all += level.bytes * std::max<int64_t>(1, cores / std::max(level.sharedBy, 1));
  }
  return std::max(leastBytes, 2 * all);
}

} // namespace

ColdCaches::ColdCaches(const Machine &machine, runtime::ThreadPool &pool)
    : pool(pool), memory(static_cast<size_t>(bytesOf(machine))) {}

void ColdCaches::empty() {
  const int64_t lines = bytes() / lineBytes;
  const int64_t part = std::max<int64_t>(1, lines / std::max(pool.threadCount(), 1));
  pool.parallelFor(lines, part, [&](int64_t begin, int64_t end, int) {
    for (int64_t line = begin; line < end; ++line) {
      ++memory[static_cast<size_t>(line * lineBytes)];
    }
  });
}

} // namespace nereid::measure
