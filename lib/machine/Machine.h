// SPDX-License-Identifier: Apache-2.0
// A chip as data: memories, widths, rates. Lowering, generator, roofline, tuner and reports read
// this and nothing else about the hardware, so a described chip and the one the program runs on
// take the same path. JSON with a schema version (docs/chips.md), read and judged in
// MachineJson.cpp alone.
#pragma once

#include "lib/support/Diagnostics.h"
#include "runtime/elements/DType.h"

#include <cstdint>
#include <map>
#include <string>
#include <vector>

namespace nereid {

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

/// Moving the lanes of one vector register by a register of lane numbers.
enum class LaneShuffles : uint8_t { None, Avx2, Avx512 };

struct Machine {
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
  std::string bestCopy;      ///< the copy that reached copyBandwidth, see MemoryCopy.h
  bool isCalibrated = false; ///< measured on the machine; else somebody wrote the rates down
  Calibration calibration;

  /// What a caller waits for a launch of one program that does nothing, and what each of many
  /// launches one behind the other adds; 0 = not measured. In seconds.
  double launchSeconds = 0, queuedLaunchSeconds = 0;
  std::string calibratedBy; ///< driver and program that the rates were measured with, "" = not said

  /// Programs of a host are launched on it, many on a processor at a time: not in the file, as the
  /// target says so.
  bool isDevice = false;
  // What the instructions can do: not in the file, a target knows it from architecture and
  // features.
  bool hasFma = false;         ///< fused multiply-add of float32 and float64
  bool hasMaskedMoves = false; ///< masked vector loads and stores of any element width
  bool hasGather = false;      ///< vector loads from one address for each element, of 4 or 8 bytes
  bool hasScatter = false;     ///< the same for stores
  bool hasNonTemporalStores = false; ///< stores past the caches, ordered by a fence
  bool hasBf16Dots = false; ///< sums of two products of bfloat16 in each lane of a whole vector
  bool hasInt8Dots = false; ///< sums of four products of int8, the first factor unsigned
  LaneShuffles laneShuffles = LaneShuffles::None;
  /// Largest scratch memory of a thread; what a kernel needs is known when it is compiled (E0501).
  uint64_t scratchLimitBytes = 8u << 20;

  int64_t cacheBytes(const std::string &level) const; ///< 0 when there is none
  int64_t lastCacheBytes() const;
  double peakFor(DType dtype) const; ///< falls back to fp32's rate
};

/// A chip of which nothing is known: the cache sizes that are common to server cores, one core, no
/// rates. What is made for it does not depend on the machine it is made on.
Machine genericMachine();
/// Bytes of the longest vectors that a processor with these features has; the names are those of
/// /proc/cpuinfo and of runtime/cpu/CpuFeatures.h. 16 without any that is longer.
int vectorBytesOf(const std::vector<std::string> &features);
/// Reads cpuid and /sys; no measuring, rates 0.
Machine detectMachine();
/// Every rate that a calibration measures is there, finite, and such as a machine can have.
bool hasRates(const Machine &machine);

std::string toJson(const Machine &machine);
/// E0701 with the file, the key that is missing or that no chip can have so, its value and the fix.
Result<Machine> machineFromJson(const std::string &text, const std::string &path);
/// The same of a file (E0001). A descriptor of this machine, which its fingerprint tells, must not
/// have more cores than there are (E0701).
Result<Machine> loadMachine(const std::string &path);

} // namespace nereid
