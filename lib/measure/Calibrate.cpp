// SPDX-License-Identifier: Apache-2.0
// Measures the rates of this machine: FMA peak per type, bandwidth per cache level and of memory.
// The loops are compiled for each instruction set and chosen at run time, so that the figures are
// what the chip can do.
#include "lib/measure/Chip.h"
#include "lib/measure/MemoryCopy.h"
#include "lib/measure/PeakLoops.h"
#include "lib/measure/Timer.h"
#include "runtime/Tensor.h"
#include "runtime/ThreadPool.h"

#include <algorithm>
#include <cstring>
#include <functional>

#if defined(__x86_64__)
#include <immintrin.h>
#endif

namespace nereid::measure {

namespace {

using runtime::Tensor;
using runtime::ThreadPool;

/// Best of several timings of `body`, in seconds: rates want the least disturbed run.
double bestSeconds(int repeats, const std::function<void()> &body) {
  Clock clock = steadyClock();
  double best = 1e30;
  for (int i = 0; i < repeats; ++i) {
    double start = clock();
    body();
    best = std::min(best, clock() - start);
  }
  return best;
}

#if defined(__x86_64__)

__attribute__((target("avx2"))) void readOnly(const uint8_t *from, int64_t n) {
  __m256i sum[4] = {_mm256_setzero_si256(), _mm256_setzero_si256(), _mm256_setzero_si256(),
                    _mm256_setzero_si256()};
  for (int64_t i = 0; i + 128 <= n; i += 128) {
    for (int j = 0; j < 4; ++j) {
      sum[j] = _mm256_add_epi64(
          sum[j], _mm256_loadu_si256(reinterpret_cast<const __m256i *>(from + i + 32 * j)));
    }
  }
  __m256i all =
      _mm256_add_epi64(_mm256_add_epi64(sum[0], sum[1]), _mm256_add_epi64(sum[2], sum[3]));
  volatile int64_t sink = _mm256_extract_epi64(all, 0);
  (void)sink;
}

bool has(const Chip &chip, const char *feature) {
  return std::binary_search(chip.features.begin(), chip.features.end(), std::string(feature));
}

#endif // __x86_64__

void measurePeaks(Chip &chip, ThreadPool &pool) {
  // Some milliseconds each: a clock that was slow at first must not be taken for the peak.
  constexpr int64_t rounds = 2000000;
  for (const auto &[name, loop] : peakLoops()) {
    double flops = loop.flopsPerRound * static_cast<double>(rounds);
    double one = bestSeconds(20, [&, run = loop.run] { run(rounds); });
    chip.peakFlopsOneCore[name] = flops / one;
    int threads = pool.threadCount();
    double all = bestSeconds(20, [&, run = loop.run] {
      pool.parallelFor(threads, 1,
                       [&](int64_t begin, int64_t end, int) { run((end - begin) * rounds); });
    });
    chip.peakFlops[name] = std::max(flops * threads / all, flops / one);
  }
}

void measureCaches(Chip &chip) {
  std::vector<Copy> copies = copiesFor(chip);
  const Copy &copy = copies.size() > 1 ? copies[1] : copies[0];
  for (auto &cache : chip.caches) {
    // Source and target together fill three quarters of the level.
    int64_t bytes = std::max<int64_t>(cache.bytes * 3 / 8 / 4096 * 4096, 4096);
    Tensor from = Tensor::empty({bytes}, DType::U8), to = Tensor::empty({bytes}, DType::U8);
    if (!from.isValid() || !to.isValid()) {
      continue;
    }
    std::memset(from.data(), 1, static_cast<size_t>(bytes));
    int64_t rounds = std::max<int64_t>(1, (int64_t{64} << 20) / bytes);
    double seconds = bestSeconds(4, [&] {
      for (int64_t i = 0; i < rounds; ++i) {
        copy.run(to.as<uint8_t>(), from.as<uint8_t>(), bytes);
      }
    });
    cache.bytesPerSecond = 2.0 * static_cast<double>(bytes * rounds) / seconds;
  }
}

void measureMemory(Chip &chip, ThreadPool &pool) {
  int64_t bytes = std::max<int64_t>(int64_t{256} << 20, 4 * chip.lastCacheBytes());
  bytes = std::min<int64_t>(bytes, chip.memoryBytes / 8) / 4096 * 4096;
  Tensor from = Tensor::empty({bytes}, DType::U8), to = Tensor::empty({bytes}, DType::U8);
  if (!from.isValid() || !to.isValid()) {
    return;
  }
  std::memset(from.data(), 1, static_cast<size_t>(bytes));
  std::memset(to.data(), 2, static_cast<size_t>(bytes));
  constexpr int64_t chunk = int64_t{1} << 20;
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
#if defined(__x86_64__)
  if (has(chip, "avx2")) {
    double read = bestSeconds(3, [&] {
      inParallel([&](int64_t offset) { readOnly(from.as<uint8_t>() + offset, chunk); });
    });
    chip.readBandwidth = counted / read;
  }
#endif
}

} // namespace

void calibrate(Chip &chip) {
  ThreadPool &pool = runtime::defaultPool();
  measurePeaks(chip, pool);
  measureCaches(chip);
  measureMemory(chip, pool);
  chip.isCalibrated = true;
}

} // namespace nereid::measure
