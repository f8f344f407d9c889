// SPDX-License-Identifier: Apache-2.0
#include "lib/measure/peers/FloorPeers.h"

#include "lib/measure/peaks/MemoryCopy.h"
#include "lib/measure/peaks/PeakLoops.h"
#include "lib/measure/statistics/Statistics.h"
#include "runtime/ThreadPool.h"

#include <algorithm>

namespace nereid::measure {

double FloorPeer::secondsFor(double work, const Timing &own, const Timing &kernel) const {
  return medianRatio(own.samples, kernel.samples) * kernel.summary.median * work / amount;
}

std::optional<FloorPeer> copyPeer(const Machine &chip, const runtime::Tensor &to,
                                  const runtime::Tensor &from) {
  const auto bytes = static_cast<int64_t>(std::min(from.byteCount(), to.byteCount())) / 256 * 256;
  if (bytes == 0) {
    return std::nullopt;
  }
  FloorPeer peer{{"copy",
                  [&chip, &to, &from, bytes] {
                    copyParallel(chip, to.as<uint8_t>(), from.as<uint8_t>(), bytes,
                                 runtime::defaultPool());
                  }},
                 2.0 * static_cast<double>(bytes)};
  return peer;
}

std::optional<FloorPeer> peakPeer(double flops, DType dtype) {
  constexpr int64_t fewestRounds = 1000, mostRounds = 1000000;
  const auto loops = peakLoops();
  const auto loop = loops.find(std::string(kernelName(dtype)));
  if (loop == loops.end()) {
    return std::nullopt;
  }
  const int threads = runtime::defaultPool().threadCount();
  const double flopsPerRound = loop->second.flopsPerRound * threads;
  const int64_t rounds = std::clamp(
      static_cast<int64_t>(std::min(flops / flopsPerRound, static_cast<double>(mostRounds))),
      fewestRounds, mostRounds);
  auto run = [threads, rounds, run = loop->second.run] {
    runtime::defaultPool().parallelFor(
        threads, 1, [&](int64_t begin, int64_t end, int) { run((end - begin) * rounds); });
  };
  return FloorPeer{{"peak", run, run}, static_cast<double>(rounds) * flopsPerRound};
}

std::optional<FloorPeer> clockPeer() {
  constexpr double flops = 1e7; // a tenth of a millisecond of one thread
  auto peer = peakPeer(flops);
  if (peer) {
    peer->version.name = "clock";
  }
  return peer;
}

} // namespace nereid::measure
