// SPDX-License-Identifier: Apache-2.0
#include "lib/generator/schedules/Bottleneck.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>

namespace nereid::generator {
namespace {

/// From here on a kernel is as quick as the machine lets it be.
constexpr double nearLimit = 0.85;
/// Below, neither bytes nor arithmetic explain the time.
constexpr double unexplained = 0.5;
constexpr double muchLaunching = 0.25, muchIdle = 0.1, fullWaves = 0.8;
/// A tile that takes so many times its room.
constexpr double muchPressure = 1;
/// Bytes of a line of caches, and of a sector of a device's memory.
constexpr double shortRun = 64;
constexpr double manyReads = 2; ///< of each byte

constexpr std::array<std::pair<Bottleneck, std::string_view>, 10> names = {{
    {Bottleneck::Unknown, "unknown"},
    {Bottleneck::Bandwidth, "bandwidth"},
    {Bottleneck::Arithmetic, "arithmetic"},
    {Bottleneck::Uncoalesced, "uncoalesced"},
    {Bottleneck::CacheMisses, "cache-misses"},
    {Bottleneck::Latency, "latency"},
    {Bottleneck::Pressure, "register-or-cache-pressure"},
    {Bottleneck::Parallelism, "too-little-parallelism"},
    {Bottleneck::TailWave, "tail-wave"},
    {Bottleneck::Launch, "launch-bound"},
}};

} // namespace

Bottleneck bottleneckOf(const Diagnosis &d) {
  const bool isFull = d.isBeyondCache && d.bandwidthFraction >= nearLimit;
  if (d.computeFraction >= nearLimit || isFull) {
    return d.computeFraction >= d.bandwidthFraction ? Bottleneck::Arithmetic
                                                    : Bottleneck::Bandwidth;
  }
  if (d.launchFraction >= muchLaunching) {
    return Bottleneck::Launch;
  }
  if (d.programs > 0 && d.programs < d.processors) {
    return Bottleneck::Parallelism;
  }
  // At the end of a launch each processor waits for one program at most: more than that is the work
  // of others on the machine.
  const double longest =
      d.programs > 0 ? static_cast<double>(d.processors - 1) / static_cast<double>(d.programs) : 1;
  if (std::min(d.idleFraction, longest) >= muchIdle ||
      (d.waveFraction > 0 && d.waveFraction < fullWaves)) {
    return Bottleneck::TailWave;
  }
  if (d.pressure > muchPressure) {
    return Bottleneck::Pressure;
  }
  if (d.runBytes > 0 && d.runBytes < shortRun) {
    return Bottleneck::Uncoalesced;
  }
  if (d.readsOfByte >= manyReads && d.bandwidthFraction >= d.computeFraction) {
    return Bottleneck::CacheMisses;
  }
  if (std::max(d.bandwidthFraction, d.computeFraction) < unexplained) {
    return Bottleneck::Latency;
  }
  return d.bandwidthFraction >= d.computeFraction ? Bottleneck::Bandwidth : Bottleneck::Arithmetic;
}

std::string_view bottleneckName(Bottleneck bottleneck) {
  return names.at(static_cast<size_t>(bottleneck)).second;
}

std::optional<Bottleneck> parseBottleneck(std::string_view name) {
  const auto *found =
      std::find_if(names.begin(), names.end(), [&](const auto &one) { return one.second == name; });
  return found == names.end() ? std::nullopt : std::optional(found->first);
}

std::string bottleneckText(Bottleneck bottleneck, const Diagnosis &d) {
  const auto percent = [](double share) { return 100 * share; };
  switch (bottleneck) {
  case Bottleneck::Unknown:
    return "nothing that was measured";
  case Bottleneck::Bandwidth:
    return fmt::format("the bandwidth of {}: {:.0f} % of it is used",
                       d.isBeyondCache ? "memory" : "the caches", percent(d.bandwidthFraction));
  case Bottleneck::Arithmetic:
    return fmt::format("arithmetic: {:.0f} % of the peak", percent(d.computeFraction));
  case Bottleneck::Uncoalesced:
    return fmt::format("accesses that are not coalesced: runs of {:.0f} bytes on average",
                       d.runBytes);
  case Bottleneck::CacheMisses:
    return fmt::format("bytes that are fetched again: each {:.1f} times, as tiles share them",
                       d.readsOfByte);
  case Bottleneck::Latency:
    return fmt::format("latency: {:.0f} % of the bandwidth and {:.0f} % of the peak arithmetic are "
                       "used, the rest waits",
                       percent(d.bandwidthFraction), percent(d.computeFraction));
  case Bottleneck::Pressure:
    return fmt::format("pressure on {}: a tile takes {:.1f} times the room",
                       d.isOnDevice ? "registers" : "the cache", d.pressure);
  case Bottleneck::Parallelism:
    return fmt::format("too little parallelism: {} programs for {} processors", d.programs,
                       d.processors);
  case Bottleneck::TailWave:
    return fmt::format("the last wave: {} programs on {} processors, which have none {:.0f} % of "
                       "the time; {:.0f} % of the waves' places are taken",
                       d.programs, d.processors, percent(d.idleFraction), percent(d.waveFraction));
  case Bottleneck::Launch:
    return fmt::format("launching: {:.0f} % of the time", percent(d.launchFraction));
  }
  return "";
}

} // namespace nereid::generator
