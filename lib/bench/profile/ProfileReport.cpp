// SPDX-License-Identifier: Apache-2.0
#include "lib/bench/profile/ProfileReport.h"

#include "lib/measure/results/SummaryJson.h"
#include "lib/report/Table.h"

#include <fmt/format.h>

namespace nereid::bench {
namespace {

using Json = nlohmann::ordered_json;

std::string line(const char *what, const std::string &text) {
  return fmt::format("  {:<11}{}\n", what, text);
}

std::string bytes(int64_t count) { return report::formatBytes(static_cast<double>(count)); }

/// "3.2 TB/s, 67 % of 4.8 TB/s".
std::string ofPeak(const std::string &rate, const std::string &peak, double share) {
  return share > 0 ? fmt::format("{}, {} of {}", rate, report::formatPercent(share), peak) : rate;
}

struct Rates {
  double bandwidth = 0, bandwidthShare = 0, flops = 0, flopsShare = 0; ///< shares: 0 = not known
};

Rates ratesOf(const CaseProfile &profile) {
  Rates rates;
  if (!profile.hasTime()) {
    return rates;
  }
  const KernelRow &row = *profile.measured;
  const double seconds = row.kernel.summary.median;
  rates.bandwidth = row.bytes / seconds;
  rates.flops = row.flops / seconds;
  if (profile.chip) {
    const double peak = profile.chip->peakFor(row.peakType);
    rates.bandwidthShare =
        profile.chip->copyBandwidth > 0 ? rates.bandwidth / profile.chip->copyBandwidth : 0;
    rates.flopsShare = peak > 0 ? rates.flops / peak : 0;
  }
  return rates;
}

std::string timeText(const CaseProfile &profile) {
  if (!profile.measured) {
    return line("time", fmt::format("none, '{}' is no device", profile.where));
  }
  const KernelRow &row = *profile.measured;
  if (!profile.hasTime()) {
    return line("time", "none: " + row.note());
  }
  const auto &summary = row.kernel.summary;
  std::string text =
      line("time", fmt::format("{} (p90 {}), {}", report::formatSeconds(summary.median),
                               report::formatSeconds(summary.p90), row.note()));
  const Rates rates = ratesOf(profile);
  if (row.bytes > 0) {
    text += line("bandwidth",
                 ofPeak(report::formatRate(rates.bandwidth),
                        profile.chip ? report::formatRate(profile.chip->copyBandwidth) : "",
                        rates.bandwidthShare));
  }
  if (row.flops > 0) {
    text += line(
        "rate", ofPeak(report::formatFlops(rates.flops),
                       profile.chip ? report::formatFlops(profile.chip->peakFor(row.peakType)) : "",
                       rates.flopsShare));
  }
  if (!profile.chip && row.hasWork()) {
    text += line("", "--chip with the device's descriptor says how much of what it has that is");
  }
  return text;
}

std::string codeText(const CaseProfile &profile) {
  const runtime::FunctionResources &taken = profile.resources;
  std::string spills =
      taken.localBytes == 0 ? "none in local memory" : bytes(taken.localBytes) + " in local memory";
  if (taken.spillStoreBytes && taken.spillLoadBytes) {
    spills += *taken.spillStoreBytes + *taken.spillLoadBytes == 0
                  ? ", no spills"
                  : fmt::format(", {} spilled and {} loaded again", bytes(*taken.spillStoreBytes),
                                bytes(*taken.spillLoadBytes));
  }
  const auto dynamic = static_cast<int64_t>(profile.info.scratchBytes);
  std::string text = line("registers", fmt::format("{} of a thread, {}", taken.registers, spills)) +
                     line("shared", fmt::format("{} of a program ({} static, {} dynamic)",
                                                bytes(taken.sharedBytes + dynamic),
                                                bytes(taken.sharedBytes), bytes(dynamic)));
  for (const std::string &warning : profile.warnings) {
    text += line("warning", warning);
  }
  return text;
}

std::string occupancyText(const CaseProfile &profile) {
  const pipeline::Occupation &occupation = profile.occupation;
  const char *what = profile.info.blocks == 1 ? "programs" : "blocks";
  std::string limits;
  for (const auto &limit : occupation.limits) {
    limits += fmt::format("{}{} {}", limits.empty() ? "" : ", ", limit.resource, limit.programs);
  }
  return line("occupancy", fmt::format("{}: {} {} of {} threads in a processor, limited by {}",
                                       report::formatPercent(occupation.share), occupation.programs,
                                       what, profile.info.threads, occupation.limitedBy())) +
         line("", fmt::format("room for so many {}: {}", what, limits)) +
         (profile.info.blocks == 1
              ? ""
              : line("", fmt::format("{} blocks are a program", profile.info.blocks)));
}

std::string wavesText(const CaseProfile &profile) {
  const auto waves = profile.waves();
  if (!waves) {
    return line("waves", profile.processors == 0
                             ? "not known without a number of processors: give a descriptor, --chip"
                             : "none, a program does not fit into a processor");
  }
  std::string text = line("waves", fmt::format("{:.2f}: {} programs, {} at a time in {} processors",
                                               waves->count(), waves->programs, waves->places,
                                               profile.processors));
  if (waves->tail() > 0) {
    text += line("", fmt::format("the last one has {} of {}, so that {} of the places are used; "
                                 "without it: a grid of {}",
                                 waves->tail(), waves->places, report::formatPercent(waves->used()),
                                 waves->without() > 0
                                     ? fmt::format("{} or {}", waves->without(), waves->filled())
                                     : fmt::format("{}", waves->filled())));
  }
  return text;
}

void addTime(Json &json, const CaseProfile &profile) {
  if (!profile.measured) {
    return;
  }
  const KernelRow &row = *profile.measured;
  json["state"] = row.state();
  if (!profile.hasTime()) {
    return;
  }
  measure::addTiming(json, row.kernel);
  const Rates rates = ratesOf(profile);
  json["bytes"] = row.bytes;
  json["flops"] = row.flops;
  json["bytes_per_second"] = rates.bandwidth;
  json["flops_per_second"] = rates.flops;
  if (profile.chip) {
    json["of_bandwidth"] = rates.bandwidthShare;
    json["of_peak"] = rates.flopsShare;
  }
}

} // namespace

std::string profileText(const CaseProfile &profile) {
  const std::string text = fmt::format("{} {} on {}, grid {}\n", profile.caseName, profile.file,
                                       profile.where, fmt::join(profile.grid, " x ")) +
                           timeText(profile);
  return profile.isDeviceLost()
             ? text
             : text + codeText(profile) + occupancyText(profile) + wavesText(profile);
}

Json profileJson(const CaseProfile &profile) {
  if (profile.isDeviceLost()) {
    return {{"case", profile.caseName},
            {"kernel", profile.file},
            {"on", profile.where},
            {"grid", profile.grid},
            {"state", profile.measured->state()}};
  }
  const runtime::FunctionResources &taken = profile.resources;
  Json json = {{"case", profile.caseName},
               {"kernel", profile.file},
               {"on", profile.where},
               {"grid", profile.grid},
               {"threads", profile.info.threads},
               {"registers", taken.registers},
               {"static_shared_bytes", taken.sharedBytes},
               {"dynamic_shared_bytes", profile.info.scratchBytes},
               {"local_bytes", taken.localBytes}};
  if (taken.spillStoreBytes && taken.spillLoadBytes) {
    json["spill_store_bytes"] = *taken.spillStoreBytes;
    json["spill_load_bytes"] = *taken.spillLoadBytes;
  }
  json["warnings"] = profile.warnings;
  Json limits;
  for (const auto &limit : profile.occupation.limits) {
    limits[limit.resource] = limit.programs;
  }
  json["occupancy"] = {{"share", profile.occupation.share},
                       {"programs", profile.occupation.programs},
                       {"limited_by", profile.occupation.limitedBy()},
                       {"limits", limits}};
  if (profile.processors > 0) {
    json["processors"] = profile.processors;
  }
  if (const auto waves = profile.waves()) {
    json["waves"] = {{"count", waves->count()},
                     {"tail", waves->tail()},
                     {"used", waves->used()},
                     {"grids_without_tail", {waves->without(), waves->filled()}}};
  }
  addTime(json, profile);
  return json;
}

} // namespace nereid::bench
