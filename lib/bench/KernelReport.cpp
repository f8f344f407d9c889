// SPDX-License-Identifier: Apache-2.0
#include "lib/bench/KernelReport.h"

#include "lib/measure/results/SummaryJson.h"
#include "lib/measure/statistics/Statistics.h"
#include "lib/report/Table.h"

#include <fmt/format.h>

#include <algorithm>

namespace nereid::bench {

using Json = nlohmann::ordered_json;

static std::string memoryText(const std::optional<uint64_t> &bytes) {
  return bytes ? report::formatBytes(static_cast<double>(*bytes)) : std::string("-");
}

static std::string peerText(const measure::Timing &peer) {
  return fmt::format("{} {}", peer.name, report::formatSeconds(peer.summary.median));
}

/// How many times as fast as the peer the kernel is.
static std::string ratioText(const measure::Timing &peer, const KernelRow &row) {
  return report::formatRatio(measure::medianRatio(peer.samples, row.kernel.samples));
}

static const std::vector<std::string> titles = {
    "case",         "kernel",  ">median", ">p90",  ">RSD",     ">rate",       ">GFLOP/s",
    ">of roofline", ">launch", ">memory", ">peer", ">vs peer", ">its memory", "state"};
/// A column behind these, where a row has it.
static constexpr const char *unfusedTitle = ">fewer bytes than unfused";

static KernelLine kernelLine(const KernelRow &row) {
  const auto &s = row.kernel.summary;
  if (s.count == 0) {
    return {row.caseName, row.file, "-", "-", "-", "-", "-",
            "-",          "-",      "-", "-", "-", "-", "FAILED: " + row.failure};
  }
  KernelLine cells = {row.caseName,
                      row.file,
                      report::formatSeconds(s.median),
                      report::formatSeconds(s.p90),
                      report::formatPercent(s.relativeDeviation),
                      row.bytes > 0 ? report::formatRate(row.bytes / s.median) : "-",
                      row.flops > 0 ? fmt::format("{:.1f}", row.flops / s.median / 1e9) : "-",
                      row.hasWork() && row.rooflineFault().empty()
                          ? report::formatPercent(row.rooflineShare())
                          : "-",
                      report::formatSeconds(row.launchSeconds),
                      memoryText(row.memory),
                      row.hasPeer() ? peerText(row.peer) : "-",
                      row.hasPeer() ? ratioText(row.peer, row) : "-",
                      memoryText(row.peerMemory),
                      row.note()};
  if (row.unfusedBytes > 0) {
    cells.push_back(report::formatPercent(1 - row.bytes / row.unfusedBytes));
  }
  return cells;
}

std::vector<KernelLine> kernelLines(const KernelRow &row) {
  std::vector<KernelLine> lines = {kernelLine(row)};
  if (row.kernel.summary.count == 0) {
    return lines;
  }
  for (const measure::Timing &other : row.otherPeers) {
    lines.push_back({"", "", "", "", "", "", "", "", "", "", peerText(other), ratioText(other, row),
                     "", other.isNoisy ? "noisy" : ""});
  }
  return lines;
}

report::Table kernelTable(const std::vector<KernelLine> &lines) {
  std::vector<std::string> all = titles;
  if (std::any_of(lines.begin(), lines.end(),
                  [](const auto &cells) { return cells.size() > titles.size(); })) {
    all.emplace_back(unfusedTitle);
  }
  report::Table table(all);
  for (const KernelLine &cells : lines) {
    table.add(cells);
  }
  return table;
}

static Json peerJson(const measure::Timing &peer, const KernelRow &row) {
  Json json = {{"name", peer.name},
               {"ratio", measure::medianRatio(peer.samples, row.kernel.samples)}};
  measure::addTiming(json, peer);
  return json;
}

Json kernelJson(const KernelRow &row) {
  Json entry = {{"case", row.caseName}, {"kernel", row.file}};
  if (!row.config.empty()) {
    entry["config"] = row.config;
  }
  if (!row.failure.empty()) {
    entry["failure"] = row.failure;
  }
  if (row.kernel.samples.empty()) {
    return entry;
  }
  measure::addTiming(entry, row.kernel);
  entry["bytes"] = row.bytes;
  entry["flops"] = row.flops;
  entry["launch_seconds"] = row.launchSeconds;
  entry["state"] = row.state();
  entry["copy_seconds"] = row.copySeconds;
  entry["peak_seconds"] = row.peakSeconds;
  if (row.hasWork()) {
    const std::string fault = row.rooflineFault();
    entry["roofline"] = fault.empty() ? Json(row.rooflineShare()) : Json();
    if (!fault.empty()) {
      entry["roofline_fault"] = fault;
    }
  }
  if (row.unfusedBytes > 0) {
    entry["unfused_bytes"] = row.unfusedBytes;
  }
  if (row.memory) {
    entry["memory_bytes"] = *row.memory;
  }
  if (!row.yardstick.samples.empty()) {
    entry["yardstick"] = measure::yardstickJson(row.yardstick, row.yardstickAmount);
  }
  if (row.hasPeer()) {
    entry["peer"] = peerJson(row.peer, row);
    if (row.peerMemory) {
      entry["peer"]["memory_bytes"] = *row.peerMemory;
    }
    for (const measure::Timing &other : row.otherPeers) {
      entry["other_peers"].push_back(peerJson(other, row));
    }
  }
  return entry;
}

} // namespace nereid::bench
