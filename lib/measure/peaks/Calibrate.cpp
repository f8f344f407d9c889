// SPDX-License-Identifier: Apache-2.0
// Measures the rates of this machine: FMA peak per type, bandwidth per cache level and of memory.
// The loops are compiled for each instruction set and chosen at run time, so that the figures are
// what the chip can do. When to measure, and what to think of it, is decided in ThisChip.cpp.
#include "lib/measure/peaks/Calibrate.h"
#include "lib/measure/Timer.h"
#include "lib/measure/peaks/MemoryCopy.h"
#include "lib/measure/peaks/MemoryLoops.h"
#include "lib/measure/peaks/PeakLoops.h"
#include "runtime/ThreadPool.h"
#include "runtime/tensor/Tensor.h"

#include <algorithm>
#include <cstring>
#include <functional>

namespace nereid::measure {

namespace {

using runtime::Tensor;
using runtime::ThreadPool;

/// Best of several timings of `body`, in seconds: rates want the least disturbed run. `spread`, if
/// wanted, grows to what the median is above it, as a share.
double bestSeconds(int repeats, const std::function<void()> &body, double *spread = nullptr) {
  const Clock clock = steadyClock();
  std::vector<double> all;
  for (int i = 0; i < repeats; ++i) {
    const double start = clock();
    body();
    all.push_back(std::max(clock() - start, 1e-9));
  }
  const double best = *std::min_element(all.begin(), all.end());
  if (spread != nullptr) {
    *spread = std::max(*spread, percentile(all, 0.5) / best - 1);
  }
  return best;
}

/// Raises the peaks to what is measured now.
void measurePeaks(Machine &chip, ThreadPool &pool, double &spread) {
  // Some milliseconds each: a clock that was slow at first must not be taken for the peak.
  constexpr int64_t rounds = 2000000;
  for (const auto &[name, loop] : peakLoops()) {
    double flops = loop.flopsPerRound * static_cast<double>(rounds);
    double one = bestSeconds(10, [&, run = loop.run] { run(rounds); }, &spread);
    double &best = chip.peakFlopsOneCore[name];
    best = std::max(best, flops / one);
    int threads = pool.threadCount();
    double all = bestSeconds(
        10,
        [&, run = loop.run] {
          pool.parallelFor(threads, 1,
                           [&](int64_t begin, int64_t end, int) { run((end - begin) * rounds); });
        },
        &spread);
    double &bestOfAll = chip.peakFlops[name];
    bestOfAll = std::max({bestOfAll, flops * threads / all, best});
  }
}

/// The quickest of copies, reads and sums in memory of which each of `threads` has a part of its
/// own: bytes read and written per second. A part is three buffers, `bytes` together.
double cacheRate(const Machine &chip, ThreadPool &pool, int threads, int64_t bytes) {
  // Whole vectors, and room that keeps one thread's part from sharing a line with the next.
  const int64_t buffer = std::max<int64_t>(bytes / 3 / 512 * 512, 512);
  const Tensor memory = Tensor::empty({threads * 3 * buffer}, DType::U8);
  if (!memory.isValid()) {
    return 0;
  }
  std::memset(memory.data(), 1, memory.byteCount());
  std::vector<std::pair<std::function<void(uint8_t *)>, int>> loops = {
      {[buffer](uint8_t *part) { readMemory(part, 3 * buffer); }, 3},
      {[buffer](uint8_t *part) { addMemory(part, part + buffer, part + 2 * buffer, buffer); }, 3}};
  for (const Copy &copy : copiesFor(chip)) {
    loops.push_back({[buffer, copy](uint8_t *part) { copy.run(part, part + buffer, buffer); }, 2});
  }
  const int64_t rounds = std::max<int64_t>(1, (int64_t{16} << 20) / (3 * buffer));
  double best = 0;
  for (const auto &loop : loops) {
    const double seconds = bestSeconds(5, [&] {
      pool.parallelFor(threads, 1, [&](int64_t begin, int64_t end, int) {
        for (int64_t thread = begin; thread < end; ++thread) {
          for (int64_t i = 0; i < rounds; ++i) {
            loop.first(memory.as<uint8_t>() + thread * 3 * buffer);
          }
        }
      });
    });
    best = std::max(best, static_cast<double>(threads * rounds * loop.second * buffer) / seconds);
  }
  return best;
}

void measureCaches(Machine &chip, ThreadPool &pool) {
  const int threads = pool.threadCount();
  for (auto &cache : chip.caches) {
    // Three quarters of the level, shared by the threads that share it.
    const int64_t bytes = cache.bytes * 3 / 4;
    cache.bytesPerSecond = cacheRate(chip, pool, 1, bytes);
    const int sharing = std::clamp(cache.sharedBy, 1, threads);
    cache.allBytesPerSecond =
        std::max(cacheRate(chip, pool, threads, bytes / sharing), cache.bytesPerSecond);
  }
}

void measureMemory(Machine &chip, ThreadPool &pool) {
  int64_t bytes = std::max<int64_t>(int64_t{256} << 20, 4 * chip.lastCacheBytes());
  bytes = std::min<int64_t>(bytes, chip.memoryBytes / 8) / 4096 * 4096;
  constexpr int64_t chunk = int64_t{1} << 20;
  Tensor from, to;
  // Little memory is no reason for rates of 0.
  for (bytes = std::max(bytes, chunk); bytes >= chunk; bytes /= 2) {
    from = Tensor::empty({bytes}, DType::U8);
    to = Tensor::empty({bytes}, DType::U8);
    if (from.isValid() && to.isValid()) {
      break;
    }
  }
  if (bytes < chunk) {
    return;
  }
  std::memset(from.data(), 1, static_cast<size_t>(bytes));
  std::memset(to.data(), 2, static_cast<size_t>(bytes));
  int64_t chunks = bytes / chunk;
  auto inParallel = [&](const std::function<void(int64_t offset)> &body) {
    pool.parallelFor(chunks, std::max<int64_t>(1, chunks / (4 * pool.threadCount())),
                     [&](int64_t begin, int64_t end, int) {
                       for (int64_t i = begin; i < end; ++i) {
                         body(i * chunk);
                       }
                     });
  };
  auto counted = static_cast<double>(chunks * chunk);
  // In turns, so that a bad minute of a shared machine hits all copies alike.
  std::vector<Copy> copies = copiesFor(chip);
  std::vector<double> all(copies.size(), 1e30), one(copies.size(), 1e30);
  for (int round = 0; round < 5; ++round) {
    for (size_t i = 0; i < copies.size(); ++i) {
      auto body = [&](int64_t offset) {
        copies[i].run(to.as<uint8_t>() + offset, from.as<uint8_t>() + offset, chunk);
      };
      all[i] = std::min(all[i], bestSeconds(1, [&] { inParallel(body); }));
      one[i] = std::min(one[i], bestSeconds(1, [&] {
                          for (int64_t j = 0; j < chunks; ++j) {
                            body(j * chunk);
                          }
                        }));
    }
  }
  size_t best = static_cast<size_t>(std::min_element(all.begin(), all.end()) - all.begin());
  chip.bestCopy = copies[best].name;
  chip.copyBandwidth = 2 * counted / all[best];
  chip.copyBandwidthOneCore = 2 * counted / *std::min_element(one.begin(), one.end());
  double write = bestSeconds(3, [&] {
    inParallel([&](int64_t offset) { std::memset(to.as<uint8_t>() + offset, 3, chunk); });
  });
  chip.writeBandwidth = counted / write;
  double read = bestSeconds(3, [&] {
    inParallel([&](int64_t offset) { readMemory(from.as<uint8_t>() + offset, chunk); });
  });
  chip.readBandwidth = counted / read;
}

} // namespace

double calibrate(Machine &chip) {
  ThreadPool &pool = runtime::defaultPool();
  double spread = 0;
  measurePeaks(chip, pool, spread);
  measureCaches(chip, pool);
  measureMemory(chip, pool);
  // Seconds later: what another guest took from a processor at first is there again.
  measurePeaks(chip, pool, spread);
  chip.isCalibrated = true;
  return spread;
}

} // namespace nereid::measure
