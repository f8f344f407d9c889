// SPDX-License-Identifier: Apache-2.0
#include "lib/cli/tune/TunedCase.h"

#include "lib/measure/statistics/Statistics.h"
#include "lib/report/Table.h"

#include <fmt/format.h>

namespace nereid::cli {

using Json = nlohmann::ordered_json;
using bench::TriedConfig;

namespace {

/// `first`: the kernel's first config, null where it was not tried.
Json figuresOf(const TriedConfig &tried, const TriedConfig *first) {
  Json json = {{"config", tried.config}};
  if (!tried.isRight()) {
    json["refused"] = tried.refusal();
    return json;
  }
  const bench::KernelRow &row = *tried.measured.row;
  const auto &summary = row.kernel.summary;
  json["median"] = summary.median;
  json["relative_deviation"] = summary.relativeDeviation;
  if (row.flops > 0) {
    json["flops_per_second"] = row.flops / summary.median;
  } else if (row.bytes > 0) {
    json["bytes_per_second"] = row.bytes / summary.median;
  }
  if (first && first->isRight()) {
    json["beside_first"] =
        measure::medianRatio(first->measured.row->kernel.samples, row.kernel.samples);
  }
  json["state"] = row.note();
  return json;
}

std::string rateText(const Json &config) {
  return config.contains("flops_per_second")   ? report::formatFlops(config["flops_per_second"])
         : config.contains("bytes_per_second") ? report::formatRate(config["bytes_per_second"])
                                               : "-";
}

} // namespace

TunedCase searchedCase(const std::string &name, const bench::OpenConfigs &open,
                       const ConfigFates &fates, const bench::KernelMeasurement &how,
                       const Machine &chip) {
  bench::OpenConfigs left{.configs = {}, .key = open.key};
  for (size_t i = 0; i < open.configs.size(); ++i) {
    if (!fates.contains(i)) {
      left.configs.push_back(open.configs[i]);
    }
  }
  const bench::ConfigSearch search =
      left.configs.empty() ? bench::ConfigSearch() : bench::searchConfigs(left, how, chip);
  TunedCase tuned;
  tuned.hasRight = search.best.has_value();
  tuned.json = {{"case", name}, {"configs", Json::array()}};
  auto tried = search.tried.begin();
  for (size_t i = 0; i < open.configs.size(); ++i) {
    if (const auto fate = fates.find(i); fate != fates.end()) {
      tuned.json["configs"].push_back(
          {{"config", open.configs[i].text}, {"refused", fate->second}});
      continue;
    }
    if (!tuned.lostBy && tried->hasLostDevice()) {
      tuned.lostBy = i;
    }
    tuned.json["configs"].push_back(
        figuresOf(*tried++, fates.contains(0) ? nullptr : &search.tried.front()));
  }
  tuned.json["kept"] = search.best ? Json(search.tried[*search.best].config) : Json();
  return tuned;
}

std::string tunedText(const Json &tuned) {
  report::Table table({"config", ">median", ">RSD", ">rate", ">beside the first", "state"});
  for (const Json &config : tuned["configs"]) {
    if (config.contains("refused")) {
      table.add({config["config"], "-", "-", "-", "-",
                 "refused: " + config["refused"].get<std::string>()});
      continue;
    }
    table.add(
        {config["config"], report::formatSeconds(config["median"]),
         report::formatPercent(config["relative_deviation"]), rateText(config),
         config.contains("beside_first") ? report::formatRatio(config["beside_first"]) : "-",
         config["state"].get<std::string>() + (config["config"] == tuned["kept"] ? ", kept" : "")});
  }
  return fmt::format("case {}\n{}", tuned["case"].get<std::string>(), table.text());
}

} // namespace nereid::cli
