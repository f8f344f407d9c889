// SPDX-License-Identifier: Apache-2.0
// What is asked of a descriptor in several places.
#include "lib/machine/Machine.h"

namespace nereid {

/// A rate that a machine of this century can have; slower ones were measured wrong.
static bool isRate(double value) { return value >= 1e7 && value <= 1e18; }

Machine genericMachine() {
  Machine machine;
  machine.name = machine.fingerprint = "generic";
  machine.memoryBytes = int64_t{16} << 30;
  machine.caches = {{"L1d", 48 << 10}, {"L2", 1 << 20}, {"L3", 32 << 20}};
  return machine;
}

int64_t Machine::cacheBytes(const std::string &level) const {
  for (const auto &cache : caches) {
    if (cache.name == level) {
      return cache.bytes;
    }
  }
  return 0;
}

int64_t Machine::lastCacheBytes() const { return caches.empty() ? 0 : caches.back().bytes; }

double Machine::peakFor(DType dtype) const {
  auto found = peakFlops.find(std::string(kernelName(dtype)));
  if (found == peakFlops.end()) {
    found = peakFlops.find("fp32");
  }
  return found == peakFlops.end() ? 0 : found->second;
}

bool hasRates(const Machine &machine) {
  bool all = isRate(machine.copyBandwidth) && isRate(machine.copyBandwidthOneCore) &&
             isRate(machine.readBandwidth) && isRate(machine.writeBandwidth);
  for (const auto &cache : machine.caches) {
    all = all && isRate(cache.bytesPerSecond) && isRate(cache.allBytesPerSecond);
  }
  for (const char *type : {"fp32", "fp64"}) {
    for (const auto *peaks : {&machine.peakFlops, &machine.peakFlopsOneCore}) {
      const auto found = peaks->find(type);
      all = all && found != peaks->end() && isRate(found->second);
    }
  }
  return all;
}

} // namespace nereid
