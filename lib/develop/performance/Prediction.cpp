// SPDX-License-Identifier: Apache-2.0
#include "lib/develop/performance/Prediction.h"

#include "lib/definition/Graph.h"
#include "lib/develop/performance/Performance.h"
#include "lib/measure/peaks/Roofline.h"
#include "lib/measure/statistics/Statistics.h"
#include "lib/report/Table.h"

#include <nlohmann/json.hpp>

namespace nereid::develop {

std::vector<PredictedRow> predictPerformance(generator::Generation &generation,
                                             const std::vector<DType> &dtypes,
                                             const Machine &chip) {
  const auto &op = generation.op();
  std::vector<PredictedRow> rows;
  for (const definition::Case &one : op.performanceCases) {
    for (DType dtype : dtypes) {
      const auto work = definition::countWork(op, one.binding, dtype);
      const auto unfused = definition::countUnfusedWork(op, one.binding, dtype);
      PredictedRow row{one.name, dtype, generation.scheduleFor(one.binding, dtype, chip)};
      row.bytes = work.bytes();
      row.flops = work.flops;
      row.unfusedBytes = unfused.bytes();
      const bool hasRates = chip.copyBandwidth > 0 && chip.peakFor(DType::F32) > 0;
      if (hasRates) {
        const DType rateType = rateTypeOf(op, dtype, chip);
        row.kernelSeconds = measure::roofline(chip, row.bytes, row.flops, rateType).floorSeconds();
        row.baselineSeconds =
            measure::roofline(chip, row.unfusedBytes, row.flops, rateType).floorSeconds();
      }
      rows.push_back(std::move(row));
    }
  }
  return rows;
}

std::string predictionTable(const std::vector<PredictedRow> &rows) {
  report::Table table({"case", "type", "schedule", ">bytes", ">FLOP", ">kernel, at least",
                       ">unfused, at least", ">speed-up"});
  for (const PredictedRow &row : rows) {
    const bool hasRates = row.kernelSeconds > 0;
    table.add({row.caseName, std::string(torchName(row.dtype)), row.schedule.text(),
               report::formatBytes(row.bytes), report::formatCount(row.flops),
               hasRates ? report::formatSeconds(row.kernelSeconds) : "-",
               hasRates ? report::formatSeconds(row.baselineSeconds) : "-",
               hasRates ? report::formatRatio(row.speedup()) : "-"});
  }
  return table.text();
}

std::string predictionJson(const std::vector<PredictedRow> &rows) {
  nlohmann::ordered_json json = nlohmann::ordered_json::array();
  for (const PredictedRow &row : rows) {
    nlohmann::ordered_json entry = {{"case", row.caseName},
                                    {"dtype", torchName(row.dtype)},
                                    {"schedule", row.schedule.text()},
                                    {"bytes", row.bytes},
                                    {"flops", row.flops},
                                    {"unfused_bytes", row.unfusedBytes}};
    if (row.kernelSeconds > 0) {
      entry["predicted_kernel_seconds"] = row.kernelSeconds;
      entry["predicted_baseline_seconds"] = row.baselineSeconds;
      entry["predicted_speedup"] = row.speedup();
    }
    json.push_back(entry);
  }
  return json.dump(2);
}

std::optional<double> predictedSpeedup(const std::vector<PredictedRow> &rows) {
  std::vector<double> speedups;
  for (const PredictedRow &row : rows) {
    if (row.kernelSeconds > 0) {
      speedups.push_back(row.speedup());
    }
  }
  return speedups.empty() ? std::nullopt : std::optional(measure::geometricMean(speedups));
}

} // namespace nereid::develop
