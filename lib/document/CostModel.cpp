// SPDX-License-Identifier: Apache-2.0
#include "lib/document/CostModel.h"

#include "lib/measure/peaks/Roofline.h"

#include <algorithm>
#include <cmath>

namespace nereid::document {
namespace {

/// The pool's code decides it; the rules of blocks (lib/generator/launch/table/TableMaker.cpp) make
/// programs so long that it does not show.
constexpr double handOutSeconds = 1e-6;

} // namespace

double LaunchOutline::maskedShare() const {
  return tiledElements > 0 ? std::clamp(1 - elements / tiledElements, 0.0, 1.0) : 0;
}

double ModelTime::seconds() const { return std::max(memory, arithmetic) * tail + handOut; }

Waves wavesOf(int64_t programs, int processors) {
  const int64_t at = std::max(processors, 1);
  if (programs <= 0) {
    return {};
  }
  const int64_t count = (programs + at - 1) / at;
  return {count, static_cast<double>(programs - (count - 1) * at) / static_cast<double>(at)};
}

bool hasModel(const Machine &chip) {
  return chip.copyBandwidth > 0 && chip.peakFor(DType::F32) > 0;
}

bool isBeyondCache(const Machine &chip, double bytes) {
  return bytes > static_cast<double>(chip.lastCacheBytes());
}

DType arithmeticType(DType dtype) { return dtype == DType::F64 ? DType::F64 : DType::F32; }

ModelTime modelTime(const Machine &chip, const definition::Work &work, const LaunchOutline &launch,
                    DType dtype) {
  ModelTime time;
  const bool readsFirst =
      !chip.isDevice && !launch.isStreaming && isBeyondCache(chip, work.bytesWritten);
  time.memory = measure::memorySeconds(chip, work.bytes() + (readsFirst ? work.bytesWritten : 0.0));
  const double masked = launch.elements > 0 ? launch.tiledElements / launch.elements : 1;
  time.arithmetic = work.flops * std::max(masked, 1.0) / chip.peakFor(arithmeticType(dtype));
  const int64_t programs = launch.programs();
  const Waves waves = wavesOf(programs, chip.cores);
  if (programs > 0) {
    time.tail =
        static_cast<double>(waves.count) * std::max(chip.cores, 1) / static_cast<double>(programs);
  }
  time.handOut =
      chip.launchSeconds + (chip.isDevice ? 0 : handOutSeconds * static_cast<double>(waves.count));
  return time;
}

std::optional<Machine> oneProcessor(const Machine &chip) {
  if (chip.cores <= 1 || chip.copyBandwidthOneCore <= 0 || chip.peakFlopsOneCore.empty()) {
    return std::nullopt;
  }
  Machine one = chip;
  one.cores = 1;
  one.copyBandwidth = chip.copyBandwidthOneCore;
  one.readBandwidth = one.writeBandwidth = 0;
  one.peakFlops = chip.peakFlopsOneCore;
  for (CacheLevel &cache : one.caches) {
    cache.allBytesPerSecond = cache.bytesPerSecond;
  }
  return one;
}

} // namespace nereid::document
