// SPDX-License-Identifier: Apache-2.0
// A chip as data: memories, widths, rates. The cost model, generator, tuner and reports read this
// and nothing else about the hardware, so a described chip and the one the program runs on take the
// same path. JSON with a schema version (docs/chips.md).
#pragma once

#include "lib/support/Diagnostics.h"
#include "runtime/DType.h"

#include <map>
#include <string>
#include <vector>

namespace nereid::measure {

struct CacheLevel {
  std::string name;          ///< "L1d", "L2", "L3"
  int64_t bytes = 0;         ///< of one instance
  int sharedBy = 1;          ///< cores that share one instance
  double bytesPerSecond = 0; ///< one thread, read + write counted, measured inside this level
  /// All threads together; 0 in a described chip stands for every core at the rate of one.
  double allBytesPerSecond = 0;
};

/// How the rates were come by.
struct Calibration {
  int times = 0;           ///< how often they were measured; the best of all counts
  int64_t lastSeconds = 0; ///< since 1970
  std::string uncertainty; ///< why they may be too low; empty: the machine was quiet
};

struct Chip {
  std::string name;         ///< "AMD EPYC (zen5)"
  std::string fingerprint;  ///< vendor, family, model, stepping, cores, features: same = same chip
  std::string architecture; ///< "x86-64"
  std::vector<std::string> features;
  int cores = 1;
  int vectorBytes = 16;
  int vectorRegisters = 16;
  int64_t memoryBytes = 0;
  std::vector<CacheLevel> caches;
  std::map<std::string, double> peakFlops; ///< by kernel dtype name, all cores, FLOP/s
  std::map<std::string, double> peakFlopsOneCore;
  /// All cores and one core; bytes read + written per second, far beyond the last cache. "copy" is
  /// the best of memcpy, vector and streaming (non-temporal) copies.
  double copyBandwidth = 0, copyBandwidthOneCore = 0;
  double readBandwidth = 0, writeBandwidth = 0;
  std::string bestCopy; ///< the copy that reached copyBandwidth, see MemoryCopy.h
  bool isCalibrated = false;
  Calibration calibration;

  int64_t cacheBytes(const std::string &level) const; ///< 0 when there is none
  int64_t lastCacheBytes() const;
  double peakFor(DType dtype) const; ///< falls back to fp32's rate
};

/// Reads cpuid and /sys; no measuring, rates 0.
Chip detectChip();
/// Fills in the rates, in about three seconds on an otherwise idle machine. Returns how far the
/// repetitions of a figure were apart at most, as a share.
double calibrate(Chip &chip);
/// Every rate that a calibration measures is there, finite, and such as a machine can have.
bool hasRates(const Chip &chip);

std::string toJson(const Chip &chip);
/// E0701 with the key that is missing or malformed.
Result<Chip> chipFromJson(const std::string &text, const std::string &path);
Result<Chip> loadChip(const std::string &path);

} // namespace nereid::measure
