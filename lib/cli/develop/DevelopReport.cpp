// SPDX-License-Identifier: Apache-2.0
#include "lib/cli/develop/DevelopReport.h"

#include "lib/cli/process/StandardStreams.h"
#include "lib/develop/InterfaceTable.h"
#include "lib/measure/peaks/DeviceChip.h"
#include "lib/measure/peaks/ThisChip.h"
#include "lib/report/Table.h"

#include <fmt/format.h>

#include <algorithm>

namespace nereid::cli {

using develop::Development;

namespace {

/// "1.53x", or why there is no such figure.
std::string overallText(const Development &development) {
  const auto &rows = development.performance();
  if (auto speedup = develop::overallSpeedup(rows)) {
    return report::formatRatio(*speedup);
  }
  const bool isSkipped =
      std::all_of(rows.begin(), rows.end(), [](const auto &row) { return !row.skipped.empty(); });
  return isSkipped ? "nothing measured, all cases skipped"
                   : "not told, no case was measured steadily enough";
}

/// What shares of the roofline rest on, for a device.
std::string rooflineText(const Machine &chip) {
  if (chip.copyBandwidth <= 0) {
    return "no rates are known to hold times against: nereid calibrate, or --chip";
  }
  return fmt::format("roofline of {} ({}), copy {}, fp32 {}", chip.name,
                     chip.isCalibrated ? "measured" : "by its description, not measured",
                     report::formatRate(chip.copyBandwidth),
                     report::formatFlops(chip.peakFor(DType::F32)));
}

} // namespace

void printInterfaces(const Development &development, const Session &session) {
  if (!session.json && !development.interfaces().rows.empty()) {
    fmt::print("\nInterfaces of the files against the definition\n{}",
               develop::interfaceTable(development.interfaces()));
  }
}

void printAccuracy(const Development &development, const Session &session) {
  if (!development.accuracy().rows.empty() && !session.json) {
    fmt::print("\nAccuracy against float64, cases of --seed {}\n{}", development.accuracy().seed,
               develop::accuracyTable(development.accuracy()));
  }
  if (development.accuracy().isDeviceLost) {
    printError("the device is lost to this process: the cases above that name it may be innocent, "
               "and those that are missing were not verified\n");
  }
}

/// Instead of what was measured, where nothing can be.
void printPrediction(const Development &development, const Session &session) {
  if (development.prediction().empty() || session.json) {
    return;
  }
  fmt::print("\nPredicted for {} by its roofline; nothing was measured there\n{}",
             development.chip().name, develop::predictionTable(development.prediction()));
}

void printPerformance(const Development &development, const Session &session) {
  if (development.performance().empty() || session.json) {
    return;
  }
  const auto &chip = development.chip();
  const char *baseline = "the unfused baseline";
  if (const runtime::Device *device = development.device()) {
    baseline = "the eager form, a kernel for each operation on the device";
    fmt::print("\nPerformance on {}, {}; {}\n{}", device->name(),
               measure::describeDevice(*device).name, rooflineText(chip),
               develop::performanceTable(development.performance()));
  } else {
    fmt::print("\nPerformance on {} ({} cores, copy {}, fp32 {})\n{}", chip.name, chip.cores,
               report::formatRate(chip.copyBandwidth),
               report::formatFlops(chip.peakFor(DType::F32)),
               develop::performanceTable(development.performance()));
    fmt::print("{}", measure::uncertaintyNote(chip));
  }
  for (const develop::PerformanceRow &row : development.performance()) {
    if (!row.missingBaseline.empty()) {
      fmt::print("no eager form of {} {}: {}\n", row.caseName, torchName(row.dtype),
                 row.missingBaseline);
    }
  }
  fmt::print("overall speed-up over {}: {}\n", baseline, overallText(development));
}

void printChoices(const Development &development, const Session &session) {
  if (session.json) {
    return;
  }
  std::string lines;
  for (const develop::Tuning &one : development.tunings()) {
    lines += fmt::format("  {} {}: {} schedules timed, {} do not compile; {}\n", one.caseName,
                         torchName(one.dtype), one.tried, one.refused, one.conclusion);
  }
  if (!lines.empty()) {
    fmt::print("\nSchedules of the whole space\n{}", lines);
  }
  const develop::Choice *any = nullptr;
  lines.clear();
  for (const develop::PerformanceRow &row : development.performance()) {
    if (row.choice) {
      any = &*row.choice;
      lines += fmt::format("  {} {}: {}\n", row.caseName, torchName(row.dtype), row.choice->text());
    }
  }
  if (any != nullptr) {
    fmt::print("\nForm by mode {}, compiled from {} the eager form on, by the clock of the {}\n{}",
               develop::modeName(any->mode), report::formatRatio(any->leastSpeedup), any->clock,
               lines);
  }
}

void printVerdict(const Development &development, const Session &session) {
  const auto &rows = development.performance();
  const bool isAccurate = development.accuracy().failures() == 0;
  const bool isPassed = isAccurate && development.isTargetMet().value_or(false);
  const auto counted =
      std::count_if(rows.begin(), rows.end(), [](const auto &row) { return row.isDecisive(); });
  std::string text;
  if (isAccurate && development.isElsewhere()) {
    const auto predicted = develop::predictedSpeedup(development.prediction());
    text = fmt::format("nothing is measured on {}; its roofline allows a speed-up of {}",
                       development.chip().name,
                       predicted ? report::formatRatio(*predicted) : "unknown size");
  } else if (!isAccurate) {
    text = fmt::format("{} of {} accuracy cases failed", development.accuracy().failures(),
                       development.accuracy().rows.size());
  } else {
    text = fmt::format("speed-up over {} {}, the geometric mean of {} of {} cases",
                       development.device() != nullptr ? "the eager form" : "the unfused baseline",
                       overallText(development), counted, rows.size());
  }
  if (!session.json && isAccurate && !development.isElsewhere() && !rows.empty()) {
    fmt::print("Criteria\n");
    for (const std::string &one : development.criteriaTexts()) {
      fmt::print("  {}\n", one);
    }
  }
  if (!session.json) {
    fmt::print("{}: {}; the target is {}\n", isPassed ? "PASSED" : "NOT PASSED", text,
               report::formatRatio(development.op().targetSpeedup));
  }
}

void printRounds(const Development &development, const Session &session) {
  const auto &result = development.optimization();
  if (result.stopReason.empty() || session.json) {
    return;
  }
  fmt::print("\nOptimisation: {} of at most {} rounds{}, {}\n", result.rounds.size(), result.most,
             result.earlier == 0 ? "" : fmt::format(", {} by earlier runs", result.earlier),
             result.stopReason);
  for (const auto &round : result.rounds) {
    fmt::print("  {}. {} ({} {}): {}\n", round.round, round.change, round.caseName, round.dtype,
               round.reason);
    fmt::print("     {}{}\n",
               round.isVerified ? fmt::format("{} -> {} the baseline; ",
                                              report::formatRatio(round.speedupBefore),
                                              report::formatRatio(round.speedupAfter))
                                : "",
               round.conclusion);
  }
}

void printShares(const Development &development, const Session &session) {
  if (session.json) {
    return;
  }
  double total = 0;
  for (const auto &share : development.shares()) {
    total += share.seconds;
  }
  std::string line;
  for (const auto &share : development.shares()) {
    line +=
        fmt::format("{}{} {}", line.empty() ? "" : ", ", share.stage,
                    share.isFromRecord ? "from record" : fmt::format("{:.1f} s", share.seconds));
  }
  fmt::print("\nTime: {:.1f} s ({})\n", total, line);
}

nlohmann::ordered_json developmentJson(const Development &development,
                                       const nlohmann::ordered_json &against,
                                       const Session &session) {
  nlohmann::ordered_json json;
  json["operator"] = development.op().name;
  json["folder"] = development.project().directory();
  json["status"] = session.status;
  const auto *verified = development.project().manifest.findStage("verify");
  bool isFromRecord = development.accuracy().rows.empty() && verified != nullptr &&
                      verified->isDone && !verified->resultJson.empty();
  json["accuracy"] = nlohmann::ordered_json::parse(
      isFromRecord ? verified->resultJson : develop::accuracyJson(development.accuracy()));
  if (!development.accuracy().unlaunched.empty()) {
    json["unlaunched_kernels"] = development.accuracy().unlaunched;
  }
  json["performance"] =
      nlohmann::ordered_json::parse(develop::performanceJson(development.performance()));
  if (development.isElsewhere()) {
    json["predicted_for"] = development.chip().name;
    json["prediction"] =
        nlohmann::ordered_json::parse(develop::predictionJson(development.prediction()));
  }
  auto speedup = develop::overallSpeedup(development.performance());
  json["speedup"] = speedup ? nlohmann::ordered_json(*speedup) : nullptr;
  json["target"] = development.op().targetSpeedup;
  json["target_met"] = development.isTargetMet().value_or(false);
  if (const runtime::Device *device = development.device()) {
    json["device"] = device->name();
  }
  for (const develop::Tuning &one : development.tunings()) {
    json["tuning"].push_back({{"case", one.caseName},
                              {"dtype", torchName(one.dtype)},
                              {"tried", one.tried},
                              {"after", one.after.text()},
                              {"conclusion", one.conclusion}});
  }
  json["stop_reason"] = development.optimization().stopReason;
  for (const auto &share : development.shares()) {
    json["seconds"][share.stage] = share.seconds;
  }
  json["environment"] =
      nlohmann::ordered_json::parse(development.project().manifest.environmentJson);
  if (!against.is_null()) {
    json["against"] = against;
  }
  return json;
}

} // namespace nereid::cli
